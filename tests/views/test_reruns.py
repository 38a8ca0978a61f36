import csv
import io
import json
import uuid

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from kernelindex.pages import shelf
from runs.models import Rerun, Run
from runs.publication import decide_signer
from runs.reads import tallies
from runs.redaction import redact
from runs.reruns.documents import bundle
from runs.reruns.documents.keys import KeySet
from tests.reruns import examples
from tests.views import rerun_cases as cases

pytestmark = pytest.mark.django_db
DONE = ("reproduced", "contradicted", "host_bound", "inconclusive", "incorrect", "void")
ENDED = (*DONE, "failed", "expired", "cancelled")
FILES = ("job.dsse.json", "result.dsse.json", "samples.json", "samples.csv", "bundle.json", "telemetry.svg")
SCRIPT = "<script>alert("


@pytest.fixture
def runners():
    return cases.register()


def html(client, address, status=200):
    response = client.get(address)
    assert response.status_code == status
    return response.content.decode()


def page_of(rerun):
    return f"/reruns/{rerun.id}/"


@pytest.mark.parametrize("name", cases.CASES)
def test_every_rerun_has_a_page_whatever_became_of_it(client, runners, name):
    rerun = cases.make(name)
    page = html(client, page_of(rerun))
    twin = client.get(f"/reruns/{rerun.id}.json").json()
    assert twin == client.get(page_of(rerun), headers={"accept": "application/json"}).json()
    assert twin["row"]["state"] == rerun.state
    assert twin["open"] == (name in ("running", "approved"))
    assert f"State <strong> <span >{rerun.state}</span>" in " ".join(page.split()) or name == "failed"
    assert f"/runs/{rerun.run_id}/" in page
    assert (twin["row"]["finding"] is not None) == (name in DONE)
    if name in DONE:
        assert twin["row"]["finding"]["verdict"] == name
        assert name.replace("_", "-") in page
        for reason in twin["row"]["finding"]["reasons"]:
            assert reason["sentence"] in page
            assert reason["code"] in page


def test_a_result_is_shown_with_times_samples_checks_and_signatures(client, runners):
    rerun = cases.make("reproduced")
    page, twin = html(client, page_of(rerun)), client.get(f"/reruns/{rerun.id}.json").json()
    measured = twin["measured"]
    assert [process["samples"] for process in measured["processes"]] == [60] * 5
    assert measured["processes"][0]["device_ns"] == 97_000
    assert [check["passed"] for check in measured["checks"]] == [True, True, True]
    assert {canary["value"] for canary in measured["canaries"]} == {"caught"}
    assert (measured["watch"]["hertz"], measured["watch"]["throttled"]) == (20.0, False)
    assert [signed["keyid"] for signed in twin["signatures"]] == [examples.DISPATCHER.keyid, examples.RUNNER.keyid]
    assert [signed["key_state"] for signed in twin["signatures"]] == ["approved", "approved"]
    assert [run["kind"] for run in twin["published"]] == ["event", "device"]
    assert (twin["level"], twin["disputed"]) == ("verified", False)
    for text in (examples.RUNNER.keyid, measured["runner_bytes"], "scaled error", "launch", "CSV", "verified"):
        assert text in page
    differing = {item["name"]: item["agreement"] for item in measured["differences"]}
    assert differing == {
        "liger-kernel": "equal",
        "torch": "equal",
        "triton": "equal",
        "gpu": "equal",
        "driver": "different",
        "operatingSystem": "unstated",
    }


def test_what_a_runner_printed_or_said_is_escaped(client, runners):
    for rerun in (cases.make("reproduced"), cases.make("failed")):
        for address in (page_of(rerun), "/reruns/", f"/runs/{rerun.run_id}/"):
            page = html(client, address)
            assert SCRIPT not in page
    assert "&lt;script&gt;alert" in html(client, page_of(Rerun.objects.get(state="failed")))
    said = cases.queued(cases.claim(4096))
    Rerun.objects.filter(id=said.id).update(state="running", progress={cases.EVIL: cases.EVIL})
    assert SCRIPT not in html(client, page_of(said))


def test_the_runners_words_are_text_on_the_pages_of_runners_too(client, runners):
    for address in ("/runners/", "/runners/h200-b/"):
        page = html(client, address)
        assert SCRIPT not in page
        assert "Somebody &lt;script&gt;" in page


@pytest.mark.parametrize("file", [*FILES, "strip.svg"])
def test_what_is_downloaded_never_changes_and_is_asked_for_once(client, runners, file):
    rerun = cases.make("reproduced")
    first = client.get(f"{page_of(rerun)}{file}")
    assert first.status_code == 200
    again = client.get(f"{page_of(rerun)}{file}", headers={"if-none-match": first.headers["ETag"]})
    assert again.status_code == 304
    if not file.endswith(".svg"):
        assert first.headers["Content-Disposition"].startswith("attachment; filename=")


def test_samples_are_all_there_as_json_and_as_csv(client, runners):
    rerun = cases.make("reproduced")
    samples = client.get(f"{page_of(rerun)}samples.json").json()
    assert (samples["claim"], samples["unit"], samples["statistic"]) == (cases.CLAIM, "ns", "median")
    expected = [value for process in cases.processes(101_000, 97_000) for value in process["eventNs"]]
    assert [value for process in samples["processes"] for value in process["event"]] == expected
    rows = list(csv.DictReader(io.StringIO(client.get(f"{page_of(rerun)}samples.csv").content.decode())))
    assert [int(row["event_ns"]) for row in rows] == expected
    assert (rows[0]["process"], rows[0]["sample"], rows[0]["device_ns"], rows[0]["void"]) == ("0", "0", "97000", "0")


@pytest.mark.parametrize("name", DONE)
def test_the_bundle_holds_offline_against_the_published_keys(client, runners, name):
    rerun = cases.make(name)
    keys = KeySet.read(client.get("/keys.json").json())
    _, decision = bundle.check(client.get(f"{page_of(rerun)}bundle.json").content, keys, rerun.result.published_at)
    assert decision.verdict == name


def test_the_bundle_of_a_revoked_runner_can_still_be_had(client, runners):
    rerun = cases.make("reproduced")
    before = client.get(f"{page_of(rerun)}bundle.json").content
    decide_signer("h200-a", "revoke", actor="An administrator", reason="The key was lost.")
    shelf.clear()
    assert client.get(f"{page_of(rerun)}bundle.json").content == before
    assert "revokedAt" in client.get("/keys.json").content.decode()


def test_the_signed_documents_are_those_that_were_signed(client, runners):
    rerun = cases.make("contradicted")
    for name, stored in (("job", rerun.job), ("result", rerun.result.envelope)):
        response = client.get(f"{page_of(rerun)}{name}.dsse.json")
        assert response.headers["Content-Type"] == "application/vnd.dsse.envelope.v1+json"
        assert response.json() == json.loads(stored)


@pytest.mark.parametrize("file", ["result.dsse.json", "samples.json", "samples.csv", "bundle.json", "strip.svg"])
@pytest.mark.parametrize("name", ["approved", "running", "failed"])
def test_a_rerun_without_a_result_has_no_files_of_one(client, runners, name, file):
    html(client, f"{page_of(cases.make(name))}{file}", 404)


def test_a_job_that_is_not_signed_yet_has_no_file(client, runners):
    rerun = cases.make("approved")
    assert "has not been signed yet" in html(client, f"{page_of(rerun)}job.dsse.json", 404)
    assert "has not been signed yet" in html(client, page_of(rerun))


def test_what_was_not_measured_is_not_drawn(client, runners):
    html(client, f"{page_of(cases.make('incorrect'))}strip.svg", 404)
    rerun = cases.make("reproduced")
    html(client, f"{page_of(rerun)}portrait.svg", 404)


@pytest.mark.parametrize("rest", ["/", ".json", *(f"/{file}" for file in FILES), "/strip.svg"])
def test_an_unknown_rerun_is_a_404(client, db, rest):
    response = client.get(f"/reruns/{uuid.uuid4()}{rest}")
    assert response.status_code == 404


@pytest.mark.parametrize("address", ["/reruns/", "/reruns.json", "/runners/", "/keys.json"])
def test_nothing_can_be_posted(client, db, address):
    assert client.post(address).status_code == 405
    assert client.get(address).status_code == 200


def test_progress_is_answered_304_until_something_changes(client, runners):
    rerun = cases.make("running")
    address = f"/reruns/{rerun.id}.json"
    first = client.get(address)
    assert first.json()["progress"] == [
        {"name": "phase", "value": "timing"},
        {"name": "done", "value": "3"},
        {"name": "of", "value": "60"},
    ]
    tag = {"if-none-match": first.headers["ETag"]}
    assert client.get(address, headers=tag).status_code == 304
    cases.say(rerun, 4)
    second = client.get(address, headers=tag)
    assert second.status_code == 200
    assert second.json()["progress"][1]["value"] == "4"
    assert second.json()["row"]["version"] > first.json()["row"]["version"]


def test_a_page_that_may_change_follows_its_progress_and_one_that_has_ended_does_not(client, runners):
    running = html(client, page_of(cases.make("running")))
    assert "data-progress" in running
    assert "js/progress.js" in running
    done = html(client, page_of(cases.make("void")))
    assert "data-progress" not in done
    assert "js/progress.js" not in done


def test_a_page_that_has_ended_is_kept_until_another_attempt_or_a_decision_changes_it(
    client, runners, django_assert_num_queries
):
    rerun = cases.make("reproduced")
    tag = {"if-none-match": client.get(page_of(rerun)).headers["ETag"]}
    with django_assert_num_queries(1):
        assert client.get(page_of(rerun), headers=tag).status_code == 304
    cases.approved(rerun.run)
    changed = client.get(page_of(rerun), headers=tag)
    assert changed.status_code == 200
    tag = {"if-none-match": changed.headers["ETag"]}
    decide_signer("h200-a", "suspend", actor="An administrator", reason="The fan is broken.")
    suspended = client.get(page_of(rerun), headers=tag)
    assert suspended.status_code == 200
    assert "key now suspended" in suspended.content.decode()


def test_nothing_is_shown_of_the_rerun_of_a_claim_that_was_removed_by_law(client, runners):
    rerun = cases.make("reproduced")
    redact(rerun.run.digest, reason="A court said so.", actor="An administrator")
    for rest in ("/", ".json", *(f"/{file}" for file in FILES), "/strip.svg"):
        response = client.get(f"/reruns/{rerun.id}{rest}")
        assert response.status_code == 410
        assert rerun.run.digest in response.content.decode()
    assert client.get("/reruns.json").json()["rows"] == []


def test_other_attempts_at_the_claim_are_listed_on_its_page(client, runners):
    first = cases.make("failed")
    second = cases.rerun_with(first.run)
    for rerun, other in ((first, second), (second, first)):
        twin = client.get(f"/reruns/{rerun.id}.json").json()
        assert [attempt["id"] for attempt in twin["attempts"]] == [str(other.id)]
        assert page_of(other) in html(client, page_of(rerun))


def test_the_list_is_narrowed_by_state_verdict_product_and_runner(client, runners):
    made = {name: cases.make(name) for name in ("reproduced", "void", "failed", "approved")}

    def listed(query):
        return [row["id"] for row in client.get(f"/reruns.json?{query}").json()["rows"]]

    def ids(*names):
        return [str(made[name].id) for name in names]

    assert listed("") == ids("approved", "failed", "void", "reproduced")
    assert listed("state=done") == ids("void", "reproduced")
    assert listed("verdict=void") == ids("void")
    assert listed("product=nvidia-h200&state=failed") == ids("failed")
    assert listed("runner=h200-a") == ids("void", "reproduced")
    assert listed("product=nothing") == []
    assert "No rerun matches." in html(client, "/reruns/?product=nothing")
    page = html(client, "/reruns/?verdict=void")
    assert page_of(made["void"]) in page
    assert page_of(made["reproduced"]) not in page
    assert client.get("/reruns/?state=done", headers={"accept": "application/json"}).json()["filters"] == {
        "state": "done"
    }


def test_all_verdicts_are_counted_by_operation_and_product(client, runners):
    for name in ("reproduced", "void", "contradicted", "failed"):
        cases.make(name)
    table = client.get("/reruns.json").json()["table"]
    [row] = table["rows"]
    names = [verdict["slug"] for verdict in table["verdicts"]]
    assert (row["operation"]["name"], row["product"], row["total"]) == ("GroupNorm", "nvidia-h200", 3)
    assert {name: count for name, count in zip(names, row["counts"], strict=True) if count} == {
        "reproduced": 1,
        "void": 1,
        "contradicted": 1,
    }
    assert [(state["slug"], state["count"]) for state in table["states"]] == [("done", 3), ("failed", 1)]
    page = html(client, "/reruns/")
    assert "host-bound" in page
    assert "slower here" in page


def test_the_list_goes_on_by_cursor_and_back(client, runners):
    run = cases.claim(512)
    Rerun.objects.bulk_create(
        [
            Rerun(run=run, product="nvidia-h200", state="cancelled", created_at=run.published_at, requested_by="a")
            for _ in range(120)
        ]
    )
    first = client.get("/reruns.json?state=cancelled").json()
    second = client.get(first["next"]).json()
    third = client.get(second["next"]).json()
    assert [len(page["rows"]) for page in (first, second, third)] == [50, 50, 20]
    assert third["next"] is None
    assert client.get(second["previous"]).json()["rows"] == first["rows"]
    assert second["next"].replace(".json", "/").replace("&", "&amp;") in html(
        client, first["next"].replace(".json", "/")
    )


@pytest.mark.parametrize("cursor", ["x", "%00", "a" * 500])
@pytest.mark.parametrize("address", ["/reruns/", "/reruns.json", "/runners/h200-a/"])
def test_a_cursor_of_no_page_is_a_bad_request(client, runners, address, cursor):
    assert client.get(f"{address}?cursor={cursor}").status_code == 400


@pytest.mark.parametrize(
    ("address", "statements"), [("/reruns/", 3), ("/runners/", 1), ("/runners/h200-a/", 5), ("/keys.json", 2)]
)
def test_a_page_takes_as_many_statements_however_many_reruns_there_are(
    client, runners, django_assert_num_queries, address, statements
):
    cases.make("reproduced")
    with django_assert_num_queries(statements):
        html(client, address)
    for name in ("void", "contradicted", "failed"):
        cases.make(name)
    with django_assert_num_queries(statements):
        html(client, address)


def test_a_rerun_takes_as_many_statements_however_often_its_claim_was_tried(client, runners, django_assert_num_queries):
    rerun = cases.make("reproduced")
    with django_assert_num_queries(5):
        html(client, page_of(rerun))
    cases.rerun_with(rerun.run, key=examples.OTHER_RUNNER, runner="h200-b")
    with django_assert_num_queries(5):
        html(client, page_of(rerun))


def test_somebody_who_is_signed_in_gets_a_page_that_nobody_keeps(runners):
    rerun = cases.make("void")
    client = Client()
    client.force_login(get_user_model().objects.create(username="somebody"))
    response = client.get(page_of(rerun))
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "private, no-store"


def test_the_keys_are_published_with_their_history(client, runners):
    response = client.get("/keys.json")
    keys = KeySet.read(response.json())
    assert [key.name for key in keys.keys] == ["site", "h200-a", "h200-b"]
    decide_signer("h200-b", "suspend", actor="An administrator", reason="Moved to another rack.")
    found = KeySet.read(client.get("/keys.json").json()).find(examples.OTHER_RUNNER.keyid)
    assert len(found.suspensions) == 1


def test_the_home_page_says_how_much_of_the_index_was_checked(client, runners):
    for name in ("reproduced", "contradicted", "void", "failed"):
        cases.make(name)
    tallies.forget()
    counts = tallies.tallies()
    assert (counts.claims, counts.checked, counts.disputed) == (4, 2, 1)
    assert counts.runs == Run.objects.count() > 4
    page = " ".join(html(client, "/").split())
    assert '<span class="mono">2</span> of <span class="mono">4</span> claims' in page
    assert '(<span class="mono">50.0 %</span>)' in page
