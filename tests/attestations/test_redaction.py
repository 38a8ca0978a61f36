"""Removal by law: a tombstone with the digest, 410, an audit entry, and no other way past append-only."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from attestations.models import Attachment, AuditEntry, Statement, Submission
from attestations.services import moderation, submissions
from attestations.values import Upload
from runs.models import ExternalId, Measurement, Redaction, Run, Standing
from tests.attestations.conftest import waiting
from tests.attestations.test_submissions import reproduction

pytestmark = pytest.mark.django_db

GROUND = "Order of a court, 2 O 17/26"


def addresses(run) -> list[str]:
    return [
        reverse("run", args=[run.id]),
        reverse("run-json", args=[run.id]),
        reverse("run-manifest", args=[run.id]),
        reverse("run-cite", args=[run.id, "bib"]),
    ]


def test_what_is_removed_is_gone_everywhere_and_its_digest_stays(client, administrator, run):
    known = {url: client.get(url).headers["ETag"] for url in addresses(run)}
    call_command("redact", run.digest, reason=GROUND, actor="alex")
    for url, etag in known.items():
        for headers in ({}, {"If-None-Match": etag}, {"Accept": "application/json"}):
            answer = client.get(url, headers=headers)
            assert answer.status_code == 410, (url, headers)
            assert run.digest in answer.content.decode()
            assert GROUND in answer.content.decode()
    emptied = Run.objects.get(pk=run.pk)
    assert (emptied.canonical, emptied.metadata, emptied.value, emptied.digest) == ("", {}, None, run.digest)
    assert not Measurement.objects.filter(run=run).exists()
    assert not ExternalId.objects.filter(run=run).exists()
    assert Standing.objects.get(run=run).rank is None
    assert Redaction.objects.get().digest == run.digest
    [entry] = AuditEntry.objects.all()
    assert (entry.action, entry.reason, entry.actor, entry.run_id) == ("redact", GROUND, administrator, run.id)
    for url in (reverse("runs"), reverse("home"), reverse("moderation-log"), reverse("sources")):
        assert client.get(url).status_code == 200, url
    call_command("verify_catalog")
    call_command("verify_audit")


def test_only_an_administrator_removes_and_with_a_reason(administrator, moderator, run):
    for actor, reason in (("morgan", GROUND), ("alex", " "), ("nobody", GROUND)):
        with pytest.raises(CommandError):
            call_command("redact", run.digest, reason=reason, actor=actor)
    with pytest.raises(CommandError, match="neither"):
        call_command("redact", "anything", reason=GROUND, actor="alex")
    assert not Redaction.objects.exists()
    assert not AuditEntry.objects.exists()


def test_nothing_is_removed_twice(administrator, run):
    call_command("redact", run.digest, reason=GROUND, actor="alex")
    with pytest.raises(CommandError):
        call_command("redact", run.digest, reason=GROUND, actor="alex")
    assert AuditEntry.objects.count() == 1


def refused(sql: str, *params) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, params)


def test_a_tombstone_lets_its_own_run_go_and_no_other(run, other_run, administrator):
    Redaction.objects.create(run=run, digest=run.digest, reason="r", actor="a", at=timezone.now())
    empty = "canonical = '', metadata = '{}', value = NULL, low = NULL, high = NULL, samples = NULL, status = 'revoked'"
    other = (
        connection.ops.adapt_uuidfield_value(other_run.id) if hasattr(connection.ops, "adapt_uuidfield_value") else None
    )
    other = other or (other_run.id.hex if connection.vendor == "sqlite" else other_run.id)
    own = run.id.hex if connection.vendor == "sqlite" else run.id
    refused(f"UPDATE runs_run SET {empty} WHERE id = %s", other)
    refused("UPDATE runs_run SET title = 'better' WHERE id = %s", own)
    refused(f"UPDATE runs_run SET {empty}, digest = %s WHERE id = %s", "sha256:" + "0" * 64, own)
    refused(f"UPDATE runs_run SET {empty}, published_at = observed_at WHERE id = %s", own)
    refused("UPDATE runs_run SET value = 1 WHERE id = %s", own)
    refused("DELETE FROM runs_run WHERE id = %s", own)
    refused("DELETE FROM runs_measurement WHERE run_id = %s", other)
    refused("UPDATE runs_measurement SET value = 1 WHERE run_id = %s", own)
    refused("DELETE FROM runs_redaction")
    refused("UPDATE runs_redaction SET reason = 'another'")


def test_after_a_removal_evidence_is_append_only_as_before(run, other_run, administrator):
    call_command("redact", run.digest, reason=GROUND, actor="alex")
    refused("UPDATE runs_run SET title = title")
    refused("DELETE FROM runs_measurement")
    refused("UPDATE runs_run SET canonical = 'back' WHERE digest = %s", run.digest)


def test_the_submission_it_came_from_is_emptied_as_well(administrator, moderator, ada, run):
    made = submissions.create(ada, document=reproduction(), note="From my desk.")
    submissions.submit(ada, made.id, version=1)
    moderation.decide_submission(moderator, made.id, "accept", reason="Good.", version=2)
    made.refresh_from_db()
    call_command("redact", made.digest, reason=GROUND, actor="alex")
    assert list(Submission.objects.values_list("document", "note")) == [("", "")]


def test_statements_on_a_removed_run_are_not_shown(client, administrator, known, run):
    statement = Statement.objects.filter(run=run).first()
    url = reverse("statement", args=[statement.id])
    assert client.get(url).status_code == 200
    call_command("redact", run.digest, reason=GROUND, actor="alex")
    assert client.get(url).status_code == 404
    assert "ECC was on." in client.get(known.get_absolute_url()).content.decode()  # of the other run


def test_what_a_statement_says_is_removed_with_its_file(client, administrator, known, run, other_run):
    statement = Statement.objects.filter(run=run).first()
    said = waiting(known, other_run, note="A name and an address.", upload=Upload(b"a letter", "text/plain"))
    assert "A name and an address." in client.get(reverse("run", args=[other_run.id])).content.decode()
    call_command("redact", str(said.id), reason=GROUND, actor="alex")
    assert "A name and an address." not in client.get(reverse("run", args=[other_run.id])).content.decode()
    assert not Attachment.objects.exists()
    assert list(said.revisions.values_list("note", flat=True)) == [""]
    statement.refresh_from_db()
    assert statement.state == "published"
