"""Nothing here changes evidence or its level, and nobody reaches what is another's."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse
from django.utils import timezone

import attestations.services
from attestations.models import AuditEntry, OwnerClaim, Statement, Step, Submission
from attestations.refusals import Refused
from attestations.services import moderation, office, owners, report_decisions, reports, submissions
from attestations.values import ReportContent, Upload
from runs.models import EvidenceLevel, Retraction, Run, Standing
from tests.attestations.conftest import person, signed_in, waiting
from tests.attestations.test_submissions import manifest, reproduction

pytestmark = pytest.mark.django_db

EXTRA = {
    "level": "verified",
    "evidence_level": "verified",
    "state": "published",
    "author": "1",
    "author_id": "1",
    "run": "00000000-0000-0000-0000-000000000000",
    "run_id": "00000000-0000-0000-0000-000000000000",
    "public": "1",
    "id": "00000000-0000-0000-0000-000000000000",
    "is_staff": "1",
    "status": "passed",
    "rank": "1",
}


def evidence() -> list[tuple]:
    return [
        *Run.objects.order_by("id").values_list("id", "digest", "canonical", "status", "value"),
        *Standing.objects.order_by("run").values_list("run", "rank"),
        *EvidenceLevel.objects.values_list("run", "level"),
    ]


def test_fields_that_no_form_has_are_not_taken(ada, bob, run, other_run):
    before = evidence()
    signed_in(ada).post(reverse("statement-new", args=[run.id]), {"kind": "reproduced", "note": "x", **EXTRA})
    made = Statement.objects.get()
    assert (made.author, made.run, made.state) == (ada, run, "waiting")
    signed_in(ada).post(
        reverse("statement-revise", args=[made.id]), {"kind": "reproduced", "note": "y", "revision": "1", **EXTRA}
    )
    made.refresh_from_db()
    assert (made.author, made.run, made.state, made.revision) == (ada, run, "waiting", 2)
    signed_in(ada).post(reverse("submission-new"), {"document": reproduction(), "action": "submit", **EXTRA})
    sent = Submission.objects.get()
    assert (sent.author, sent.state, sent.run) == (ada, "submitted", None)
    signed_in(ada).post(reverse("report-new", args=[run.id]), {"reason": "other", "detail": "Ten characters.", **EXTRA})
    signed_in(ada).post(reverse("owner-claim-new", args=[run.implementation.slug]), {"detail": "", **EXTRA})
    assert OwnerClaim.objects.get().state == "open"
    assert evidence() == before


def test_whatever_a_moderator_decides_no_level_follows(known, bob, run, moderator):
    made = waiting(known, run)
    for action in ("hide", "unhide", "request_changes", "reject"):
        moderation.decide_statement(moderator, made.id, action, reason="x")
    draft = submissions.create(known, document=reproduction(), note="")
    submissions.submit(known, draft.id, version=1)
    moderation.decide_submission(moderator, draft.id, "accept", reason="x", version=2)
    for outcome, each in (("noted", run), ("retracted", run)):
        report, _ = reports.file_report(each, ReportContent("other", "Ten characters."), reporter=bob, address="")
        report_decisions.accept(moderator, report.id, outcome, reason="x", answer="y")
    assert not EvidenceLevel.objects.exists()
    assert Retraction.objects.count() == 1


def test_no_service_takes_a_level():
    found = 0
    for module in pkgutil.iter_modules(attestations.services.__path__):
        loaded = importlib.import_module(f"attestations.services.{module.name}")
        for name, function in inspect.getmembers(loaded, inspect.isfunction):
            if function.__module__ == loaded.__name__:
                found += 1
                assert not any("level" in argument for argument in inspect.signature(function).parameters), name
    assert found > 30


def test_a_level_written_past_everything_is_refused_by_the_database(run):
    with pytest.raises(DatabaseError, match="controlled rerun"), transaction.atomic():
        EvidenceLevel.objects.create(run=run, level="verified", since=timezone.now())


def test_a_submission_cannot_claim_a_level_or_a_source(ada, moderator, run):
    document = manifest()
    document["metadata"] |= {"title": "Verified by KernelIndex", "description": "level: verified"}
    made = submissions.create(ada, document=json.dumps(document), note="")
    submissions.submit(ada, made.id, version=1)
    moderation.decide_submission(moderator, made.id, "accept", reason="x", version=2)
    published = Run.objects.get(source__slug="community")
    assert published.metadata["name"] == f"community-{made.id}"
    assert "description" not in published.metadata
    assert published.source_native is False
    assert not EvidenceLevel.objects.exists()


# Whose is it? ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def belongings(ada, run):
    """Addresses of what is Ada's alone, each with what a POST there would send."""
    statement = waiting(ada, run, upload=Upload(b"log", "text/plain"))
    submission = submissions.create(ada, document=reproduction(), note="")
    claim = owners.claim(ada, run.implementation, detail="")
    report, _ = reports.file_report(run, ReportContent("other", "Ten characters."), reporter=ada, address="")
    said = {"kind": "reproduced", "note": "Mine now.", "revision": "1"}
    sent = {"document": "{}", "version": "1", "action": "save"}
    return {
        reverse("statement", args=[statement.id]): None,
        reverse("statement-revise", args=[statement.id]): said,
        reverse("statement-withdraw", args=[statement.id]): {},
        reverse("statement-attachment", args=[statement.id, 1]): None,
        reverse("submission", args=[submission.id]): sent,
        reverse("submission-withdraw", args=[submission.id]): {},
        reverse("owner-claim", args=[claim.id]): {"proof_url": "https://example.org/x"},
        reverse("report", args=[report.id]): None,
    }


def test_what_is_anothers_is_not_there(ada, bob, moderator, client, belongings):
    before = list(Statement.objects.values()), list(Submission.objects.values()), list(OwnerClaim.objects.values())
    other, desk = signed_in(bob), signed_in(moderator)
    for url, data in belongings.items():
        assert other.get(url).status_code == 404, url
        anonymous = client.get(url)
        assert anonymous.status_code == 404 or anonymous.headers["Location"].startswith(reverse("account_login")), url
        if data is not None:
            assert other.post(url, data).status_code == 404, url
            # A moderator's rights are in the admin, and are not a way to write as somebody else.
            assert desk.post(url, data).status_code == 404, url
            assert client.post(url, data).headers["Location"].startswith(reverse("account_login")), url
        else:
            assert other.post(url, {}).status_code in {403, 404, 405}, url
    assert before == (
        list(Statement.objects.values()),
        list(Submission.objects.values()),
        list(OwnerClaim.objects.values()),
    )
    for url in belongings:
        assert signed_in(ada).get(url).status_code == 200, url


def test_what_is_hidden_or_withdrawn_has_no_file_either(known, run, moderator, client):
    made = waiting(known, run, upload=Upload(b"log", "text/plain"))
    url = reverse("statement-attachment", args=[made.id, 1])
    assert client.get(url).status_code == 200
    moderation.decide_statement(moderator, made.id, "hide", reason="x")
    assert client.get(url).status_code == 404
    assert signed_in(known).get(url).status_code == 200
    assert client.get(reverse("statement-attachment", args=[made.id, 2])).status_code == 404


def test_the_scripts_endpoints_are_for_people_who_are_signed_in(client, ada, run):
    for name in ("statement-preview", "submission-check"):
        assert client.post(reverse(name), {"note": "x"}).status_code == 403
        assert client.get(reverse(name)).status_code == 405
    answer = signed_in(ada).post(reverse("statement-preview"), {"note": "<script>*a*"})
    assert answer.content.decode().strip() == "<p>&lt;script&gt;<em>a</em></p>"


def test_a_foreign_form_changes_nothing(ada, run):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    for url in (
        reverse("statement-new", args=[run.id]),
        reverse("report-new", args=[run.id]),
        reverse("submission-new"),
        reverse("statement-preview"),
    ):
        assert client.post(url, {"kind": "reproduced", "note": "x"}).status_code == 403, url


@pytest.mark.parametrize("role", ["nobody", "staff", "inactive moderator", "not staff"])
def test_no_service_decides_for_who_may_not(role, ada, bob, run):
    user = person("mallory", *(["moderator"] if role in {"inactive moderator", "not staff"} else []))
    if role == "staff":
        user.is_staff = True
    if role == "inactive moderator":
        user.is_active = False
    if role == "not staff":
        user.is_staff = False
    user.save()
    made = waiting(ada, run)
    claim = owners.claim(ada, run.implementation, detail="")
    report, _ = reports.file_report(run, ReportContent("other", "Ten characters."), reporter=None, address="192.0.2.1")
    draft = submissions.create(ada, document=reproduction(), note="")
    submissions.submit(ada, draft.id, version=1)
    for act in (
        lambda: moderation.decide_statement(user, made.id, "publish", reason="x"),
        lambda: moderation.decide_claim(user, claim.id, "accept", reason="x"),
        lambda: moderation.decide_submission(user, draft.id, "accept", reason="x"),
        lambda: report_decisions.accept(user, report.id, "retracted", reason="x", answer="y"),
        lambda: report_decisions.dismiss(user, report.id, reason="x"),
        lambda: report_decisions.merge(user, report.id, report.id, reason="x"),
        lambda: office.suspend(user, bob.pk, reason="x"),
        lambda: office.appoint(user, bob.pk, reason="x"),
        lambda: office.confirm_floor(user, run, reason="x"),
        lambda: office.explain_floor(user, run, reason="x"),
    ):
        with pytest.raises(Refused, match="Only a moderator"):
            act()
    assert not AuditEntry.objects.exists()
    assert not Step.objects.filter(by_moderator=True).exists()
