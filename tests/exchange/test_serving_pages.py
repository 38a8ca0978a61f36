"""Serving runs have a list and a page each, and are nowhere among kernels."""

from __future__ import annotations

import uuid

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command

from kernelindex.pages import shelf
from runs.manifests.bundle import Bundle, Record, Source
from runs.models import ServingRun, ServingWithdrawal
from runs.reads import tallies
from runs.refusals import PublicationRefused
from runs.serving_records import publish_serving, withdraw_serving
from tests.exchange.rows import manifest, of, serving, write

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}


@pytest.fixture(autouse=True)
def nothing_kept():
    tallies.forget()
    shelf.clear()


@pytest.fixture
def three(tmp_path) -> list[ServingRun]:
    call_command("import_catalog", write(tmp_path / "export.jsonl", serving(3)))
    return list(ServingRun.objects.order_by("observed_at"))


def test_the_list_shows_model_software_load_and_figure(client, three):
    page = client.get("/serving/").content.decode()
    for words in ("a serving run 0", "a model 70b", "a stack", "a load", "16 ×", "Example GPU", "tokens_s"):
        assert words in page, words
    listed = client.get("/serving.json").json()
    assert listed["total"] == 3
    assert {row["id"] for row in listed["rows"]} == {str(run.id) for run in three}
    assert listed["rows"][0]["figure"]["unit"] == "tokens_s"
    assert client.get("/serving/", headers=JSON).json() == listed


def test_the_page_shows_what_the_run_says(client, three):
    run = three[0]
    page = client.get(f"/serving/{run.id}/").content.decode()
    for words in ("a model 70b", "a stack", "a setup", "a load", run.digest, "open_loop", "fp8", "throughput, mean"):
        assert words in page, words
    values = client.get(f"/serving/{run.id}.json").json()
    assert values["digest"] == run.digest
    assert values["measurements"] == [
        {"metric": "throughput", "statistic": "mean", "unit": "tokens_s", "value": 1000.5, "samples": None}
    ]
    assert values["manifest"]["spec"]["status"] == "valid"
    assert [fact["name"] for fact in values["model"]["facts"]] == ["model"]
    assert client.get(f"/serving/{run.id}/", headers=JSON).json() == values


def test_serving_is_never_among_kernels(client, three):
    assert client.get("/runs.json").json()["rows"] == []
    assert client.get(f"/runs/{three[0].id}/").status_code == 404
    assert three[0].title not in client.get("/runs/").content.decode()


def test_a_withdrawn_run_keeps_its_page_and_says_so(client, three):
    address = f"/serving/{three[0].id}/"
    assert "Retracted" not in client.get(address).content.decode()
    withdraw_serving(three[0].digest, reason="Wrong clock.", actor="the source")
    withdraw_serving(three[1].digest, reason="Better now.", actor="the source", successor=three[2].digest)
    page = client.get(address).content.decode()
    assert "Retracted" in page
    assert "Wrong clock." in page
    assert f"/serving/{three[2].id}/" in client.get(f"/serving/{three[1].id}/").content.decode()
    assert client.get("/serving/").content.decode().count("withdrawn") == 2


def test_a_run_is_withdrawn_once_and_by_another_run(three):
    first, second = three[0].digest, three[1].digest
    withdraw_serving(first, reason="r", actor="a")
    for digest, successor, code in (
        (first, None, "ALREADY_RETRACTED"),
        (second, second, "SUPERSEDED_BY_ITSELF"),
        ("sha256:" + "0" * 64, None, "UNKNOWN_RUN"),
        (second, "sha256:" + "0" * 64, "UNKNOWN_RUN"),
    ):
        with pytest.raises(PublicationRefused) as refused:
            withdraw_serving(digest, reason="r", actor="a", successor=successor)
        assert [refusal.code for refusal in refused.value.refusals] == [code]
    assert ServingWithdrawal.objects.count() == 1


def test_a_page_is_answered_from_what_is_kept_until_something_is_published(client, three, tmp_path):
    first = client.get("/serving/")
    assert client.get("/serving/", headers={"if-none-match": first.headers["ETag"]}).status_code == 304
    call_command("import_catalog", write(tmp_path / "more.jsonl", serving(4)))
    assert (
        "a serving run 3" in client.get("/serving/", headers={"if-none-match": first.headers["ETag"]}).content.decode()
    )


def test_a_page_for_somebody_signed_in_is_kept_by_nobody(client, three):
    client.force_login(get_user_model().objects.create(username="somebody"))
    assert "no-store" in client.get("/serving/").headers["Cache-Control"]
    assert "no-store" in client.get(f"/serving/{three[0].id}/").headers["Cache-Control"]


def test_a_list_goes_on_and_costs_the_same(client, tmp_path, django_assert_max_num_queries):
    call_command("import_catalog", write(tmp_path / "export.jsonl", _dated(serving(60))))
    with django_assert_max_num_queries(4):
        first = client.get("/serving.json").json()
    second = client.get("/serving.json", {"after": first["next"]}).json()
    assert (len(first["rows"]), len(second["rows"]), second["next"]) == (50, 10, None)
    assert not {row["id"] for row in first["rows"]} & {row["id"] for row in second["rows"]}
    assert f"after={first['next']}" in client.get("/serving/").content.decode()
    for nonsense in ("x", "WyJ4Il0", "%00"):
        assert client.get("/serving/", {"after": nonsense}).status_code == 400


def _dated(rows):
    from runs.manifests.canonical import manifest_digest

    for number, row in enumerate(of(rows, "serving_runs")):
        row["manifest"]["spec"]["observedAt"] = f"2026-01-01T00:00:{number:02d}Z"
        row["runDigest"] = manifest_digest(row["manifest"])
    return rows


def test_what_is_not_there_is_not_found(client, db):
    assert client.get(f"/serving/{uuid.uuid4()}/").status_code == 404
    assert "No serving run has been published here yet." in client.get("/serving/").content.decode()
    assert client.post("/serving/").status_code == 405


SOURCE = Source("a-lab", "A lab", "benchmark")


@pytest.mark.parametrize(
    "change",
    [
        {"topology": [], "status": 3, "observedAt": "soon", "measurements": "many"},
        {"topology": {"acceleratorsPerNode": "8"}, "observedAt": None, "measurements": [1, {}, {"metric": 1}]},
        {
            "measurements": [{"metric": "m", "value": True}, {"metric": "m" * 200, "value": 1}],
            "topology": {"nodeCount": 2},
        },
        {"slo": [{"a": [None, True, {"b": 1.5}]}], "deep": {"deeper": {"deepest": "x" * 5_000}}},
    ],
)
def test_fields_that_are_written_in_another_way_are_kept_as_they_are(client, change):
    rows = serving(1)
    run = of(rows, "serving_runs")[0]["manifest"]
    spec = {name: value for name, value in (run["spec"] | change).items() if value is not None}
    records = [entry["row"]["manifest"] for entry in rows if "manifest" in entry["row"]][:-1]
    records.append(manifest("ServingRun", "odd", spec))
    publish_serving(Bundle(SOURCE, None, [Record(record) for record in records]))
    stored = ServingRun.objects.get()
    assert client.get(f"/serving/{stored.id}.json").json()["manifest"]["spec"] == spec
    assert client.get(f"/serving/{stored.id}/").status_code == 200
    assert client.get("/serving/").status_code == 200


def test_a_bundle_is_published_whole_or_not_at_all():
    rows = serving(2)
    records = [Record(entry["row"]["manifest"]) for entry in rows if "manifest" in entry["row"]]
    with pytest.raises(PublicationRefused, match="refers to a record that is neither"):
        publish_serving(Bundle(SOURCE, None, records[1:]))
    assert not ServingRun.objects.exists()
    outcome = publish_serving(Bundle(SOURCE, None, records))
    assert outcome.created["ServingRun"] == 2
    assert publish_serving(Bundle(SOURCE, None, records)).existing["ServingRun"] == 2


def test_a_kernel_record_is_no_serving_record():
    from tests import factories

    with pytest.raises(PublicationRefused, match="does not publish records of this kind"):
        publish_serving(Bundle(SOURCE, None, [Record(factories.GROUP_NORM)]))
