"""Removal by law: the one exception to append-only, and it leaves a tombstone.

The manifest, its editorial part, measurements, addresses of artifacts and external ids of one run go; its row stays
with its digest, so that whatever refers to it (supersessions, reruns, statements) still does, and so that everybody can
see that something was removed, and when. The database lets through exactly this (see the triggers in migrations).
"""

from __future__ import annotations

from django.utils import timezone

from runs import levels, outbox, projections
from runs.models import Artifact, ExternalId, Measurement, Redaction, Run
from runs.refusals import PublicationRefused, Refusal
from runs.storage import one_writer

TITLE = "Removed by law"


def redact(digest: str, *, reason: str, actor: str) -> Redaction:
    """Remove a run's content for good. `reason` is public. Raises PublicationRefused."""
    reason, actor = reason.strip(), actor.strip()
    if not reason or not actor:
        raise PublicationRefused([Refusal("NO_REASON", "redaction")])
    with one_writer():
        run = Run.objects.filter(digest=digest).exclude(canonical="").first()
        if run is None:
            raise PublicationRefused([Refusal("UNKNOWN_RUN", "redaction", f"{digest}.")])
        now = timezone.now()
        # The tombstone first: the database lets nothing of the run go without it.
        tombstone = Redaction.objects.create(run=run, digest=digest, reason=reason, actor=actor, at=now)
        for model in (Measurement, Artifact, ExternalId):
            model._default_manager.filter(run=run).delete()
        Run.objects.filter(pk=run.pk).update(
            canonical="",
            metadata={},
            title=TITLE,
            status="revoked",
            metric="",
            statistic="",
            unit="",
            value=None,
            low=None,
            high=None,
            samples=None,
        )
        projections.refresh([run.comparison_key], now)
        levels.touch(run, now)
        outbox.announce("redacted", run, {"reason": reason}, now)
    return tombstone
