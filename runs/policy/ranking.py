"""Ranking inside one comparison group (policy `ranking-v1`): facts in, ranks and reasons out.

A run ranks when it passed, has a positive primary measurement, and is neither retracted nor superseded. Ranks are dense:
1, 2, 2, 3. In a group whose runs were measured by a source's own harness only equal values tie, because such sources
publish no interval that could say more. Which direction is better follows from the metric.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Final

VERSION: Final = "ranking-v1"

# Metrics of which more is better. Every other metric (latency, memory, score in seconds) is better when it is less.
HIGHER_IS_BETTER: Final = frozenset({"throughput", "bandwidth", "flops", "tflops", "speedup"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """What ranking has to know of a run. `value` is the primary measurement in the group's one unit."""

    key: Hashable
    status: str
    metric: str
    value: float | None
    retracted: bool = False
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Position:
    """A rank from 1 up, or the codes of `reasons` that say why there is none."""

    rank: int | None
    reasons: tuple[str, ...] = ()


def eligibility(candidate: Candidate) -> tuple[str, ...]:
    """The reason codes that keep a run from ranking; empty when it ranks."""
    reasons = []
    if candidate.status != "passed":
        reasons.append("NOT_PASSED")
    if candidate.value is None:
        reasons.append("NO_PRIMARY_MEASUREMENT")
    elif not (math.isfinite(candidate.value) and candidate.value > 0):
        reasons.append("NOT_POSITIVE")
    if candidate.retracted:
        reasons.append("RETRACTED")
    if candidate.superseded:
        reasons.append("SUPERSEDED")
    return tuple(reasons)


def rank(candidates: Iterable[Candidate]) -> dict[Hashable, Position]:
    """The position of every run of one comparison group, whatever order the runs come in."""
    positions: dict[Hashable, Position] = {}
    ranked: list[tuple[float, Candidate]] = []
    for candidate in candidates:
        reasons = eligibility(candidate)
        if reasons or candidate.value is None:
            positions[candidate.key] = Position(None, reasons)
        else:
            ranked.append((-candidate.value if candidate.metric in HIGHER_IS_BETTER else candidate.value, candidate))
    ranked.sort(key=lambda entry: entry[0])
    current, previous = 0, math.nan
    for value, candidate in ranked:
        if value != previous:
            current, previous = current + 1, value
        positions[candidate.key] = Position(current)
    return positions
