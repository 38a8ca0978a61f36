"""Submissions, receipts, and the public log."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.urls import reverse

from attestations.accounts.models import User
from attestations.models import AuditEntry, Report, Submission
from attestations.models.audit import Subject
from attestations.reads.people import steps_of
from attestations.reads.values import LogPage, LogRow, Receipt, SubmissionPage, SubmissionRow

PAGE: Final = 50


def submissions_by(person: User, limit: int = 100) -> tuple[SubmissionRow, ...]:
    """A person's submissions, newest first, for that person."""
    return tuple(map(_row, Submission.objects.filter(author=person).order_by("-id")[:limit]))


def submission_page(submission_id: UUID, viewer: User) -> SubmissionPage | None:
    """A submission for its author; None for everybody else."""
    found = Submission.objects.filter(pk=submission_id, author=viewer).first()
    if found is None:
        return None
    steps = steps_of(Subject.SUBMISSION, found.id)
    return SubmissionPage(_row(found), found.document, found.note, found.version, steps)


def _row(found: Submission) -> SubmissionRow:
    return SubmissionRow(
        id=found.id,
        url=reverse("submission", args=[found.id]),
        digest=found.digest,
        state=found.state,
        state_name=found.get_state_display(),
        run=found.run_id,
        created_at=found.created_at,
        changed_at=found.changed_at,
    )


def receipt(report: Report) -> Receipt:
    """What a receipt shows: of a merged report, what became of the one that it was merged into."""
    decided = report.merged_into or report
    return Receipt(
        id=report.id,
        run=report.run_id,
        run_title=report.run.title,
        reason=report.get_reason_display(),
        state=decided.state,
        state_name=decided.get_state_display(),
        outcome_name=decided.get_outcome_display(),
        answer=decided.answer,
        merged=report.merged_into_id is not None,
        created_at=report.created_at,
        decided_at=decided.decided_at,
    )


# What a run's page says anyway; other reasons may speak of persons.
_PUBLIC_REASONS: Final = frozenset({"redact", "confirm_floor"})


def public_log(below: int | None = None) -> LogPage:
    """A page of the moderation log. It names acts and runs, never persons."""
    entries = AuditEntry.objects.order_by("-sequence")
    if below is not None:
        entries = entries.filter(sequence__lt=below)
    found = list(entries[: PAGE + 1])
    rows = tuple(
        LogRow(
            sequence=entry.sequence,
            action=entry.action,
            subject=entry.get_subject_display(),
            run=entry.run_id,
            public_reason=entry.reason if entry.action in _PUBLIC_REASONS else "",
            at=entry.at,
        )
        for entry in found[:PAGE]
    )
    return LogPage(rows, rows[-1].sequence if len(found) > PAGE else None)
