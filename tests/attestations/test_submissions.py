"""Whole reproductions: checked while somebody writes, sent in, decided, and a run of their own when accepted."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from attestations.models import Submission
from attestations.refusals import Refused
from attestations.services import checking, moderation, submissions
from runs.models import EvidenceLevel, Run
from tests.attestations.conftest import signed_in
from tests.factories import B200, BACKWARD, H100, TRANSFORMERS, workload
from tests.factories import run as run_manifest

pytestmark = pytest.mark.django_db

ELSEWHERE = {
    "apiVersion": "kernelindex.dev/v1alpha1",
    "kind": "ExecutionEnvironment",
    "metadata": {"name": "my-b200"},
    "spec": {
        "hardware": {"vendor": "nvidia", "product": "NVIDIA B200", "architecture": "sm_100"},
        "software": {"driver": "580.1", "framework": {"name": "pytorch", "version": "2.11.0"}},
    },
}


def manifest(median: int = 70_000, environment=B200, **spec) -> dict:
    return run_manifest(
        TRANSFORMERS,
        workload(),
        name="my-run",
        title="My run",
        median=median,
        observed_at="2026-05-01T00:00:00.000Z",
        protocol=BACKWARD,
        environment=environment,
        metadata={"authors": [{"name": "Somebody Famous"}], "labels": {"verified": "yes"}},
        **spec,
    )


def reproduction(run=None, **changes) -> str:
    return json.dumps(manifest(**changes))


def test_it_is_checked_while_somebody_writes(ada, run):
    client = signed_in(ada)
    answer = client.post(
        reverse("submission-check"), {"document": reproduction()}, headers={"Accept": "application/json"}
    )
    found = answer.json()
    assert found["valid"] is True
    assert found["digest"].startswith("sha256:")
    assert found["group"] == {"key": run.comparison_key, "runs": 2, "ranked": 2, "rank": 2, "why_not": ""}
    assert "a correctness result (spec.correctness)" in found["lacks"]
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    ("changed", "place", "code"),
    [
        ({"timing": {"primaryStatistic": "median", "latencyNs": {"median": -5}}}, "spec.timing.latencyNs.median", ""),
        ({"implementationDigest": "sha256:" + "0" * 64}, "spec.implementationDigest", "reference"),
        ({"workloadDigest": "sha256:" + "0" * 64}, "spec.workloadDigest", "reference"),
        ({"environmentDigest": "sha256:" + "0" * 64}, "spec.environmentDigest", "reference"),
        ({"level": "verified"}, "spec.level", "unknown_field"),
        ({"status": "revoked"}, "spec.status", "status"),
        ({"sourceNative": {"source": "liger-kernel-bench"}}, "spec.sourceNative", "source_native"),
    ],
)
def test_each_fault_has_its_place_and_reason(ada, run, changed, place, code):
    document = manifest()
    document["spec"] |= changed
    answer = signed_in(ada).post(
        reverse("submission-check"), {"document": json.dumps(document)}, headers={"Accept": "application/json"}
    )
    found = answer.json()
    assert found["valid"] is False
    assert (place, True) in {(problem["place"], code in {"", problem["code"]}) for problem in found["problems"]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[" * 100_000,
        '{"a":' * 5_000 + "1" + "}" * 5_000,
        "[]",
        "null",
        "{}",
        "a: &a [*a]",
        '{"kind": "BenchmarkRun", "kind": "BenchmarkRun"}',
        "[1, 2, 3, 4, 5]",
        '{"apiVersion": "kernelindex.dev/v1alpha1", "kind": "EvidenceLevel", "metadata": {}, "spec": {}}',
        json.dumps([B200, BACKWARD]),
        "x" * 1_100_000,
    ],
    ids=range(13),
)
def test_hostile_documents_are_told_what_is_wrong(db, text):
    found = checking.check(text)
    assert found.problems
    assert not found.is_valid
    assert len(found.problems) <= checking.MOST_PROBLEMS


def test_a_list_brings_its_environment_along(ada, run):
    document = json.dumps([ELSEWHERE, manifest(environment=ELSEWHERE)])
    found = checking.check(document)
    assert found.problems == ()
    assert found.group is not None
    assert (found.group.runs, found.group.rank) == (0, 1)
    assert "the toolkit's version (environment, software.cudaToolkit)" in found.lacks
    assert "the driver's version (environment, software.driver)" not in found.lacks
    other = checking.check(json.dumps([H100, manifest(environment=ELSEWHERE)]))
    assert [problem.place for problem in other.problems] == ["spec.environmentDigest"]


def test_it_goes_from_draft_to_a_run_with_its_submitter_named(ada, moderator, run, client):
    person = signed_in(ada)
    answer = person.post(
        reverse("submission-new"),
        {
            "document": json.dumps([ELSEWHERE, manifest(environment=ELSEWHERE)]),
            "note": "On my desk.",
            "action": "submit",
        },
    )
    made = Submission.objects.get()
    assert answer.headers["Location"] == reverse("submission", args=[made.id])
    assert made.state == "submitted"
    moderation.decide_submission(
        moderator, made.id, "request_changes", reason="Say which driver.", version=made.version
    )
    page = person.get(reverse("submission", args=[made.id])).content.decode()
    assert "Say which driver." in page
    made.refresh_from_db()
    person.post(
        reverse("submission", args=[made.id]),
        {"document": made.document, "note": "It is in there.", "version": made.version, "action": "submit"},
    )
    made.refresh_from_db()
    assert made.state == "submitted"
    moderation.decide_submission(moderator, made.id, "accept", reason="It is.", version=made.version)
    made.refresh_from_db()
    published = made.run
    assert published.source.slug == "community"
    assert published.metadata["authors"] == [{"name": "ada"}]
    assert "labels" not in published.metadata
    assert not EvidenceLevel.objects.exists()
    shown = client.get(reverse("run", args=[published.id])).content.decode()
    assert "Sent in by" in shown
    assert ">reported</a>" in shown
    steps = person.get(reverse("submission", args=[made.id])).content.decode()
    for word in ("draft", "submitted", "changes requested", "accepted", "morgan, moderator", "It is."):
        assert word in steps


def test_what_has_faults_is_kept_as_a_draft(ada, run):
    signed_in(ada).post(reverse("submission-new"), {"document": "{}", "action": "submit"})
    assert Submission.objects.get().state == "draft"


def test_a_decided_submission_cannot_be_changed(ada, moderator, run):
    made = submissions.create(ada, document=reproduction(), note="")
    submissions.submit(ada, made.id, version=1)
    moderation.decide_submission(moderator, made.id, "reject", reason="Twice the same.", version=2)
    with pytest.raises(Refused, match="cannot be changed"):
        submissions.edit(ada, made.id, document="{}", note="", version=3)
    with pytest.raises(Refused):
        submissions.submit(ada, made.id, version=3)
    with pytest.raises(Refused):
        submissions.withdraw(ada, made.id)
    with pytest.raises(Refused):
        moderation.decide_submission(moderator, made.id, "accept", reason="After all.", version=3)
    assert Run.objects.count() == 2


def test_the_same_run_is_not_published_twice(ada, bob, moderator, run):
    sent = []
    for person in (ada, bob):
        made = submissions.create(person, document=reproduction(), note="")
        sent.append(submissions.submit(person, made.id, version=1))
    moderation.decide_submission(moderator, sent[0].id, "accept", reason="Good.", version=2)
    with pytest.raises(Refused):
        moderation.decide_submission(moderator, sent[1].id, "accept", reason="Good.", version=2)
    sent[1].refresh_from_db()
    assert sent[1].state == "submitted"


def test_a_reproduction_begins_with_what_is_the_same(ada, run):
    page = signed_in(ada).get(reverse("submission-new"), {"run": str(run.id)}).content.decode()
    spec = json.loads(run.canonical)["spec"]
    for name in ("implementationDigest", "workloadDigest", "protocolDigest", "environmentDigest"):
        assert spec[name] in page
