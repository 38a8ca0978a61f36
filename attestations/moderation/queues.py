"""What waits for a moderator."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet
from django.urls import reverse

from attestations.models import AuditEntry, OwnerClaim, Report, Statement, Submission
from runs.models import EvidenceLevel, OutboxEntry, Run


@dataclass(frozen=True, slots=True)
class Queue:
    """One kind of work: how much there is, and where it is done."""

    name: str
    count: int
    url: str


def queues() -> list[Queue]:
    """All queues, empty ones as well."""
    return [
        Queue(
            "Waiting statements",
            Statement.objects.filter(state=Statement.State.WAITING).count(),
            _list("attestations_statement", "state__exact=waiting"),
        ),
        Queue(
            "Submissions",
            Submission.objects.filter(state=Submission.State.SUBMITTED).count(),
            _list("attestations_submission", "state__exact=submitted"),
        ),
        Queue(
            "Reports",
            Report.objects.filter(state=Report.State.OPEN).count(),
            _list("attestations_report", "state__exact=open"),
        ),
        Queue(
            "Claims of ownership",
            OwnerClaim.objects.filter(state=OwnerClaim.State.OPEN).count(),
            _list("attestations_ownerclaim", "state__exact=open"),
        ),
        Queue("Runs below the physical floor", below_floor().count(), reverse("admin:floor-queue")),
        Queue(
            "Disputed runs",
            EvidenceLevel.objects.filter(disputed=True).count(),
            _list("runs_evidencelevel", "disputed__exact=1"),
        ),
    ]


def below_floor() -> QuerySet[Run]:
    """Runs that publication found below the floor, and that no moderator has confirmed or explained."""
    announced = OutboxEntry.objects.filter(topic="below_floor").values("run")
    explained = AuditEntry.objects.filter(action="explain_floor").values("run_id")
    return (
        Run.objects.filter(id__in=announced, floor_confirmation__isnull=True, retraction__isnull=True)
        .exclude(id__in=explained)
        .order_by("id")
    )


def _list(name: str, query: str) -> str:
    return f"{reverse(f'admin:{name}_changelist')}?{query}"
