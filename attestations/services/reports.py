"""Taking reports in. What becomes of them is `services.moderation`."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from attestations import clients
from attestations.accounts.models import User
from attestations.locks import wait_for
from attestations.models import Report
from attestations.models.audit import Subject
from attestations.refusals import Refused
from attestations.services import people, steps
from attestations.values import ReportContent
from runs.models import Run

HOURLY: Final = 5  # of one client, or of one person with an account
DAILY: Final = 20
DAILY_ON_ONE_RUN: Final = 3
# Clients of one network together, on one run: a thousand addresses of one provider are not a thousand people. Somebody
# who signs in is not counted with the network.
NETWORK_DAILY_ON_ONE_RUN: Final = 10


def file_report(run: Run, content: ReportContent, *, reporter: User | None, address: str) -> tuple[Report, str]:
    """Take a report in. Yields it with the secret of its receipt, which is known here and never again. Raises Refused.

    Limits count what this client or person sent, never what others sent on the run: whoever floods a run is held up,
    and nobody else.
    """
    secret = token_urlsafe(32)
    with transaction.atomic():
        hashed = clients.hashes(address) if reporter is None else []
        wait_for(f"attestations.report.{reporter.pk if reporter else hashed[0].network}")
        if reporter is not None and people.is_suspended(reporter):
            raise Refused("SUSPENDED")
        _limit(run, reporter, hashed)
        now = timezone.now()
        report = Report.objects.create(
            run=run,
            reporter=reporter,
            client=hashed[0].client if hashed else "",
            network=hashed[0].network if hashed else "",
            secret=_hash(secret),
            created_at=now,
            reason=content.reason,
            detail=content.detail,
            evidence_url=content.evidence_url,
            contact=content.contact,
        )
        steps.take(Subject.REPORT, report.id, "", Report.State.OPEN, actor=reporter, at=now)
    return report, secret


def by_receipt(report_id: UUID, secret: str) -> Report | None:
    """The report that a receipt is of, or None."""
    report = Report.objects.select_related("run", "merged_into").filter(pk=report_id).first()
    if report is None or not compare_digest(report.secret, _hash(secret)):
        return None
    return report


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _limit(run: Run, reporter: User | None, hashed: list[clients.Hashes]) -> None:
    now = timezone.now()
    network = Q(pk__in=[])
    if reporter is not None:
        client = Q(reporter=reporter)
    else:
        client = Q(client__in=[each.client for each in hashed])
        network = Q(network__in=[each.network for each in hashed])
    day = Report.objects.filter(created_at__gt=now - timedelta(days=1))
    sent = day.filter(client)
    if (
        sent.filter(created_at__gt=now - timedelta(hours=1)).count() >= HOURLY
        or sent.count() >= DAILY
        or sent.filter(run=run).count() >= DAILY_ON_ONE_RUN
        or day.filter(network, run=run).count() >= NETWORK_DAILY_ON_ONE_RUN
    ):
        raise Refused("TOO_MANY_REPORTS")
