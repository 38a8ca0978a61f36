"""Ranking inside one comparison group (policies `ranking-v1` and `ranking-v2`): facts in, ranks and reasons out.

A run ranks when it passed, has a positive primary measurement, and is neither retracted nor superseded. Ranks are
dense: 1, 2, 2, 3. Which direction is better follows from the metric.

In a strict group, where every run states its own confidence interval or none, a run shares the current rank when its
interval overlaps that of the rank's first run, else it takes the next. The comparison is with the first run alone: with
the previous one, a chain of small steps would put runs on one rank that plainly differ. A run without an interval is
a point: it ties only with an interval that holds its value, or with an equal value. In a group that a source measured
with its own harness only equal values tie, because such a source publishes no interval that could say more.

`ranking-v2` is `ranking-v1` and one rule more: a run that a moderator confirmed to be below the physical floor does
not rank. A group without such a run is ranked by `ranking-v1`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Final

VERSION: Final = "ranking-v1"
VERSION_WITH_FLOOR: Final = "ranking-v2"

# Metrics of which more is better. Every other metric (latency, memory, score in seconds) is better when it is less.
HIGHER_IS_BETTER: Final = frozenset({"throughput", "bandwidth", "flops", "tflops", "speedup"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """What ranking has to know of a run.

    `value` is the primary measurement in the group's one unit, `low` and `high` its 95 % confidence interval in that
    unit, where the run states both. `below_floor_confirmed`: a moderator confirmed that the run is below the physical
    floor.
    """

    key: Hashable
    status: str
    metric: str
    value: float | None
    retracted: bool = False
    superseded: bool = False
    low: float | None = None
    high: float | None = None
    below_floor_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Position:
    """A rank from 1 up, or the codes of `reasons` that say why there is none, and the policy that decided."""

    rank: int | None
    reasons: tuple[str, ...] = ()
    version: str = VERSION


@dataclass(frozen=True, slots=True)
class Extent:
    """Value and interval, turned so that less is better whatever the metric."""

    value: float
    worst: float
    best: float

    @property
    def order(self) -> tuple[float, float, float]:
        """How a group is sorted.

        Of equal values the one whose interval reaches least toward better stands first: whether it shares the current
        rank or opens the next, the others do so too, and equal values never part.
        """
        return self.value, -self.best, self.worst

    def overlaps(self, other: Extent) -> bool:
        """Whether the intervals have a point in common; an end counts."""
        return self.best <= other.worst and other.best <= self.worst


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
    if candidate.below_floor_confirmed:
        reasons.append("BELOW_PHYSICAL_FLOOR")
    return tuple(reasons)


def rank(candidates: Iterable[Candidate], *, strict: bool = False) -> dict[Hashable, Position]:
    """The position of every run of one comparison group, whatever order the runs come in.

    `strict`: the runs were measured under one protocol of ours, none by a source's own harness.
    """
    group = tuple(candidates)
    floored = any(candidate.below_floor_confirmed for candidate in group)
    version = VERSION_WITH_FLOOR if floored else VERSION
    positions: dict[Hashable, Position] = {}
    ranked: list[tuple[Extent, Candidate]] = []
    for candidate in group:
        reasons = eligibility(candidate)
        if reasons or candidate.value is None:
            positions[candidate.key] = Position(None, reasons, version)
        else:
            interval = (candidate.low, candidate.high) if strict else (None, None)
            ranked.append((extent(candidate.metric, candidate.value, *interval), candidate))
    ranked.sort(key=lambda entry: entry[0].order)
    current, first = 0, None
    for reach, candidate in ranked:
        if first is None or not reach.overlaps(first):
            current, first = current + 1, reach
        positions[candidate.key] = Position(current, version=version)
    return positions


def extent(metric: str, value: float, low: float | None = None, high: float | None = None) -> Extent:
    """Where a measurement lies, in the metric's unit: its value alone without both ends of an interval.

    An end that is no number is no end, and an interval that misses its own value is stretched to it.
    """
    if low is None or high is None:
        low, high = value, value
    low = low if math.isfinite(low) and low < value else value
    high = high if math.isfinite(high) and high > value else value
    return Extent(-value, -low, -high) if metric in HIGHER_IS_BETTER else Extent(value, high, low)
