"""Jobs in, signed results out: what a runner does with a delivery, whether it came by queue or by file.

Each job is executed once however often it is delivered, and its result is stored before it is handed on. A batch that
was cut short goes on with what its journal holds.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, groupby
from typing import Any, Final

from runs.reruns.documents.base import moment
from runs.reruns.documents.device import DeviceOpening
from runs.reruns.documents.envelope import envelope_digest
from runs.reruns.documents.exchange import VerifiedJob, sign_result, verify_job
from runs.reruns.documents.keys import KeySet, PublicKey
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
MOST_STARTS: Final = 5
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
    """What became of a delivery beside its results."""

    refused: dict[str, Refusal] = field(default_factory=dict)
    """Jobs that will not be executed here, by digest."""


def serve(
    envelopes: Sequence[Mapping[str, Any]],
    host: Host,
    served: Served,
    *,
    seconds: float | None = None,
    report: Report = lambda _jobs, _event: None,
) -> Iterator[Message]:
    """Execute jobs and yield their results, those that are stored already first.

    Waits for the device. Ends by `seconds`, where a batch is cut to fit; the next call goes on. Raises `Refusal` where
    the runner's own key may not sign now, HarnessError where the host fails.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    with host.spool.turn(host.device):
        host.spool.prune()
        keys = host.identity.keys()
        me = host.identity.entry(keys)
        me.require("runner", at=datetime.now(UTC), now=datetime.now(UTC))
        turn = _Turn(host, keys, me, deadline, report)
        turn.forget_expired()
        begun = {digest: batch for batch in host.spool.unfinished() for digest in batch.digests}
        fresh: list[VerifiedJob] = []
        resumed: dict[str, Batch] = {}
        by_digest = {envelope_digest(envelope): envelope for envelope in envelopes}
        for digest, envelope in by_digest.items():
            if (stored := host.spool.result(digest)) is not None:
                yield stored
                continue
            try:
                verified = turn.verify(envelope)
            except Refusal as refusal:
                served.refused[digest] = refusal
                continue
            if digest in begun:
                resumed[begun[digest].id] = begun[digest]
            else:
                fresh.append(verified)
        # A new batch is accepted when its turn has come, and not before.
        for batch in chain(resumed.values(), turn.cut(fresh, by_digest)):
            yield from turn.finish(batch)


@dataclass(frozen=True, slots=True)
class _Turn:
    """One turn at the device: with these keys, until then."""

    host: Host
    keys: KeySet
    me: PublicKey
    deadline: float | None
    report: Report

    def verify(self, envelope: Mapping[str, Any]) -> VerifiedJob:
        """A job that may be executed here and now. Raises `Refusal`."""
        verified = verify_job(envelope, self.keys, datetime.now(UTC), product=self.me.product)
        if verified.job.harness_version != HARNESS_VERSION:
            wanted = verified.job.harness_version
            raise Refusal("OTHER_RECIPE", f"made for harness {wanted}, this is {HARNESS_VERSION}")
        return verified

    def waiting(self, batch: Batch) -> list[VerifiedJob]:
        """The jobs of a batch that have no result and may still be executed."""
        waiting = []
        for envelope in batch.envelopes:
            with contextlib.suppress(Refusal):
                verified = self.verify(envelope)
                if self.host.spool.result(verified.digest) is None:
                    waiting.append(verified)
        return waiting

    def forget_expired(self) -> None:
        """Forget batches whose jobs have all expired: nobody takes their results."""
        for batch in self.host.spool.unfinished():
            if not self.waiting(batch):
                self.host.spool.finish(batch)

    def cut(self, jobs: Iterable[VerifiedJob], envelopes: Mapping[str, Mapping[str, Any]]) -> Iterator[Batch]:
        """New batches: jobs that share a salt, no more than fit."""
        for _, group in groupby(sorted(jobs, key=_salt), key=_salt):
            members = list(group)
            for start in range(0, len(members), self.host.jobs_per_batch):
                chosen = members[start : start + self.host.jobs_per_batch]
                yield self.host.spool.accept([envelopes[job.digest] for job in chosen], _instant())

    def finish(self, batch: Batch) -> Iterator[Message]:
        """Run a batch until each of its jobs has a result or the time is up."""
        spool = self.host.spool
        while waiting := self.waiting(batch):
            seconds = self.host.batch_s
            if self.deadline is not None:
                seconds = min(seconds, self.deadline - time.monotonic())
                if seconds < LEAST_S:
                    return
            if batch.starts >= MOST_STARTS:
                yield from self.give_up(batch, waiting)
                break
            batch = spool.begin(batch)
            before = _size(batch)
            yield from self.attempt(batch, waiting, seconds)
            if _size(batch) > before:
                batch = spool.end(batch)
        spool.finish(batch)

    def attempt(self, batch: Batch, waiting: Sequence[VerifiedJob], seconds: float) -> Iterator[Message]:
        """One run of the harness over a batch; yields the results of the jobs that came to an end."""
        # The journal belongs to the jobs that were accepted together, those with a result included.
        accepted = moment(batch.accepted_at)
        everyone = [verify_job(item, self.keys, accepted, product=self.me.product) for item in batch.envelopes]
        by_id = {job.job.job_id: job for job in everyone}
        steps = execute_batch(
            [harness_job(job) for job in everyone],
            salt=bytes.fromhex(everyone[0].job.site_salt),
            device=self.host.device,
            limits=Limits(batch_s=min(seconds, *(float(job.job.limits.seconds) for job in everyone))),
            journal_path=batch.journal,
            scratch_parent=self.host.spool.scratch,
            uid=self.host.uid,
            undecided=lambda result: wants_second_look(by_id[result["id"]].job, result),
            progress=lambda event: self.report([job.digest for job in waiting], event),
        )
        *measured, document = steps
        history = read_history(self.host.spool.history, _device_name(document))
        limits = bands(history)
        context = BatchContext(batch.id, len(everyone), self.me.name, str(self.me.product), batch.accepted_at, limits)
        wanted = {job.digest for job in waiting}
        for result in measured:
            job = by_id[result["id"]]
            if job.digest in wanted and not _is_open(result, document):
                yield self.host.spool.keep(job.digest, self.answer(batch, job, result, document, context))
        if is_inside(document["sentinels"], limits):
            about = {"batch": batch.id, "at": document["ended_at"]}
            append_history(self.host.spool.history, _device_name(document), document["sentinels"], about)

    def answer(
        self,
        batch: Batch,
        job: VerifiedJob,
        result: Mapping[str, Any],
        document: Mapping[str, Any],
        context: BatchContext,
    ) -> Message:
        """The signed result of a job that was measured; one that fits no document is signed as a failure."""
        try:
            return self.sign(*result_document(job, result, document, context))
        except (Refusal, KeyError) as fault:
            log.exception("the result of job %s does not fit its document", job.job.job_id)
            return self.failure(batch, job, "result_malformed", repr(fault))

    def give_up(self, batch: Batch, waiting: Sequence[VerifiedJob]) -> Iterator[Message]:
        """Sign that a batch ends its host whenever it is begun."""
        message = f"The batch was begun {batch.starts} times and its host did not survive it."
        for job in waiting:
            yield self.host.spool.keep(job.digest, self.failure(batch, job, "runner_lost", message))

    def failure(self, batch: Batch, job: VerifiedJob, code: str, message: str) -> Message:
        """A signed result that says why nothing was measured."""
        executed = {
            "recipe": job.job.recipe.plain(),
            "schedule": {},
            "harnessVersion": HARNESS_VERSION,
            "packages": {},
        }
        answer = Result.read(
            {
                "jobDigest": job.digest,
                "jobId": job.job.job_id,
                "nonce": job.job.nonce,
                "runner": self.me.name,
                "product": self.me.product,
                "acceptedAt": batch.accepted_at,
                "finishedAt": _instant(),
                "executed": executed,
                "processes": [],
                "batch": {"batchId": batch.id, "jobs": len(batch.envelopes), "canaries": [], "sentinels": []},
                "failure": {"code": code, "message": message[:200]},
                "log": "",
            }
        )
        return self.sign(answer, None)

    def sign(self, answer: Result, opening: DeviceOpening | None) -> Message:
        """A result as it is handed in."""
        content: dict[str, Any] = {"envelope": sign_result(answer, self.host.identity.key)}
        return Message.read(content if opening is None else {**content, "opening": opening.plain()})


def _salt(verified: VerifiedJob) -> str:
    return verified.job.site_salt


def _size(batch: Batch) -> int:
    return batch.journal.stat().st_size if batch.journal.exists() else 0


def _device_name(document: Mapping[str, Any]) -> str:
    return str(document["gpu_uuid"] or document["device"])


def _is_open(result: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Whether the end of the batch's time left this job unfinished, so that another attempt can finish it."""
    if not document["cut"]:
        return False
    if result["status"] == "measured":
        return not result["complete"]
    return bool(result["status"] == "not_run")


def _instant() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
