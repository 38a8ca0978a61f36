"""The bundle: one file with all that is needed to check a rerun offline, except the keys, which it could only forge."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from runs.manifests.canonical import canonical_json
from runs.manifests.fields import Items, Maybe
from runs.policy.statistics import Ratio
from runs.policy.verdict import Decision, decide
from runs.reruns.documents.assessment import facts_of
from runs.reruns.documents.base import Document, read_json
from runs.reruns.documents.exchange import VerifiedResult, audit_result
from runs.reruns.documents.job import Manifests
from runs.reruns.documents.keys import KeySet
from runs.reruns.documents.refusals import Refusal

MAX_BYTES = 16 * 1024 * 1024
_SAME_RATIO = 1e-9
"""Two machines may round a logarithm differently in the last bits."""


class Interval(Document):
    """A ratio to the claim."""

    estimate: float
    """The geometric mean."""
    low: float
    """The lower end of the interval."""
    high: float
    """The upper end of the interval."""


class PublishedVerdict(Document):
    """The verdict as the site published it."""

    version: Annotated[str, Field(max_length=50)]
    """The version of the rules."""
    verdict: Annotated[str, Field(max_length=50)]
    """The outcome."""
    reasons: Annotated[Items[str], Field(max_length=50)]
    """The codes of its reasons."""
    processes: int
    """How many processes it rests on."""
    event: Maybe[Interval] = None
    """Event time over the claim."""
    device: Maybe[Interval] = None
    """Device time over the claim."""
    launch_bound: Maybe[bool] = None
    """Whether event time measures the host."""


class Bundle(Document):
    """A rerun in one file."""

    version: Literal[1]
    """The form of this file."""
    job_envelope: dict[str, Any]
    """The signed job."""
    result_envelope: dict[str, Any]
    """The signed result."""
    manifests: Manifests
    """The claim and what it refers to."""
    verdict: PublishedVerdict
    """What the site published."""


def compose(job_envelope: Mapping[str, Any], result_envelope: Mapping[str, Any], verified: VerifiedResult) -> bytes:
    """The bundle file of a verified result, as canonical JSON."""
    bundle = {
        "version": 1,
        "jobEnvelope": dict(job_envelope),
        "resultEnvelope": dict(result_envelope),
        "manifests": verified.job.job.manifests.plain(),
        "verdict": published(decide(facts_of(verified.job.job, verified.result))).plain(),
    }
    return canonical_json(bundle)


def published(decision: Decision) -> PublishedVerdict:
    """A decision as it is published."""
    fields: dict[str, Any] = {
        "version": decision.version,
        "verdict": str(decision.verdict),
        "reasons": [reason.code for reason in decision.reasons],
        "processes": decision.processes,
        "event": _interval(decision.event),
        "device": _interval(decision.device),
        "launchBound": decision.launch_bound,
    }
    return PublishedVerdict.read({name: value for name, value in fields.items() if value is not None})


def check(data: bytes, keys: KeySet, now: datetime) -> tuple[VerifiedResult, Decision]:
    """Verify a bundle file against keys that came from elsewhere, and take its verdict anew.

    Raises `Refusal`: of the file's form, of `audit_result`, MANIFEST_MISMATCH, VERDICT_MISMATCH.
    """
    bundle = Bundle.read(read_json(data, limit=MAX_BYTES))
    verified = audit_result(bundle.result_envelope, bundle.job_envelope, keys, now)
    signed = verified.job.job.manifests.parsed
    for role, manifest in bundle.manifests.parsed.items():
        if manifest.digest != signed[role].digest:
            raise Refusal("MANIFEST_MISMATCH", f"{role}: {manifest.digest}, signed for {signed[role].digest}")
    decision = decide(facts_of(verified.job.job, verified.result))
    if not _agree(bundle.verdict, published(decision)):
        raise Refusal("VERDICT_MISMATCH", f"{bundle.verdict.verdict}, but the samples say {decision.verdict}")
    return verified, decision


def _interval(ratio: Ratio | None) -> dict[str, float] | None:
    return None if ratio is None else {"estimate": ratio.estimate, "low": ratio.low, "high": ratio.high}


def _agree(one: PublishedVerdict, other: PublishedVerdict) -> bool:
    plain = [document.model_dump(exclude={"event", "device"}) for document in (one, other)]
    return plain[0] == plain[1] and _close(one.event, other.event) and _close(one.device, other.device)


def _close(one: Interval | None, other: Interval | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(
        math.isclose(getattr(one, name), getattr(other, name), rel_tol=_SAME_RATIO) for name in Interval.model_fields
    )
