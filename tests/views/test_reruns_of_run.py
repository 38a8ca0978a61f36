"""What the page of a run says of its controlled reruns."""

import pytest

from runs.models import Run
from runs.publication import decide_signer, publish
from runs.reads.run_page import run_page
from tests import factories
from tests.reruns import examples
from tests.views import rerun_cases as cases

pytestmark = pytest.mark.django_db


@pytest.fixture
def runners():
    return cases.register()


def html(client, run):
    response = client.get(f"/runs/{run}/")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def shown(run):
    found = run_page(run)
    assert found is not None
    return found[0]


def test_a_reproduced_run_shows_verdict_ratio_times_and_downloads(client, runners):
    rerun = cases.make("reproduced")
    page = html(client, rerun.run_id)
    assert '#levels">verified</a>' in page
    assert "Disputed" not in page
    section = page[page.index('id="replications"') :]
    for text in (
        "reproduced",
        "1.010 × claim",
        "device time D",
        "not launch-bound",
        "runner",
        "h200-a",
        "WITHIN_TOLERANCE",
    ):
        assert text in section, text
    for file in ("strip.svg", "telemetry.svg", "samples.json", "samples.csv", "bundle.json", ""):
        assert f"/reruns/{rerun.id}/{file}" in section
    [found] = shown(rerun.run_id).reruns
    assert [(item.name, item.agreement) for item in found.differences] == [
        ("driver", "different"),
        ("operatingSystem", "unstated"),
    ]
    assert (found.samples, found.telemetry) == (300, True)


@pytest.mark.parametrize("name", ["contradicted", "incorrect"])
def test_a_disputed_run_says_so_before_its_figure(client, runners, name):
    rerun = cases.make(name)
    page = html(client, rerun.run_id)
    assert page.index("<strong>Disputed</strong>") < page.index('class="primary"')
    assert '#levels">reported</a>, <strong class="warned">disputed</strong>' in page
    listed = {row["id"]: row["disputed"] for row in client.get("/runs.json").json()["rows"]}
    assert listed[str(rerun.run_id)] is True
    assert sum(listed.values()) == 1
    assert "disputed" in client.get("/runs/").content.decode()


def test_launch_bound_runs_are_called_so(client, runners):
    rerun = cases.make("host_bound")
    page = html(client, rerun.run_id)
    assert "<strong>launch-bound</strong>" in page
    assert "33.4 %" in page
    assert shown(rerun.run_id).reruns[0].row.finding.device_share == pytest.approx(1 / 3, rel=0.01)


@pytest.mark.parametrize("name", ["running", "failed", "expired", "cancelled", "approved"])
def test_a_rerun_without_a_result_is_shown_with_its_state(client, runners, name):
    rerun = cases.make(name)
    page = html(client, rerun.run_id)
    assert f"/reruns/{rerun.id}/" in page
    assert name in page[page.index('id="replications"') :]
    assert "bundle.json" not in page


def test_a_claim_that_can_be_rerun_and_one_that_cannot_say_so(client, runners):
    run = cases.claim(512)
    assert shown(run.id).not_rerunnable is None
    assert "No controlled rerun yet." in html(client, run.id)
    cannot = cases.claim(512, provider="homemade")
    assert shown(cannot.id).not_rerunnable.code == "provider_without_recipe"
    page = html(client, cannot.id)
    assert "Not rerunnable: No recipe has been written for this implementation." in page


def test_the_run_that_a_rerun_published_names_it(client, runners):
    rerun = cases.make("reproduced")
    own = Run.objects.get(published_by__kind="device", published_by__result__rerun=rerun)
    assert shown(own.id).published_by == rerun.id
    page = html(client, own.id)
    assert f'Published by a <a href="/reruns/{rerun.id}/">controlled rerun</a>' in page
    assert "Not rerunnable" not in page


def test_the_kept_page_follows_every_change_of_a_rerun(client, runners):
    run = cases.claim(512)
    seen = []

    def changed():
        seen.append(client.get(f"/runs/{run.id}.json", headers={"if-none-match": seen[-1]} if seen else {}))
        tag = seen.pop().headers["ETag"]
        if seen and tag == seen[-1]:
            return False
        seen.append(tag)
        return True

    assert changed()
    assert not changed()
    rerun = cases.queued(run)
    assert changed()
    cases.say(rerun, 1)
    assert changed()
    cases.publish_result(rerun, cases.result_of(rerun))
    assert changed()
    decide_signer("h200-a", "suspend", actor="An administrator", reason="Its fan is broken.")
    assert changed()
    assert "key suspended" in html(client, run.id)
    decide_signer("h200-a", "revoke", actor="An administrator", reason="Its key was lost.")
    assert changed()
    assert not changed()
    page = html(client, run.id)
    assert "key revoked" in page
    assert '#levels">reported</a>' in page


def test_a_run_takes_as_many_statements_however_often_it_was_rerun(client, runners, django_assert_num_queries):
    run = cases.claim(512)
    with django_assert_num_queries(3):
        client.get(f"/runs/{run.id}.json")
    cases.rerun_with(run)
    with django_assert_num_queries(4):
        client.get(f"/runs/{run.id}.json")
    cases.rerun_with(run, key=examples.OTHER_RUNNER, runner="h200-b")
    with django_assert_num_queries(4):
        client.get(f"/runs/{run.id}.json")
    assert [each.row.runner.name for each in shown(run.id).reruns] == ["h200-b", "h200-a"]


def test_two_runs_that_differ_by_protocol_alone_can_be_told_apart(client):
    forward = factories.manifest(
        "BenchmarkProtocol",
        "liger-bench-do-bench-forward",
        {**factories.BACKWARD["spec"], "comparability": {"family": "liger_kernel_bench", "notes": "Timed: forward."}},
        title="Liger benchmark harness · forward pass",
    )
    runs = [
        factories.run(
            factories.LIGER,
            factories.workload(),
            name=f"run-{place}",
            title="run",
            median=90_000,
            observed_at="2026-05-01T00:00:00.000Z",
            protocol=protocol,
        )
        for place, protocol in enumerate((forward, factories.BACKWARD))
    ]
    subjects = (*factories.SUBJECTS, factories.Record(forward))
    publish(factories.bundle(*runs, subjects=subjects))
    rows = client.get("/runs.json").json()["rows"]
    assert {row["protocol"] for row in rows} == {
        "Liger benchmark harness · forward pass",
        "Liger benchmark harness · backward pass",
    }
    listed = client.get("/runs/").content.decode()
    for row in rows:
        assert f'<span class="under">{row["protocol"]}</span>' in listed
        page = html(client, row["id"])
        assert row["protocol"] in page[: page.index("</h1>")]
