"""What a runner keeps on its disk: results by their job's digest, batches under way, the history of its sentinels.

A job that is delivered a second time finds its result here, or the batch that it is part of, and is never begun twice.
"""

from __future__ import annotations

import fcntl
import json
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from runs.reruns.documents.envelope import envelope_digest
from runs.reruns.files import Message, write_private

KEPT_S: Final = 14 * 24 * 3600
"""How long a result is kept to be sent again: far beyond the expiry of its job."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Jobs that were accepted together and share one run of the harness."""

    id: str
    accepted_at: str
    envelopes: tuple[Mapping[str, Any], ...]
    starts: int
    """How often it was begun and did not come to an orderly end."""
    folder: Path

    @property
    def digests(self) -> tuple[str, ...]:
        """The digests of its jobs."""
        return tuple(map(envelope_digest, self.envelopes))

    @property
    def journal(self) -> Path:
        """The harness's journal."""
        return self.folder / "journal.jsonl"


class Spool:
    """A folder that one runner writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # The executor may be another user, who has to pass to its own scratch folder and sees nothing on the way.
        path.mkdir(mode=0o711, parents=True, exist_ok=True)
        for name in ("results", "batches"):
            (path / name).mkdir(mode=0o700, exist_ok=True)
        self.scratch = path / "scratch"
        self.scratch.mkdir(mode=0o711, exist_ok=True)
        self.history = path / "sentinels.jsonl"

    @contextmanager
    def turn(self, device: str) -> Iterator[None]:
        """One batch at a time on one device, whatever the number of processes that were started; waits."""
        with (self.path / f"{device.replace(':', '-')}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    # Results

    def result(self, job_digest: str) -> Message | None:
        """The stored result of a job."""
        path = self._result(job_digest)
        return Message.read(json.loads(path.read_bytes())) if path.exists() else None

    def keep(self, job_digest: str, message: Message) -> Message:
        """Store the result of a job; the first one stays. Returns what is stored."""
        stored = self.result(job_digest)
        if stored is not None:
            return stored
        write_private(self._result(job_digest), message.plain())
        return message

    def prune(self) -> None:
        """Remove results that no site would take any more."""
        for path in (self.path / "results").glob("*.json"):
            if time.time() - path.stat().st_mtime > KEPT_S:
                path.unlink(missing_ok=True)

    def _result(self, job_digest: str) -> Path:
        return self.path / "results" / f"{job_digest.removeprefix('sha256:')}.json"

    # Batches

    def accept(self, envelopes: Sequence[Mapping[str, Any]], accepted_at: str) -> Batch:
        """Write down that these jobs are begun together."""
        name = f"batch-{secrets.token_hex(8)}"
        folder = self.path / "batches" / name
        folder.mkdir(mode=0o700)
        batch = Batch(name, accepted_at, tuple(envelopes), 0, folder)
        self._write(batch)
        return batch

    def unfinished(self) -> list[Batch]:
        """The batches that were accepted and have not been finished, oldest first."""
        found = [self._read(path) for path in (self.path / "batches").glob("*/batch.json")]
        return sorted(found, key=lambda batch: (batch.accepted_at, batch.id))

    def begin(self, batch: Batch) -> Batch:
        """Count a start, before anything runs: what kills its host every time is given up in the end."""
        begun = Batch(batch.id, batch.accepted_at, batch.envelopes, batch.starts + 1, batch.folder)
        self._write(begun)
        return begun

    def end(self, batch: Batch) -> Batch:
        """An orderly end that left some jobs open; its starts do not count against it."""
        ended = Batch(batch.id, batch.accepted_at, batch.envelopes, 0, batch.folder)
        self._write(ended)
        return ended

    def finish(self, batch: Batch) -> None:
        """Every job of the batch has its result, or nobody waits for one."""
        shutil.rmtree(batch.folder, ignore_errors=True)

    def _write(self, batch: Batch) -> None:
        document = {
            "id": batch.id,
            "acceptedAt": batch.accepted_at,
            "starts": batch.starts,
            "envelopes": [dict(envelope) for envelope in batch.envelopes],
        }
        write_private(batch.folder / "batch.json", document)

    def _read(self, path: Path) -> Batch:
        document = json.loads(path.read_bytes())
        return Batch(
            document["id"], document["acceptedAt"], tuple(document["envelopes"]), document["starts"], path.parent
        )
