"""What a person may do here, and how often."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.utils import timezone

from attestations.accounts.models import User
from attestations.locks import wait_for
from attestations.models import OwnerClaim, Statement, StatementRevision, Submission, Suspension
from attestations.refusals import Refused
from runs.models import Run

DAILY: Final = 20  # statements, revisions of them, and submissions, in 24 hours
NEW: Final = 2  # statements that a moderator publishes before the next ones appear at once


def may_post(person: User) -> None:
    """Raise Refused for a person who is suspended, or has posted enough for a day. Inside the transaction of the post.

    Posts of one person take turns from here on, so that two at once are not both the last one allowed.
    """
    wait_for(f"attestations.person.{person.pk}")
    if is_suspended(person):
        raise Refused("SUSPENDED")
    since = timezone.now() - timedelta(days=1)
    posted = StatementRevision.objects.filter(statement__author=person, at__gt=since).count()
    posted += Submission.objects.filter(author=person, created_at__gt=since).count()
    if posted >= DAILY:
        raise Refused("DAILY_LIMIT")


def is_suspended(person: User) -> bool:
    """Whether the person may not post at present."""
    return Suspension.objects.filter(person=person, lifted_at=None).exists()


def is_known(person: User, *, but: Statement | None = None) -> bool:
    """Whether statements of this person appear at once: two others stand published."""
    published = Statement.objects.filter(author=person, state=Statement.State.PUBLISHED)
    if but is not None:
        published = published.exclude(pk=but.pk)
    return published.count() >= NEW


def owns(person: User, run: Run) -> bool:
    """Whether a moderator found that the run's implementation is this person's."""
    return OwnerClaim.objects.filter(
        claimant=person, implementation=run.implementation_id, state=OwnerClaim.State.ACCEPTED
    ).exists()
