"""Signed documents as they were stored. They were verified when they came in and nobody can change them since."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Final

import orjson

from runs.reruns.documents.envelope import payload_digest
from runs.reruns.documents.exchange import VerifiedJob, VerifiedResult
from runs.reruns.documents.job import Job
from runs.reruns.documents.keys import KeySet
from runs.reruns.documents.result import Result

MEDIA_TYPE: Final = "application/vnd.dsse.envelope.v1+json"


@dataclass(frozen=True, slots=True)
class Stored:
    """An envelope that was accepted once."""

    envelope: dict[str, Any]
    digest: str
    keyid: str
    predicate: dict[str, Any]


def stored(text: str) -> Stored:
    """Read an envelope of the database."""
    envelope = orjson.loads(text)
    payload = base64.b64decode(envelope["payload"])
    return Stored(
        envelope, payload_digest(payload), envelope["signatures"][0]["keyid"], orjson.loads(payload)["predicate"]
    )


def reunite(job: Stored, result: Stored, keys: KeySet) -> VerifiedResult:
    """Job and result as they were once verified, to compose a bundle. Whoever takes it checks the keys of that day."""
    asked = VerifiedJob(Job.read(job.predicate), job.digest, keys.find(job.keyid))
    return VerifiedResult(Result.read(result.predicate), result.digest, keys.find(result.keyid), asked)
