"""Comparing chosen runs: whether they may be compared, which of them is ahead, and by how much. Facts in, verdict out.

A verdict is given inside one comparison group alone, and only by the ranks that the group gives. Runs of different
groups have no winner, however near they look: the verdict then names what does not match, the most fundamental part
first. A run that does not rank takes no part; neither does a made-up run beside real ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Final, Literal

from runs.policy.ranking import Extent, extent

MOST: Final = 8
FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class Basis:
    """What a comparison key holds, the most fundamental part first: a digest each, and the metric key.

    `workload` is the digest of the case without its correctness rule, so that a rule that differs is named as such.
    """

    operation: str
    workload: str
    protocol: str
    environment: str
    correctness: str
    metric: str


PARTS: Final = tuple(part.name for part in fields(Basis))


@dataclass(frozen=True, slots=True)
class Contender:
    """A chosen run: its standing, and its primary measurement with the 95 % confidence interval, where it has them."""

    rank: int | None
    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    illustrative: bool = False


@dataclass(frozen=True, slots=True)
class Ratio:
    """A run's value over the leader's; `low` and `high` follow from the ends of both intervals, where stated."""

    value: float
    low: float | None = None
    high: float | None = None


Outcome = Literal["ahead", "shared", "alone", "no_group"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What may be said of the chosen runs.

    `ahead`: one run has the best rank. `shared`: several share it, so none of them is ahead. `alone`: fewer than two of
    them rank. `no_group`: they are of different groups. `leaders` are places among the chosen; `ratios` has an entry
    for each chosen run, None for one that takes no part, and is empty where nothing is compared. `mismatches` are parts
    of the basis.
    """

    outcome: Outcome
    leaders: tuple[int, ...] = ()
    ratios: tuple[Ratio | None, ...] = ()
    mismatches: tuple[str, ...] = ()


def mismatches(bases: Sequence[Basis]) -> tuple[str, ...]:
    """The parts in which runs differ, the most fundamental first; empty where they are of one comparison group."""
    columns = zip(*map(astuple, bases), strict=True)
    return tuple(part for part, values in zip(PARTS, columns, strict=True) if len(set(values)) > 1)


def decide(bases: Sequence[Basis], contenders: Sequence[Contender]) -> Decision:
    """The verdict over chosen runs, given in the same order as the bases of their keys."""
    differing = mismatches(bases)
    if differing:
        return Decision("no_group", mismatches=differing)
    real = any(not each.illustrative for each in contenders)
    taking_part = {
        place: extent(each.metric, each.value, each.low, each.high)
        for place, each in enumerate(contenders)
        if each.rank is not None and each.value is not None and not (real and each.illustrative)
    }
    if len(taking_part) < FEWEST:
        return Decision("alone", tuple(taking_part))
    ranks = {place: contenders[place].rank or 0 for place in taking_part}
    best = min(ranks.values())
    leaders = tuple(place for place, rank in ranks.items() if rank == best)
    reference = min(leaders, key=lambda place: (taking_part[place].order, place))
    ratios = tuple(
        _ratio(each, contenders[reference], taking_part[place], taking_part[reference], itself=place == reference)
        if place in taking_part
        else None
        for place, each in enumerate(contenders)
    )
    return Decision("ahead" if len(leaders) == 1 else "shared", leaders, ratios)


def _ratio(run: Contender, leader: Contender, reach: Extent, ahead: Extent, *, itself: bool) -> Ratio:
    value = reach.value / ahead.value
    stated = all(end is not None and end > 0 for end in (run.low, run.high, leader.low, leader.high))
    if itself or not stated:
        return Ratio(value)
    ends = sorted((abs(reach.best / ahead.worst), abs(reach.worst / ahead.best)))
    return Ratio(value, *ends) if all(map(math.isfinite, ends)) else Ratio(value)
