"""The one writer of evidence.

`publish` takes a bundle of manifests in, all of it or nothing, in one transaction; a second time it finds everything
there and writes nothing. `retract` and `supersede` add records about a run. Each rewrites the projections (standings,
comparison groups) that follow from what it wrote.

Writers take turns (`storage.one_writer`), so what a publication has looked up stays true until it commits.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from runs import derivation, outbox, projections
from runs.manifests.bundle import Bundle
from runs.models import (
    Environment,
    Operation,
    Project,
    Protocol,
    Retraction,
    Run,
    Source,
    SourceSnapshot,
    Supersession,
)
from runs.records import Outcome, Progress, RecordWriter, parse
from runs.refusals import PublicationRefused, Refusal
from runs.storage import one_writer, renew_statistics

MANY = 1_000  # new runs that change what the database should know of its tables' sizes


def _source(bundle: Bundle, now: datetime) -> tuple[UUID, UUID | None]:
    """The ids of the bundle's source and of the file it was read from, recorded at their first sight."""
    described, read = bundle.source, bundle.snapshot
    source = Source.objects.filter(slug=described.slug).first() or Source.objects.create(
        slug=described.slug,
        name=described.name,
        kind=described.kind,
        url=described.url or "",
        license=described.license or "",
        attribution=described.attribution or "",
        terms=described.terms or "",
        created_at=now,
    )
    if read is None:
        return source.id, None
    snapshot = SourceSnapshot.objects.filter(source=source, digest=read.digest).first()
    snapshot = snapshot or SourceSnapshot.objects.create(
        source=source,
        name=read.name,
        version=read.version,
        digest=read.digest,
        size=read.size,
        license=read.license or "",
        url=read.url or "",
        retrieved_at=datetime.fromisoformat(read.retrieved_at) if read.retrieved_at else now,
    )
    return source.id, snapshot.id


def publish(bundle: Bundle, *, progress: Progress | None = None) -> Outcome:
    """Publish a bundle, all of it or nothing.

    Raises PublicationRefused with every reason found. `progress` is called with 1 for each record that was validated.
    """
    parsed = parse(bundle, progress)
    with one_writer():
        now = timezone.now()
        records = RecordWriter(parsed, now)
        source, snapshot = _source(bundle, now)
        records.named(Project, "SoftwareProject", derivation.project)
        records.named(Operation, "OperationSpec", derivation.operation)
        records.aliases()
        records.workloads()
        records.implementations()
        records.plain(Protocol, "BenchmarkProtocol", derivation.protocol)
        records.plain(Environment, "ExecutionEnvironment", derivation.environment)
        records.runs(source, snapshot, bundle.illustrative)
        if records.refusals:
            raise PublicationRefused(records.refusals)
    if len(records.outcome.runs) >= MANY:
        renew_statistics()
    return records.outcome


def _run(digest: str, place: str) -> Run:
    run = Run.objects.filter(digest=digest).first()
    if run is None:
        raise PublicationRefused([Refusal("UNKNOWN_RUN", place, f"{digest}.")])
    return run


def _stated(reason: str, actor: str, place: str) -> tuple[str, str]:
    reason, actor = reason.strip(), actor.strip()
    if not reason or not actor:
        raise PublicationRefused([Refusal("NO_REASON", place)])
    return reason, actor


def retract(digest: str, *, reason: str, actor: str) -> Retraction:
    """Withdraw a run. Its page stays and says so; its rank goes. Raises PublicationRefused."""
    place = "retraction"
    reason, actor = _stated(reason, actor, place)
    with one_writer():
        run = _run(digest, place)
        if Retraction.objects.filter(run=run).exists():
            raise PublicationRefused([Refusal("ALREADY_RETRACTED", place, f"{digest}.")])
        now = timezone.now()
        retraction = Retraction.objects.create(run=run, reason=reason, actor=actor, at=now)
        projections.refresh([run.comparison_key], now)
        outbox.announce("retracted", run, {"reason": reason, "actor": actor}, now)
    return retraction


def supersede(digest: str, successor: str, *, reason: str, actor: str) -> Supersession:
    """Say that a corrected record, already published, takes the place of a run. Raises PublicationRefused."""
    place = "supersession"
    reason, actor = _stated(reason, actor, place)
    with one_writer():
        run, corrected = _run(digest, place), _run(successor, f"{place}, successor")
        if Supersession.objects.filter(run=run).exists():
            raise PublicationRefused([Refusal("ALREADY_SUPERSEDED", place, f"{digest}.")])
        later: Run | None = corrected
        while later is not None:
            if later == run:
                raise PublicationRefused([Refusal("SUPERSEDED_BY_ITSELF", place, f"{digest}.")])
            following = Supersession.objects.filter(run=later).select_related("successor").first()
            later = following.successor if following else None
        now = timezone.now()
        supersession = Supersession.objects.create(run=run, successor=corrected, reason=reason, actor=actor, at=now)
        projections.refresh({run.comparison_key, corrected.comparison_key}, now)
        outbox.announce("superseded", run, {"successor": str(corrected.id), "reason": reason, "actor": actor}, now)
    return supersession
