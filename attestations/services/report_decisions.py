"""What moderators make of reports: a retraction, a supersession, a public note, nothing, or part of another report."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from attestations.accounts.models import User
from attestations.accounts.notices import notify
from attestations.models import OwnerClaim, Report, RunNote, Submission
from attestations.models.audit import Subject
from attestations.refusals import Refused
from attestations.services import audit, steps
from attestations.services.moderation import locked, stated
from runs import publication
from runs.models import Run
from runs.refusals import PublicationRefused

OFFICE: Final = "KernelIndex moderation"  # who acted, as the run's page names it: the office, not the person
State, Outcome = Report.State, Report.Outcome


def accept(moderator: User, report_id: UUID, outcome: str, *, reason: str, answer: str, successor: str = "") -> Report:
    """Accept a report and do what follows. `answer` is public, `reason` is for the audit trail. Raises Refused."""
    reason = stated(moderator, reason)
    answer = answer.strip()
    if outcome not in Outcome.values or not answer:
        raise Refused("NO_OUTCOME")
    with transaction.atomic():
        report = _open(moderator, report_id)
        try:
            if outcome == Outcome.RETRACTED:
                publication.retract(report.run.digest, reason=answer, actor=OFFICE)
            elif outcome == Outcome.SUPERSEDED:
                publication.supersede(report.run.digest, successor.strip(), reason=answer, actor=OFFICE)
            else:
                RunNote.objects.create(run=report.run, report=report, text=answer, at=timezone.now())
        except PublicationRefused as error:
            raise Refused("PUBLICATION", str(error)) from error
        publication.touch(report.run, topic="noted" if outcome == Outcome.NOTED else None)
        report.outcome, report.answer = outcome, answer
        _close(moderator, report, State.ACCEPTED, "accept", reason)
    return report


def dismiss(moderator: User, report_id: UUID, *, reason: str, answer: str = "") -> Report:
    """Decide that nothing follows. `answer` is what the reporter reads. Raises Refused."""
    reason = stated(moderator, reason)
    with transaction.atomic():
        report = _open(moderator, report_id)
        report.answer = answer.strip()
        _close(moderator, report, State.DISMISSED, "dismiss", reason)
    return report


def merge(moderator: User, report_id: UUID, into: UUID, *, reason: str) -> Report:
    """Make a report part of another on the same run; it shares what becomes of that. Raises Refused."""
    reason = stated(moderator, reason)
    with transaction.atomic():
        # In the order of their ids, so that two merges at once wait for each other instead of for ever.
        if report_id == into:
            raise Refused("OTHER_TARGET")
        found = {key: locked(Report, key, "run") for key in sorted((report_id, into))}
        report, target = _open(moderator, report_id), found[into]
        if report.run_id != target.run_id or target.state == State.MERGED:
            raise Refused("OTHER_TARGET")
        # What was merged into this one goes along, so that there is never a chain to follow.
        Report.objects.filter(merged_into=report).update(merged_into=target)
        report.merged_into = target
        _close(moderator, report, State.MERGED, "merge", reason)
    return report


def _open(moderator: User, report_id: UUID) -> Report:
    report = locked(Report, report_id, "run")
    if report.reporter_id == moderator.pk or _is_concerned(moderator, report.run):
        raise Refused("OWN")
    if report.state != State.OPEN:
        raise Refused("WRONG_STATE")
    return report


def _is_concerned(moderator: User, run: Run) -> bool:
    """Whether the run is the moderator's own: they sent it in, or its implementation is theirs."""
    return (
        Submission.objects.filter(run=run, author=moderator).exists()
        or OwnerClaim.objects.filter(
            implementation=run.implementation_id, claimant=moderator, state=OwnerClaim.State.ACCEPTED
        ).exists()
    )


def _close(moderator: User, report: Report, state: Report.State, action: str, reason: str) -> None:
    now = timezone.now()
    before, report.state, report.decided_at = report.state, state, now
    report.save(update_fields=["state", "outcome", "answer", "merged_into", "decided_at"])
    steps.take(Subject.REPORT, report.id, before, state, actor=moderator, at=now, reason=reason, by_moderator=True)
    entry = audit.record(
        moderator,
        action,
        Subject.REPORT,
        report.id,
        before={"state": str(before)},
        after={
            "state": str(state),
            "outcome": str(report.outcome),
            "mergedInto": str(report.merged_into_id or ""),
        },
        reason=reason,
        run=report.run_id,
    )
    concerned = [report, *report.merged.all()]
    for each in concerned:
        if each.reporter is not None:
            notify(
                each.reporter,
                "report_decided",
                key=f"report:{each.id}:{entry.sequence}",
                subject=f"Your report was {report.get_state_display()}",
                path=reverse("report", args=[each.id]),
                facts=report.answer,
            )
