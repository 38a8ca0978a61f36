"""How states and verdicts are spelled, and the sentence behind a code, whichever registry has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runs.policy.reasons import REASONS
from runs.policy.verdict import Verdict
from runs.policy.verdict_reasons import VERDICT_REASONS
from runs.reads.values import Reason
from runs.reruns.documents.refusals import REFUSALS

STATES: Final = (
    "requested",
    "approved",
    "queued",
    "running",
    "publishing",
    "done",
    "failed",
    "cancelled",
    "expired",
)
"""In the order in which a rerun passes through them; the last four are ends."""
ENDS: Final = frozenset({"done", "failed", "cancelled", "expired"})
KEY_STATES: Final = {
    "register": "registered",
    "approve": "approved",
    "suspend": "suspended",
    "resume": "approved",
    "revoke": "revoked",
}
"""The state of a key after each decision about it."""
VERDICTS: Final = tuple(str(verdict) for verdict in Verdict)

_WORDS: Final[Mapping[str, str]] = {Verdict.SLOWER_HERE: "slower here", Verdict.HOST_BOUND: "host-bound"}
_REGISTRIES: Final[tuple[Mapping[str, str], ...]] = (VERDICT_REASONS, REFUSALS, REASONS)
_OF_RERUNS: Final[Mapping[str, str]] = {
    "CANCELLED": "The rerun was taken out of the queue.",
    "EXPIRED": "The job expired before a result came.",
    "PUBLICATION_REFUSED": "What it measured could not be published.",
}
_HARNESS_SAYS: Final = "The runner could not measure it."


def verdict_word(verdict: str) -> str:
    """A verdict as people read it: `slower here`, `host-bound`."""
    return _WORDS.get(verdict, verdict)


def verdict_reason(code: str) -> Reason:
    """A reason of a verdict with its sentence."""
    return Reason(code, VERDICT_REASONS[code])


def failure_reason(code: str) -> Reason:
    """Why a rerun ended without a verdict. Codes of the harness carry their own words beside them, not a sentence."""
    found = (registry[code] for registry in (_OF_RERUNS, *_REGISTRIES) if code in registry)
    return Reason(code, next(found, _HARNESS_SAYS))
