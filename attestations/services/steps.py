"""Steps: what happened to a statement, a submission, a report or a claim, one row each."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from attestations.accounts.models import User
from attestations.models import Step
from attestations.models.audit import Subject


def take(
    subject: Subject,
    subject_id: UUID,
    before: str,
    after: str,
    *,
    actor: User | None,
    at: datetime,
    reason: str = "",
    by_moderator: bool = False,
) -> Step:
    """Add a step."""
    return Step.objects.create(
        subject=subject,
        subject_id=subject_id,
        before=before,
        after=after,
        actor=actor,
        at=at,
        reason=reason,
        by_moderator=by_moderator,
    )
