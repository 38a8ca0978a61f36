"""The one writer of evidence.

`publish` takes a bundle of manifests in, all of it or nothing, in one transaction; a second time it finds everything
there and writes nothing. `retract`, `supersede` and `confirm_below_floor` add records about a run. Each rewrites the
projections (standings, comparison groups) that follow from what it wrote.

Writers take turns (`storage.one_writer`), so what a publication has looked up stays true until it commits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from runs import derivation, floor, levels, outbox, projections
from runs.manifests.bundle import Bundle, Record
from runs.models import (
    Calibration,
    Environment,
    FloorConfirmation,
    Operation,
    Project,
    Protocol,
    Rerun,
    RerunResult,
    RerunRun,
    Retraction,
    Run,
    Signer,
    SignerDecision,
    Source,
    SourceSnapshot,
    Supersession,
)
from runs.policy.verdict import decide
from runs.reading import PUBLISHED, Progress, parse
from runs.records import Outcome, RecordWriter
from runs.refusals import PublicationRefused, Refusal
from runs.reruns.documents.assessment import facts_of
from runs.reruns.documents.bundle import published
from runs.reruns.documents.exchange import VerifiedResult
from runs.reruns.documents.keys import PublicKey
from runs.reruns.records import own_runs
from runs.storage import one_writer, renew_statistics

MANY = 1_000  # new runs that change what the database should know of its tables' sizes


def source_of(bundle: Bundle, now: datetime) -> tuple[UUID, UUID | None]:
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


def publish(bundle: Bundle, *, progress: Progress | None = None, partial: bool = False) -> Outcome:
    """Publish a bundle, all of it or nothing; in part where `partial`, and the outcome says what was refused.

    Raises PublicationRefused with every reason found. `progress` is called with 1 for each record that was validated.
    """
    reading = parse(bundle.records, progress, partial=partial)
    with one_writer():
        now = timezone.now()
        records = RecordWriter(reading, now, partial=partial)
        source, snapshot = source_of(bundle, now)
        _subjects(records)
        records.runs(source, snapshot, bundle.illustrative)
        outcome = records.finish()
    if len(outcome.runs) >= MANY:
        renew_statistics()
    return outcome


def publish_subjects(subjects: Sequence[Record]) -> Outcome:
    """Publish records of what runs refer to, which no source needs to be named for, in part where some are refused."""
    reading = parse(subjects, partial=True, kinds=PUBLISHED - {"BenchmarkRun"})
    with one_writer():
        records = RecordWriter(reading, timezone.now(), partial=True)
        _subjects(records)
        return records.finish()


def _subjects(records: RecordWriter) -> None:
    records.named(Project, "SoftwareProject", derivation.project)
    records.named(Operation, "OperationSpec", derivation.operation)
    records.aliases()
    records.workloads()
    records.implementations()
    records.plain(Protocol, "BenchmarkProtocol", derivation.protocol)
    records.plain(Environment, "ExecutionEnvironment", derivation.environment)


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


def retract(digest: str, *, reason: str, actor: str, at: datetime | None = None) -> Retraction:
    """Withdraw a run. Its page stays and says so; its rank goes. Raises PublicationRefused.

    `at` is when its source withdrew it, where the source has done so before.
    """
    place = "retraction"
    reason, actor = _stated(reason, actor, place)
    with one_writer():
        run = _run(digest, place)
        if Retraction.objects.filter(run=run).exists():
            raise PublicationRefused([Refusal("ALREADY_RETRACTED", place, f"{digest}.")])
        now = timezone.now()
        retraction = Retraction.objects.create(run=run, reason=reason, actor=actor, at=min(at or now, now))
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


def confirm_below_floor(digest: str, *, reason: str, actor: str) -> FloorConfirmation:
    """Record a moderator's finding that a run is below the physical floor. Its page stays and says so; its rank goes.

    Only a run that the floor stands above can be confirmed. Raises PublicationRefused.
    """
    place = "floor confirmation"
    reason, actor = _stated(reason, actor, place)
    with one_writer():
        run = _run(digest, place)
        if FloorConfirmation.objects.filter(run=run).exists():
            raise PublicationRefused([Refusal("ALREADY_CONFIRMED", place, f"{digest}.")])
        if not floor.is_below(run):
            raise PublicationRefused([Refusal("NOT_BELOW_FLOOR", place, f"{digest}.")])
        now = timezone.now()
        confirmation = FloorConfirmation.objects.create(run=run, reason=reason, actor=actor, at=now)
        projections.refresh([run.comparison_key], now)
        outbox.announce("below_floor_confirmed", run, {"reason": reason, "actor": actor}, now)
    return confirmation


def touch(run: Run, *, topic: str | None = None, payload: Mapping[str, Any] | None = None) -> None:
    """Say that something beside the evidence, which the run's page shows as well, has changed.

    With a topic, those who follow the run hear of it.
    """
    with one_writer():
        now = timezone.now()
        levels.touch(run, now)
        if topic:
            outbox.announce(topic, run, payload or {}, now)


def register_signer(entry: PublicKey, *, actor: str, reason: str, since: datetime | None = None) -> Signer:
    """Take a key in. Nothing that it signs counts before it is approved.

    `since` is for a key with a history elsewhere: once approved, what it signed from then on counts as well. Raises
    PublicationRefused.
    """
    reason, actor = _stated(reason, actor, "key")
    with one_writer():
        if Signer.objects.filter(Q(keyid=entry.keyid) | Q(name=entry.name)).exists():
            raise PublicationRefused([Refusal("KEY_EXISTS", "key", f"{entry.name}, {entry.keyid}.")])
        now = timezone.now()
        signer = Signer.objects.create(
            keyid=entry.keyid,
            public=entry.public,
            role=entry.role,
            name=entry.name,
            operator=entry.operator or "",
            product=entry.product or "",
            valid_from=since,
            registered_at=now,
        )
        SignerDecision.objects.create(signer=signer, decision="register", reason=reason, actor=actor, at=now)
    return signer


# What may follow what. A revoked key stays revoked: whoever has lost one registers another.
_MAY_FOLLOW = {
    "approve": {"register"},
    "suspend": {"approve", "resume"},
    "resume": {"suspend"},
    "revoke": {"register", "approve", "suspend", "resume"},
}


def decide_signer(name: str, decision: str, *, actor: str, reason: str) -> SignerDecision:
    """Approve, suspend, resume or revoke a key, and derive every level anew that rested on it.

    Raises PublicationRefused.
    """
    reason, actor = _stated(reason, actor, "key")
    with one_writer():
        signer = Signer.objects.filter(name=name).first()
        if signer is None:
            raise PublicationRefused([Refusal("UNKNOWN_KEY", "key", f"{name}.")])
        last = signer.decisions.latest("at", "id").decision
        if last not in _MAY_FOLLOW.get(decision, ()):
            raise PublicationRefused([Refusal("KEY_DECISION", "key", f"{decision} cannot follow {last}.")])
        if decision in ("approve", "resume") and actor.casefold() == signer.operator.strip().casefold():
            raise PublicationRefused([Refusal("OWN_KEY", "key", f"{signer.operator}.")])
        now = timezone.now()
        decided = SignerDecision.objects.create(signer=signer, decision=decision, reason=reason, actor=actor, at=now)
        for run in levels.runs_that_rest_on(signer.id):
            _level(run, now)
    return decided


def publish_rerun(
    verified: VerifiedResult, envelope: Mapping[str, Any], *, device: str | None, project: str | None
) -> RerunResult | None:
    """Publish a verified result: its record, the runs of its own, and the level that follows, in one transaction.

    `device` is the HMAC of the physical device, `project` the slug of the executed implementation's project. Returns
    None, and writes nothing, where the rerun has a result already or was given up. The verdict is decided here, from
    the signed samples; nobody hands it in.
    """
    decision = decide(facts_of(verified.job.job, verified.result))
    with one_writer():
        now = timezone.now()
        rerun = Rerun.objects.filter(job_digest=verified.job.digest).select_related("run").first()
        runner = Signer.objects.filter(keyid=verified.key.keyid).first()
        if rerun is None or runner is None:
            return None
        finished = datetime.fromisoformat(verified.result.finished_at)
        moved = Rerun.objects.filter(id=rerun.id, state__in=("queued", "running")).update(
            state="done", runner=runner, finished_at=now, code="", detail="", version=F("version") + 1
        )
        if not moved:
            return None
        claim = float(verified.job.job.claim.value)
        result = RerunResult.objects.create(
            rerun=rerun,
            run=rerun.run,
            runner=runner,
            operator=runner.operator,
            device=device or "",
            digest=verified.digest,
            envelope=json.dumps(envelope),
            verdict=str(decision.verdict),
            decision=published(decision).plain(),
            hardware_equal=decision.hardware_equal,
            claim=claim,
            event=decision.event.estimate * claim if decision.event else None,
            device_time=decision.device.estimate * claim if decision.device else None,
            launch_bound=decision.launch_bound,
            finished_at=finished,
            published_at=now,
        )
        _calibrate(runner, verified, finished)
        own = own_runs(verified, decision, project=project, rerun=str(rerun.id))
        if own is not None:
            outcome = publish(own)
            for run in Run.objects.filter(id__in=outcome.runs).select_related("protocol"):
                kind = run.protocol.family.removeprefix("kernelindex_rerun_")
                RerunRun.objects.create(result=result, run=run, kind=kind)
        _level(rerun.run, now)
        levels.touch(rerun.run, now)
    return result


def _calibrate(runner: Signer, verified: VerifiedResult, at: datetime) -> None:
    batch = verified.result.batch
    for sentinel in batch.sentinels:
        Calibration.objects.get_or_create(
            runner=runner,
            batch=batch.batch_id,
            sentinel=sentinel.name,
            defaults={"before": sentinel.before_ns, "after": sentinel.after_ns, "at": at},
        )


def _level(run: Run, now: datetime) -> None:
    topic = levels.refresh(run, now)
    if topic:
        outbox.announce(topic, run, {}, now)
