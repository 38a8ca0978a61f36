"""What moderators decide about statements, submissions and claims. Every decision has a reason and an audit entry.

The moderator is checked here and not by the callers: whoever calls, a person without the permission, or one whose own
statement it is, changes nothing. What concerns evidence goes through `runs.publication`, which takes no level from
anybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone

from attestations.accounts.models import User
from attestations.accounts.notices import notify
from attestations.models import OwnerClaim, Statement, Submission
from attestations.models.audit import Subject
from attestations.refusals import Refused
from attestations.services import audit, steps, submissions
from runs import publication

M = TypeVar("M", bound=models.Model)
MODERATE: Final = "attestations.moderate"

_S, _U, _C = Statement.State, Submission.State, OwnerClaim.State


@dataclass(frozen=True, slots=True)
class Decision:
    """What a moderator can do: from which states, to which, and how it is told to the person."""

    label: str
    before: frozenset[str]
    after: str
    told: str


STATEMENT: Final[Mapping[str, Decision]] = {
    "publish": Decision("Publish", frozenset({_S.WAITING}), _S.PUBLISHED, "was published"),
    "request_changes": Decision(
        "Request changes", frozenset({_S.WAITING, _S.PUBLISHED}), _S.CHANGES_REQUESTED, "needs changes"
    ),
    "reject": Decision("Reject", frozenset({_S.WAITING, _S.CHANGES_REQUESTED, _S.HIDDEN}), _S.REJECTED, "was rejected"),
    "hide": Decision("Hide", frozenset({_S.PUBLISHED}), _S.HIDDEN, "was hidden"),
    "unhide": Decision("Unhide", frozenset({_S.HIDDEN}), _S.PUBLISHED, "is shown again"),
}
SUBMISSION: Final[Mapping[str, Decision]] = {
    "accept": Decision("Accept and publish", frozenset({_U.SUBMITTED}), _U.ACCEPTED, "was accepted"),
    "request_changes": Decision("Request changes", frozenset({_U.SUBMITTED}), _U.CHANGES_REQUESTED, "needs changes"),
    "reject": Decision("Reject", frozenset({_U.SUBMITTED, _U.CHANGES_REQUESTED}), _U.REJECTED, "was rejected"),
}
CLAIM: Final[Mapping[str, Decision]] = {
    "accept": Decision("Accept", frozenset({_C.OPEN}), _C.ACCEPTED, "was accepted"),
    "reject": Decision("Reject", frozenset({_C.OPEN}), _C.REJECTED, "was rejected"),
    "revoke": Decision("Revoke", frozenset({_C.ACCEPTED}), _C.REVOKED, "was revoked"),
}


def decide_statement(
    moderator: User,
    statement_id: UUID,
    action: str,
    *,
    reason: str,
    revision: int | None = None,
    seen_at: datetime | None = None,
) -> Statement:
    """Decide on a statement. `revision`, or the time at which it was seen, says which text the moderator read.

    Raises Refused.
    """
    decision = STATEMENT[action]
    reason = stated(moderator, reason)
    with transaction.atomic():
        statement = locked(Statement, statement_id, "run", "author")
        if statement.author_id == moderator.pk:
            raise Refused("OWN")
        _allowed(decision, statement.state)
        if (revision is not None and revision != statement.revision) or (seen_at and statement.changed_at > seen_at):
            raise Refused("STALE")
        before, statement.state, statement.changed_at = statement.state, decision.after, timezone.now()
        statement.save(update_fields=["state", "changed_at"])
        statement.revisions.filter(number=statement.revision).update(public=decision.after == _S.PUBLISHED)
        if _S.PUBLISHED in (before, decision.after):
            publication.touch(statement.run)
        entry = _told(
            moderator,
            action,
            Subject.STATEMENT,
            statement.id,
            before=before,
            decision=decision,
            reason=reason,
            run=statement.run_id,
        )
        notify(
            statement.author,
            "statement_decided",
            key=f"statement:{statement.id}:{entry}",
            subject=f"Your statement {decision.told}",
            path=reverse("statement", args=[statement.id]),
            facts=reason,
        )
    return statement


def decide_submission(
    moderator: User, submission_id: UUID, action: str, *, reason: str, version: int | None = None
) -> Submission:
    """Decide on a submission; an accepted one is published. Raises Refused."""
    decision = SUBMISSION[action]
    reason = stated(moderator, reason)
    with transaction.atomic():
        submission = locked(Submission, submission_id, "author")
        if submission.author_id == moderator.pk:
            raise Refused("OWN")
        _allowed(decision, submission.state)
        if version is not None and version != submission.version:
            raise Refused("STALE")
        if action == "accept":
            submission.run = submissions.publish(submission)
        before, submission.state, submission.changed_at = submission.state, decision.after, timezone.now()
        submission.version += 1
        submission.save(update_fields=["state", "run", "version", "changed_at"])
        entry = _told(
            moderator,
            action,
            Subject.SUBMISSION,
            submission.id,
            before=before,
            decision=decision,
            reason=reason,
            run=submission.run_id,
        )
        notify(
            submission.author,
            "submission_decided",
            key=f"submission:{submission.id}:{entry}",
            subject=f"Your submission {decision.told}",
            path=reverse("submission", args=[submission.id]),
            facts=reason,
        )
    return submission


def decide_claim(moderator: User, claim_id: UUID, action: str, *, reason: str) -> OwnerClaim:
    """Decide whether an implementation is the claimant's. Raises Refused."""
    decision = CLAIM[action]
    reason = stated(moderator, reason)
    with transaction.atomic():
        claim = locked(OwnerClaim, claim_id, "claimant")
        if claim.claimant_id == moderator.pk:
            raise Refused("OWN")
        _allowed(decision, claim.state)
        before, claim.state, claim.changed_at = claim.state, decision.after, timezone.now()
        claim.save(update_fields=["state", "changed_at"])
        entry = _told(
            moderator, action, Subject.CLAIM, claim.id, before=before, decision=decision, reason=reason, run=None
        )
        notify(
            claim.claimant,
            "claim_decided",
            key=f"claim:{claim.id}:{entry}",
            subject=f"Your claim of ownership {decision.told}",
            path=reverse("owner-claim", args=[claim.id]),
            facts=reason,
        )
    return claim


def stated(moderator: User, reason: str, permission: str = MODERATE) -> str:
    """The reason, once it is known that the person may decide and has given one. Raises Refused."""
    if not (moderator.is_active and moderator.is_staff and moderator.has_perm(permission)):
        raise Refused("NOT_MODERATOR")
    if not reason.strip():
        raise Refused("NO_REASON")
    return reason.strip()


def locked(model: type[M], key: Any, *related: str) -> M:
    """A row with what it refers to, that nobody else decides on until the transaction ends. Raises Refused."""
    rows = model._default_manager.select_for_update(of=("self",)).select_related(*related)
    found = rows.filter(pk=key).first()
    if found is None:
        raise Refused("STALE")
    return found


def _allowed(decision: Decision, state: str) -> None:
    if state not in decision.before:
        raise Refused("WRONG_STATE")


def _told(
    moderator: User,
    action: str,
    subject: Subject,
    subject_id: UUID,
    *,
    before: str,
    decision: Decision,
    reason: str,
    run: UUID | None,
) -> int:
    """Write the step and the audit entry of a decision. Yields the number of the entry."""
    steps.take(
        subject,
        subject_id,
        before,
        decision.after,
        actor=moderator,
        at=timezone.now(),
        reason=reason,
        by_moderator=True,
    )
    entry = audit.record(
        moderator,
        action,
        subject,
        subject_id,
        before={"state": str(before)},
        after={"state": str(decision.after)},
        reason=reason,
        run=run,
    )
    return entry.sequence
