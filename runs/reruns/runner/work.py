"""Jobs in, signed results out: what a runner does with a delivery, whether it came by queue or by file.

Each job is executed once however often it is delivered, and its result is stored before it is handed on. A batch that
was cut short goes on with what its journal holds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

from runs.reruns.documents.base import moment
from runs.reruns.documents.device import DeviceOpening
from runs.reruns.documents.envelope import envelope_digest
from runs.reruns.documents.exchange import VerifiedJob, sign_result, verify_job
from runs.reruns.documents.keys import PublicKey
from runs.reruns.documents.refusals import Refusal
from runs.reruns.documents.result import Result
from runs.reruns.documents.translation import BatchContext, harness_job, result_document, wants_second_look
from runs.reruns.files import Message
from runs.reruns.harness.batch import HARNESS_VERSION, execute_batch
from runs.reruns.harness.limits import Limits
from runs.reruns.runner.bands import append_history, bands, is_inside, read_history
from runs.reruns.runner.identity import Identity
from runs.reruns.runner.spool import Batch, Spool

BATCH_S: Final = 480.0
JOBS_PER_BATCH: Final = 60
MOST_STARTS: Final = 3
"""A batch that was begun this often and never came to an end is given up: it ends its host."""
LEAST_S: Final = 45.0
"""Less time than this is not worth a start."""

log = logging.getLogger(__name__)
Report = Callable[[Sequence[str], Mapping[str, Any]], None]
"""Hears the digests of the jobs of a batch and the harness's progress: {phase, done, of, id}."""


@dataclass(frozen=True, slots=True)
class Host:
    """One device of a host, and who speaks for it."""

    identity: Identity
    spool: Spool
    device: str = "cpu"
    uid: int | None = None
    """The user that the executor runs as; None for the runner's own."""
    batch_s: float = BATCH_S
    jobs_per_batch: int = JOBS_PER_BATCH


@dataclass(slots=True)
class Served:
    """What became of a delivery."""

    refused: dict[str, Refusal] = field(default_factory=dict)
    """Jobs that will not be executed here, by digest."""
    open: int = 0
    """Jobs that were accepted and have no result yet."""


def serve(
    envelopes: Sequence[Mapping[str, Any]],
    host: Host,
    served: Served,
    *,
    seconds: float | None = None,
    report: Report = lambda _jobs, _event: None,
) -> Iterator[Message]:
    """Execute jobs and yield their results, those that are stored already first.

    Waits for the device. Stops after `seconds` at the end of a batch that is cut to fit; a second call goes on.
    Raises `Refusal` where the runner's own key may not sign now, HarnessError where the host fails.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    with host.spool.turn(host.device):
        host.spool.prune()
        keys = host.identity.keys()
        me = host.identity.entry(keys)
        me.require("runner", at=datetime.now(UTC), now=datetime.now(UTC))
        fresh: dict[str, VerifiedJob] = {}
        resumed: dict[str, Batch] = {}
        begun = {digest: batch for batch in host.spool.unfinished() for digest in batch.digests}
        for envelope in envelopes:
            digest = envelope_digest(envelope)
            if (stored := host.spool.result(digest)) is not None:
                yield stored
                continue
            try:
                verified = verify_job(envelope, keys, datetime.now(UTC), product=me.product)
                _require_harness(verified)
            except Refusal as refusal:
                served.refused[digest] = refusal
                continue
            if digest in begun:
                resumed[begun[digest].id] = begun[digest]
            else:
                fresh[digest] = verified
        _drop_dead_batches(host)
        by_digest = {envelope_digest(envelope): envelope for envelope in envelopes}
        for batch in [*resumed.values(), *_cut(host, [(job, by_digest[digest]) for digest, job in fresh.items()])]:
            yield from _finish(host, batch, me, served, deadline, report)


def _require_harness(verified: VerifiedJob) -> None:
    if verified.job.harness_version != HARNESS_VERSION:
        raise Refusal("OTHER_RECIPE", f"made for harness {verified.job.harness_version}, this is {HARNESS_VERSION}")


def _drop_dead_batches(host: Host) -> None:
    """Forget batches whose jobs have all expired: nobody takes their results."""
    keys = host.identity.keys()
    for batch in host.spool.unfinished():
        if not _living(host, batch, keys_at=keys):
            host.spool.finish(batch)


def _living(host: Host, batch: Batch, keys_at: Any) -> list[VerifiedJob]:
    """The jobs of a batch that may still be executed and have no result."""
    product = host.identity.entry(keys_at).product
    living = []
    for envelope in batch.envelopes:
        try:
            verified = verify_job(envelope, keys_at, datetime.now(UTC), product=product)
        except Refusal:
            continue
        if host.spool.result(verified.digest) is None:
            living.append(verified)
    return living


def _cut(host: Host, jobs: Sequence[tuple[VerifiedJob, Mapping[str, Any]]]) -> Iterator[Batch]:
    """New batches: jobs that share a salt, no more than fit. Each is accepted only when its turn has come."""
    for _, group in groupby(sorted(jobs, key=lambda item: item[0].job.site_salt), key=lambda item: item[0].job.site_salt):
        members = list(group)
        for start in range(0, len(members), host.jobs_per_batch):
            chosen = members[start : start + host.jobs_per_batch]
            yield host.spool.accept([envelope for _, envelope in chosen], _instant())


def _finish(
    host: Host, batch: Batch, me: PublicKey, served: Served, deadline: float | None, report: Report
) -> Iterator[Message]:
    """Run a batch until each of its jobs has a result or the time is up."""
    while True:
        living = _living(host, batch, host.identity.keys())
        if not living:
            host.spool.finish(batch)
            return
        left = host.batch_s if deadline is None else min(host.batch_s, deadline - time.monotonic())
        if left < LEAST_S and deadline is not None:
            served.open += len(living)
            return
        if batch.starts >= MOST_STARTS:
            for job in living:
                yield _given_up(host, batch, job, me)
            host.spool.finish(batch)
            return
        batch = host.spool.begin(batch)
        before = _size(batch)
        yield from _attempt(host, batch, living, me, left, report)
        if _size(batch) > before:
            batch = host.spool.end(batch)


def _size(batch: Batch) -> int:
    return batch.journal.stat().st_size if batch.journal.exists() else 0


def _attempt(
    host: Host, batch: Batch, living: Sequence[VerifiedJob], me: PublicKey, seconds: float, report: Report
) -> Iterator[Message]:
    """One run of the harness over all jobs of a batch; yields the results of those that came to an end."""
    keys = host.identity.keys()
    # The journal belongs to the jobs that were accepted together, those with a result included.
    everyone = [verify_job(item, keys, moment(batch.accepted_at), product=me.product) for item in batch.envelopes]
    by_id = {job.job.job_id: job for job in everyone}
    measured: list[Mapping[str, Any]] = []
    document: Mapping[str, Any] | None = None
    limit = min(seconds, *(float(job.job.limits.seconds) for job in everyone))
    steps = execute_batch(
        [harness_job(job) for job in everyone],
        salt=bytes.fromhex(everyone[0].job.site_salt),
        device=host.device,
        limits=Limits(batch_s=limit),
        journal_path=batch.journal,
        scratch_parent=host.spool.scratch,
        uid=host.uid,
        undecided=lambda result: wants_second_look(by_id[result["id"]].job, result),
        progress=lambda event: report([job.digest for job in living], event),
    )
    for step in steps:
        if step["kind"] == "batch":
            document = step
        else:
            measured.append(step)
    assert document is not None  # the harness always ends with it
    history = read_history(host.spool.history, _device_name(document))
    limits = bands(history)
    context = BatchContext(batch.id, len(everyone), me.name, str(me.product), batch.accepted_at, limits)
    wanted = {job.digest for job in living}
    for result in measured:
        job = by_id[result["id"]]
        if job.digest not in wanted or _is_open(result, document):
            continue
        try:
            answer, opening = result_document(job, result, document, context)
            message = _message(answer, opening, host)
        except (Refusal, KeyError) as fault:
            log.exception("the result of job %s does not fit its document", job.job.job_id)
            message = _failure(host, batch, job, me, "result_malformed", repr(fault))
        yield host.spool.keep(job.digest, message)
    if document["sentinels"] and is_inside(document["sentinels"], limits):
        append_history(
            host.spool.history,
            _device_name(document),
            document["sentinels"],
            {"batch": batch.id, "at": document["ended_at"]},
        )


def _device_name(document: Mapping[str, Any]) -> str:
    return str(document["gpu_uuid"] or document["device"])


def _is_open(result: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Whether the end of the batch's time left this job unfinished, so that another attempt can finish it."""
    if not document["cut"]:
        return False
    if result["status"] == "measured":
        return not result["complete"]
    return bool(result["status"] == "not_run")


def _given_up(host: Host, batch: Batch, job: VerifiedJob, me: PublicKey) -> Message:
    message = f"The batch was begun {batch.starts} times and its host did not survive it."
    return host.spool.keep(job.digest, _failure(host, batch, job, me, "runner_lost", message))


def _failure(host: Host, batch: Batch, job: VerifiedJob, me: PublicKey, code: str, message: str) -> Message:
    """A signed result that says why nothing was measured."""
    answer = Result.read(
        {
            "jobDigest": job.digest,
            "jobId": job.job.job_id,
            "nonce": job.job.nonce,
            "runner": me.name,
            "product": me.product,
            "acceptedAt": batch.accepted_at,
            "finishedAt": _instant(),
            "executed": {
                "recipe": job.job.recipe.plain(),
                "schedule": {},
                "harnessVersion": HARNESS_VERSION,
                "packages": {},
            },
            "processes": [],
            "batch": {"batchId": batch.id, "jobs": len(batch.envelopes), "canaries": [], "sentinels": []},
            "failure": {"code": code, "message": message[:200]},
            "log": "",
        }
    )
    return _message(answer, None, host)


def _message(answer: Result, opening: DeviceOpening | None, host: Host) -> Message:
    content: dict[str, Any] = {"envelope": sign_result(answer, host.identity.key)}
    return Message.read(content if opening is None else {**content, "opening": opening.plain()})


def _instant() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
