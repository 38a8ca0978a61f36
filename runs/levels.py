"""Evidence levels: what the rerun results of a run amount to. Written by `runs.publication` alone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db.models import F

from runs.models import EvidenceLevel, RerunResult, Run, SignerDecision, Standing
from runs.policy import level
from runs.policy.verdict import Verdict


def refresh(run: Run, now: datetime) -> str | None:
    """Derive the level of a run anew and write it. Returns the outbox topic of what changed, if anything did."""
    before = EvidenceLevel.objects.filter(run=run).first()
    was = (before.level, before.disputed) if before else (level.EvidenceLevel.REPORTED.slug, False)
    becomes = derived(run)
    if was == becomes:
        return None
    if becomes == (level.EvidenceLevel.REPORTED.slug, False):
        EvidenceLevel.objects.filter(run=run).delete()
    else:
        values = {"level": becomes[0], "disputed": becomes[1], "since": now}
        EvidenceLevel.objects.update_or_create(run=run, defaults=values)
    touch(run, now)
    if becomes[1] and not was[1]:
        return "disputed"
    return becomes[0] if becomes[0] != was[0] else "undisputed"


def derived(run: Run) -> tuple[str, bool]:
    """The level that follows from a run's reruns, and whether it is disputed."""
    found = level.derive(_reruns(run))
    return found.level.slug, found.disputed


def touch(run: Run, now: datetime) -> None:
    """Something that the run's page shows has changed."""
    Standing.objects.filter(run=run).update(version=F("version") + 1, changed_at=now)


def runs_that_rest_on(signer: UUID) -> Iterable[Run]:
    """The runs that a runner has results for."""
    return Run.objects.filter(rerun_results__runner=signer).distinct().order_by("id")


def _reruns(run: Run) -> list[level.Rerun]:
    results = list(RerunResult.objects.filter(run=run))
    decisions = SignerDecision.objects.filter(signer__in={result.runner_id for result in results})
    approved: set[UUID] = set()
    revoked: dict[UUID, datetime] = {}
    for decision in decisions.order_by("at", "id"):
        if decision.decision == "approve":
            approved.add(decision.signer_id)
        elif decision.decision == "revoke":
            revoked.setdefault(decision.signer_id, decision.at)
    return [
        level.Rerun(
            key=str(result.id),
            verdict=Verdict(result.verdict),
            finished_at=result.finished_at,
            operator=result.operator,
            device=result.device or None,
            hardware_equal=result.hardware_equal,
            approved=result.runner_id in approved,
            revoked_at=revoked.get(result.runner_id),
        )
        for result in results
    ]
