"""The files of a host without network: JOBS.json goes out to it, RESULTS.json comes back. Each is one document."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from runs.manifests.fields import Items, Maybe
from runs.reruns.documents.base import Document, read_json

MAX_JOBS_BYTES = 256 * 1024 * 1024
MAX_RESULTS_BYTES = 2048 * 1024 * 1024


class Message(Document):
    """A signed result as a runner hands it in, over a queue or in a file."""

    envelope: dict[str, Any]
    """The signed result."""
    opening: Maybe[dict[str, Any]] = None
    """What opens the commitment to the physical device, for the site alone; absent without one."""


class JobsFile(Document):
    """JOBS.json."""

    version: Literal[1]
    """The form of this document."""
    jobs: Annotated[Items[dict[str, Any]], Field(max_length=10_000)]
    """The signed jobs."""


class ResultsFile(Document):
    """RESULTS.json. It opens the identity of devices, so it goes to the site and to nobody else."""

    version: Literal[1]
    """The form of this document."""
    results: Annotated[Items[Message], Field(max_length=10_000)]
    """The signed results."""


def read_jobs(path: Path) -> tuple[dict[str, Any], ...]:
    """The envelopes of a JOBS.json. Raises `Refusal` and OSError."""
    return JobsFile.read(read_json(path.read_bytes(), limit=MAX_JOBS_BYTES)).jobs


def read_results(path: Path) -> tuple[Message, ...]:
    """The messages of a RESULTS.json. Raises `Refusal` and OSError."""
    return ResultsFile.read(read_json(path.read_bytes(), limit=MAX_RESULTS_BYTES)).results


def write_jobs(path: Path, envelopes: Sequence[Mapping[str, Any]]) -> None:
    """Write a JOBS.json."""
    write_private(path, {"version": 1, "jobs": list(envelopes)})


def write_results(path: Path, messages: Sequence[Message]) -> None:
    """Write a RESULTS.json that its owner alone can read."""
    write_private(path, {"version": 1, "results": [message.plain() for message in messages]})


def write_private(path: Path, document: Any) -> None:
    """Replace a file by a JSON document: whole or not at all, also where the host dies meanwhile."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(document, file, allow_nan=False, separators=(",", ":"))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
