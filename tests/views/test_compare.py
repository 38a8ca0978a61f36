import csv
import io
import re
import uuid
from html import unescape

import pytest
from django.test import Client

from runs.models import Run
from runs.publication import publish, retract, supersede
from runs.reads.chosen import split
from runs.reads.compare import compare
from runs.redaction import redact
from tests import factories

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}


def address(*runs, form=""):
    query = "&".join(f"run={getattr(run, 'id', run)}" for run in runs)
    return f"/compare{f'.{form}' if form else '/'}?{query}"


def text_of(response):
    main = re.search(r"<main.*?</main>", response.content.decode(), re.DOTALL)[0].replace("<wbr>", "")
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", main)).split())


def table_of(response):
    return list(csv.reader(io.StringIO(response.content.decode(), newline="")))


@pytest.fixture
def first(seed):
    return Run.objects.exclude(pk=seed.pk).get()


def other(**options):
    """A run beside the seed's group: in another environment unless something else is asked for."""
    given = {"name": "other", "title": "other", "median": 1, "observed_at": "2026-03-02T00:00:00Z", **options}
    document = factories.run(factories.LIGER, given.pop("workload", factories.workload()), **given)
    publish(factories.bundle(document, subjects=(*factories.SUBJECTS, factories.Record(factories.workload(4096)))))
    return Run.objects.get(digest=factories.digest(document))


def test_inside_one_group_the_verdict_has_a_winner_and_a_ratio(client, seed, first):
    shown = text_of(client.get(address(seed, first)))
    assert "B Liger-Kernel is ahead: rank 1 of 2 in one comparison group" in shown
    assert "A Transformers: rank 2, 1.10 × the leader's value" in shown
    twin = client.get(address(seed, first, form="json")).json()
    assert (twin["verdict"]["outcome"], twin["verdict"]["leaders"]) == ("ahead", "B")
    assert twin["runs"][0]["ratio"] == {"value": 73728 / 67328, "low": None, "high": None}


@pytest.mark.parametrize(
    "rival",
    [
        ("environment", "hardware.product", {"environment": factories.H100}),
        ("workload", "axes.channels", {"workload": factories.workload(4096)}),
        (
            "metric",
            "metric",
            {"median": None, "measurements": [{"metric": "memory", "unit": "bytes", "statistic": "max", "value": 1}]},
        ),
    ],
)
@pytest.mark.parametrize("form", ["", "json", "csv", "md"])
def test_runs_of_different_groups_never_get_a_winner(client, seed, first, rival, form):
    part, field, options = rival
    rival = other(**options)
    assert rival.comparison_key != seed.comparison_key
    response = client.get(address(seed, rival, first, form=form))
    written = response.content.decode()
    assert "ahead" not in written
    assert part in written
    if form == "json":
        verdict = response.json()["verdict"]
        assert (verdict["outcome"], verdict["leaders"]) == ("no_group", "")
        assert verdict["mismatches"][0]["part"] == part
        assert verdict["mismatches"][0]["fields"][0]["name"] == field
        assert [run["ratio"] for run in response.json()["runs"]] == [None] * 3
        assert [subset["letters"] for subset in verdict["comparable"]] == ["AC"]
    if not form:
        shown = text_of(response)
        assert f"First material mismatch: {part}" in shown
        assert "What would have to match:" in shown
        assert f"/compare/?run={seed.id}&amp;run={first.id}" in written


def test_fields_are_aligned_and_equal_ones_apart(client, seed, first):
    page = compare([seed.id, first.id])
    sections = {section.name: section for section in page.sections}
    assert list(sections) == [
        "implementation", "operation", "workload", "protocol", "environment", "correctness", "metric", "licence",
    ]  # fmt: skip
    licence = {field.name: field.values for field in sections["licence"].differing}
    assert licence == {"declared": ("Apache-2.0", "BSD-2-Clause"), "concluded": (None, "BSD-2-Clause")}
    assert not sections["environment"].differing
    assert ("hardware.product", ("NVIDIA B200", "NVIDIA B200")) in [
        (field.name, field.values) for field in sections["environment"].equal
    ]
    assert {name for name, section in sections.items() if section.material} == {
        "operation", "workload", "protocol", "environment", "correctness", "metric",
    }  # fmt: skip


def test_the_json_is_the_page_field_for_field(client, seed, first):
    twin = client.get(address(seed, first, form="json")).json()
    assert set(twin) == {"runs", "verdict", "sections"}
    assert client.get(address(seed, first), headers=JSON).json() == twin
    shown = text_of(client.get(address(seed, first)))
    for section in twin["sections"]:
        for field in (*section["differing"], *section["equal"]):
            assert field["name"] in shown
            for value in field["values"]:
                assert (value or "not stated") in shown


def test_the_csv_and_the_markdown_are_the_same_comparison(client, seed, first):
    twin = client.get(address(seed, first, form="json")).json()
    response = client.get(address(seed, first, form="csv"))
    assert response.headers["Content-Type"].startswith("text/csv")
    rows = table_of(response)
    assert rows[0] == ["section", "field", "equal", "A", "B"]
    cells = {(row[0], row[1]): row[3:] for row in rows[1:]}
    assert cells["run", "digest"] == [run["digest"] for run in twin["runs"]]
    assert [float(ratio) for ratio in cells["run", "ratio"]] == [run["ratio"]["value"] for run in twin["runs"]]
    assert cells["verdict", "leaders"] == ["B"]
    for section in twin["sections"]:
        for field in section["differing"]:
            assert cells[section["name"], field["name"]] == [value or "" for value in field["values"]]
    markdown = client.get(address(seed, first, form="md"))
    assert markdown.headers["Content-Type"].startswith("text/markdown")
    assert "B is ahead of the others by the ranks of their comparison group." in markdown.content.decode()
    assert "| declared | Apache\\-2\\.0 | BSD\\-2\\-Clause |" in markdown.content.decode()


def test_digests_their_beginnings_ids_and_addresses_mean_the_same_runs(client, seed, first):
    expected = client.get(address(seed, first, form="json")).json()
    digits = first.digest.removeprefix("sha256:")
    for reference in (
        first.digest,
        digits[:12],
        digits.upper(),
        first.id.hex,
        f"https://kernelindex.dev/runs/{first.id}/",
    ):
        assert client.get(address(seed, reference, form="json")).json() == expected, reference
    assert client.get(f"/compare.json?run={seed.id},{first.id}").json() == expected
    assert client.get(address(seed, first, "", form="json")).json() == expected


@pytest.mark.parametrize(
    ("references", "status", "sentence"),
    [
        (["nonsense"], 400, "This is neither the id of a run nor 12 or more hexadecimal digits of a digest."),
        (["0" * 12], 404, "No published run has this id or digest."),
        ([str(uuid.uuid4())], 404, "No published run has this id or digest."),
        (["{seed}"], 400, "This is the same run as {seed}."),
        (["{digest}"], 400, "This is the same run as {seed}."),
        ([f"{number:012x}" for number in range(8)], 400, "At most 8 runs can be compared at once; these are 9."),
        (['"><script>alert(1)</script>'], 400, "This is neither the id of a run"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_is_kept(client, seed, references, status, sentence):
    fill = {"seed": seed.id, "digest": seed.digest}
    query = [("run", str(seed.id)), *(("run", reference.format(**fill)) for reference in references)]
    response = client.get("/compare/", {"run": [value for _, value in query]})
    assert response.status_code == status
    assert response.headers["Cache-Control"] == "no-store"
    page = response.content.decode()
    assert "<script>alert" not in page
    assert sentence.format(**fill) in unescape(page)
    for _, value in query:
        assert f'value="{value}"' in unescape(page)
    for form in ("json", "csv", "md"):
        answer = client.get(f"/compare.{form}", {"run": [value for _, value in query]}, headers=JSON)
        assert answer.status_code == status
        assert sentence.format(**fill) in answer.json()["detail"]


def test_one_run_is_asked_for_another_and_none_for_two(client, seed):
    none, one = client.get("/compare/"), client.get(address(seed))
    assert (none.status_code, one.status_code) == (200, 200)
    assert none.content.decode().count('name="run"') == 2
    assert one.content.decode().count('name="run"') == 2
    assert f'value="{seed.id}"' in one.content.decode()
    for url in ("/compare.json", address(seed, form="json")):
        response = client.get(url)
        assert (response.status_code, response.json()["detail"]) == (400, "A comparison needs at least 2 runs.")


def test_a_digest_that_begins_several_runs_leads_to_those(client, seed, first, monkeypatch):
    monkeypatch.setattr("runs.reads.chosen.parse_digest", lambda text: "" if text == "any" else None)
    response = client.get(address(seed, "any"))
    assert response.status_code == 400
    assert "Several runs have a digest that begins so" in response.content.decode()


def test_a_run_can_be_removed_and_another_added(client, seed, first):
    third = other(environment=factories.H100)
    page = client.get(address(seed, first, third)).content.decode()
    assert f'href="/compare/?run={seed.id}&amp;run={third.id}">remove<span class="visually-hidden"> B' in page
    assert [f'name="run" value="{run.id}"' in page for run in (seed, first, third)] == [True] * 3


def test_eight_runs_can_be_compared_and_there_is_no_room_for_another(client, seed, first, django_assert_num_queries):
    publish(factories.crowd(6))
    runs = [*Run.objects.order_by("id")]
    with django_assert_num_queries(4):
        page = client.get(address(*runs))
    assert page.status_code == 200
    assert "Add a run" not in text_of(page)


@pytest.mark.parametrize("form", ["", "json", "csv", "md"])
def test_a_comparison_takes_as_many_statements_for_two_runs_as_for_eight(
    client, seed, first, form, django_assert_num_queries
):
    with django_assert_num_queries(4):
        client.get(address(seed, first, form=form))
    with django_assert_num_queries(2):
        again = client.get(address(seed, first, form=form))
    with django_assert_num_queries(2):
        headers = {"if-none-match": again.headers["ETag"]}
        assert client.get(address(seed, first, form=form), headers=headers).status_code == 304
    publish(factories.crowd(6))
    assert client.get(address(seed, first, form=form), headers=headers).status_code == 200
    everyone = address(*Run.objects.order_by("id"), form=form)
    with django_assert_num_queries(4):
        client.get(everyone)


def test_a_retracted_a_superseded_and_a_made_up_run_are_named_before_any_figure(client, seed, first):
    retract(seed.digest, reason="measured the wrong kernel", actor="the source")
    corrected, correction = other(median=90_001), other(median=90_002, name="c")
    supersede(corrected.digest, correction.digest, reason="wrong batch", actor="the source")
    made_up = factories.run(
        factories.LIGER, factories.workload(), name="m", title="m", median=3, observed_at="2026-03-02T00:00:00Z"
    )
    publish(factories.bundle(made_up, illustrative=True))
    made_up = Run.objects.get(illustrative=True)
    shown = text_of(client.get(address(seed, corrected, made_up, first, correction)))
    verdict = shown[: shown.index("The runs that are compared")]
    assert "D Liger-Kernel is ahead" in verdict
    assert re.search(r"A Retracted on [\d-]+ by the source: measured the wrong kernel", verdict)
    assert re.search(r"B Superseded on [\d-]+ by the source: wrong batch The corrected record", verdict)
    assert "C Illustrative : made up to show or to test something. It is not a measurement." in verdict
    assert "A Transformers: takes no part, because it does not rank." in verdict
    assert "C Liger-Kernel: takes no part, because it is illustrative and others are not." in verdict


def test_two_runs_of_which_one_ranks_have_no_winner(client, seed, first):
    retract(first.digest, reason="wrong", actor="the source")
    shown = text_of(client.get(address(seed, first)))
    assert "No winner: fewer than two of these runs rank" in shown
    assert "ahead" not in shown


def test_a_shared_rank_has_no_winner(client, seed):
    publish(factories.crowd(1, ties=1))
    shown = text_of(client.get(address(*Run.objects.filter(value=seed.value).order_by("id"))))
    assert "None is ahead: A and B share rank 2" in shown


def test_what_was_removed_by_law_is_not_compared(client, seed, first):
    redact(seed.digest, reason="A court ordered it.", actor="A. Moderator")
    response = client.get(address(seed, first))
    assert response.status_code == 410
    assert "The content of this run was removed by law." in response.content.decode()


EVIL = "@SUM(1)|<b>[x](javascript:1)`*_"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d"])
def test_names_that_attack_are_text_in_every_form(client, seed, sign):
    name = f"{sign}{EVIL}"
    evil = factories.implementation("evil", name, licensing={"declared": "MIT"})
    run = factories.run(evil, factories.workload(), name="e", title="e", median=5, observed_at="2026-03-02T00:00:00Z")
    publish(factories.bundle(run, subjects=(*factories.SUBJECTS, factories.Record(evil))))
    attacker = Run.objects.get(value=5)
    assert "<b>" not in client.get(address(seed, attacker)).content.decode()
    cells = [cell for row in table_of(client.get(address(seed, attacker, form="csv"))) for cell in row]
    assert f"'{name}" in cells
    assert not [cell for cell in cells if cell[:1] and cell[0] in "=+-@\uff1d"]
    markdown = client.get(address(seed, attacker, form="md")).content.decode()
    assert "<b>" not in markdown
    assert "](javascript" not in markdown
    assert all(line.count("|") - line.count("\\|") in {4, 8} for line in markdown.splitlines() if line.startswith("|"))


def test_an_unknown_form_and_a_writing_method_are_refused(client, seed, first):
    assert client.get(address(seed, first, form="xls")).status_code == 404
    assert client.post(address(seed, first)).status_code == 405


def test_somebody_who_is_signed_in_gets_a_page_that_nobody_keeps(seed, first, django_user_model):
    person = Client()
    person.force_login(django_user_model.objects.create_user("someone"))
    assert person.get(address(seed, first)).headers["Cache-Control"] == "private, no-store"


def test_several_references_may_stand_in_one_field():
    assert split(["a, b\n c", "", " d;e ", "x" * 400]) == ("a", "b", "c", "d", "e", "x" * 300)
