"""The life of a rerun on the site: approved, queued, running, then done, failed, cancelled or expired.

A state moves by one conditional UPDATE that names the state it leaves, so a second delivery, a second worker or a late
message finds nothing to move. What a result means is published by `runs.publication`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from runs.models import Rerun, Retraction, Run, Supersession
from runs.reruns.claims import Claim, read_claim
from runs.reruns.harness.recipes.catalog import NotRerunnable
from runs.reruns.progress import Progress
from runs.storage import one_writer

OPEN: Final = ("approved", "queued", "running")
SENT: Final = ("queued", "running")
ATTEMPTS: Final = 3
ATTEMPTS_WITHIN: Final = timedelta(days=7)
LEASE: Final = timedelta(hours=2)
"""A job that was sent and not heard of for this long is sent again: longer than a broker takes to deliver anew."""
DETAIL_CHARACTERS: Final = 4000


class RerunRefused(Exception):
    """A rerun cannot be approved; `code` names the reason."""

    def __init__(self, code: str, sentence: str) -> None:
        self.code = code
        super().__init__(sentence)


def claim_of(run: Run) -> Claim | NotRerunnable:
    """What a published run claims, or why it is not rerunnable. Takes one query where `run` has its relations."""
    if not run.canonical:
        return NotRerunnable("redacted", "The run's manifest was removed.")
    return read_claim(
        run.operation.slug,
        json.loads(run.canonical)["spec"],
        run.metadata,
        json.loads(run.environment.canonical)["spec"],
    )


def approve(run: Run, *, requested_by: str, approved_by: str, priority: int = 5) -> Rerun:
    """Put a rerun of this run into its product's queue. Raises RerunRefused.

    Who may approve is checked by the caller; that nobody approves what they asked for is checked here.
    """
    if requested_by.strip().casefold() == approved_by.strip().casefold():
        raise RerunRefused("OWN_RERUN", "Nobody approves a rerun that they asked for.")
    claim = claim_of(run)
    if isinstance(claim, NotRerunnable):
        raise RerunRefused("NOT_RERUNNABLE", claim.reason)
    with one_writer():  # two moderators at once make one rerun
        now = timezone.now()
        if Retraction.objects.filter(run=run).exists() or Supersession.objects.filter(run=run).exists():
            raise RerunRefused("RUN_WITHDRAWN", "The run was retracted or superseded.")
        attempts = Rerun.objects.filter(run=run)
        if attempts.filter(state__in=OPEN).exists():
            raise RerunRefused("RERUN_OPEN", "A rerun of this run is under way.")
        if attempts.filter(created_at__gt=now - ATTEMPTS_WITHIN).exclude(state="cancelled").count() >= ATTEMPTS:
            raise RerunRefused("RERUN_LIMIT", f"This run was rerun {ATTEMPTS} times within a week.")
        return Rerun.objects.create(
            run=run,
            product=claim.product,
            state="approved",
            priority=priority,
            requested_by=requested_by,
            approved_by=approved_by,
            created_at=now,
        )


def move(rerun: UUID, *, leave: Sequence[str], to: str, **changes: Any) -> bool:
    """Move a rerun from one of some states to another; False where it is in none of them (any more)."""
    return bool(Rerun.objects.filter(id=rerun, state__in=leave).update(state=to, version=F("version") + 1, **changes))


def cancel(rerun: UUID, *, detail: str) -> bool:
    """Take a rerun out of the queue; one that runs already is not called back."""
    return move(
        rerun, leave=("approved", "queued"), to="cancelled", code="CANCELLED", detail=detail, finished_at=timezone.now()
    )


def expire(now: datetime) -> int:
    """Give up reruns whose job has expired without a result."""
    return Rerun.objects.filter(state__in=SENT, expires_at__lt=now).update(
        state="expired", code="EXPIRED", finished_at=now, version=F("version") + 1
    )


def fail(rerun: UUID, code: str, detail: str) -> bool:
    """A runner could not measure it, or what it measured could not be published."""
    return move(
        rerun,
        leave=SENT,
        to="failed",
        code=code[:60],
        detail=detail[:DETAIL_CHARACTERS],
        finished_at=timezone.now(),
    )


def remark(rerun: UUID, code: str, detail: str) -> None:
    """Say on the rerun's page why something that a runner of ours sent was not taken. It stays in its state."""
    Rerun.objects.filter(id=rerun, state__in=SENT).update(
        code=code[:60], detail=detail[:DETAIL_CHARACTERS], version=F("version") + 1
    )


def heard(progress: Progress) -> int:
    """A runner says how far it is with some jobs; how many of them are still open.

    Nothing but the display and the lease depends on it, so it needs no signature.
    """
    now = timezone.now()
    named = Rerun.objects.filter(job_digest__in=progress.jobs)
    named.filter(state="queued").update(state="running", started_at=now)
    return named.filter(state="running").update(
        progress=progress.shown(), leased_until=now + LEASE, version=F("version") + 1
    )


def take_overdue(now: datetime, *, product: str | None = None, again: bool = False) -> list[dict[str, Any]]:
    """Jobs that were sent and not heard of within their lease, to be sent again: the same bytes, the same digest.

    With `again` all that were sent and have no result yet. Each is leased anew by a conditional UPDATE, so two
    dispatchers do not both send it.
    """
    late = Rerun.objects.filter(state__in=SENT, expires_at__gt=now)
    if product:
        late = late.filter(product=product)
    if not again:
        late = late.filter(_unleased(now))
    envelopes = []
    for id_, envelope in late.order_by("-priority", "id").values_list("id", "job"):
        mine = Rerun.objects.filter(id=id_, state__in=SENT)
        if not again:
            mine = mine.filter(_unleased(now))
        if mine.update(leased_until=now + LEASE, version=F("version") + 1):
            envelopes.append(json.loads(envelope))
    return envelopes


def _unleased(now: datetime) -> Q:
    return Q(leased_until__isnull=True) | Q(leased_until__lte=now)
