"""Removal by law, in the audit trail."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from attestations.accounts.models import User
from attestations.models import Attachment, Statement, StatementRevision, Submission
from attestations.models.audit import Subject
from attestations.reads.facts import run_facts
from attestations.refusals import Refused
from attestations.services import audit
from attestations.services.moderation import locked, stated
from attestations.services.report_decisions import OFFICE
from runs import publication
from runs.models import Run
from runs.redaction import redact
from runs.refusals import PublicationRefused

REDACT = "attestations.redact"


def redact_run(administrator: User, digest: str, *, reason: str) -> None:
    """Remove a run's content, here and in the submission that it came from. `reason` is public. Raises Refused."""
    reason = stated(administrator, reason, REDACT)
    try:
        with transaction.atomic():
            tombstone = redact(digest, reason=reason, actor=OFFICE)
            run: Run = tombstone.run
            sent_in = Submission.objects.filter(Q(run=run) | Q(digest=digest))
            sent_in.update(document="", note="", changed_at=timezone.now())
            _record(administrator, Subject.RUN, run.id, {"digest": digest}, reason=reason, run=run.id)
    except PublicationRefused as error:
        raise Refused("PUBLICATION", str(error)) from error
    run_facts.cache_clear()


def redact_statement(administrator: User, statement_id: UUID, *, reason: str) -> None:
    """Remove what a statement says and ever said, with files that nothing else carries. Raises Refused."""
    reason = stated(administrator, reason, REDACT)
    with transaction.atomic():
        statement = locked(Statement, statement_id, "run")
        was_seen = statement.state == Statement.State.PUBLISHED
        files = list(statement.revisions.exclude(attachment=None).values_list("attachment", flat=True))
        statement.revisions.update(
            note="",
            value=None,
            unit="",
            statistic="",
            samples=None,
            environment={},
            evidence_url="",
            attachment=None,
            public=False,
        )
        Attachment.objects.filter(pk__in=files).exclude(
            pk__in=StatementRevision.objects.exclude(attachment=None).values("attachment")
        ).delete()
        statement.state, statement.changed_at = Statement.State.REJECTED, timezone.now()
        statement.save(update_fields=["state", "changed_at"])
        if was_seen:
            publication.touch(statement.run)
        _record(administrator, Subject.STATEMENT, statement.id, {}, reason=reason, run=statement.run_id)


def _record(
    administrator: User, subject: Subject, subject_id: UUID, after: dict[str, str], *, reason: str, run: UUID
) -> None:
    audit.record(
        administrator,
        "redact",
        subject,
        subject_id,
        before={"redacted": False},
        after={"redacted": True, **after},
        reason=reason,
        run=run,
    )
