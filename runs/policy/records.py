"""The records of one comparison group: who was first when, what it displaced, and by how much.

A run stands from the moment it was observed until it is withdrawn: retracted, superseded, or confirmed to be below the
physical floor. History is told by observation, not by publication, because an index that imports five years of results
in one night would otherwise have one night of history. So a result that is published late changes the past, and each
step carries both dates for the reader to see it. An observation dated after its own publication counts as of that.

The holder keeps the first place as long as it shares rank 1 (see `ranking`); a record is broken, never equalled.
When the holder is withdrawn, the best of those that still stand takes its place, if there is one. What happens at one
instant is one step. Nothing but the entries decides: the same entries in any order give the same history.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import groupby

from runs.policy.ranking import Extent, extent


class Cause(StrEnum):
    """Why the first place changed hands."""

    OBSERVED = "observed"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Entry:
    """A passed run of the group: its primary measurement, interval where stated, and dates (all with a time zone)."""

    key: str
    value: float
    observed: datetime
    published: datetime
    withdrawn: datetime | None = None
    low: float | None = None
    high: float | None = None

    @property
    def since(self) -> datetime:
        """When it begins to stand."""
        return min(self.observed, self.published)


@dataclass(frozen=True, slots=True)
class Step:
    """A change of the first place.

    `first` is None when nobody was left to take it; `displaced` is None where nobody held it.
    """

    at: datetime
    cause: Cause
    first: Entry | None
    displaced: Entry | None

    @property
    def ratio(self) -> float | None:
        """The first's value over that of the run displaced; None where there is only one of them."""
        return self.first.value / self.displaced.value if self.first and self.displaced else None


@dataclass(frozen=True, slots=True, order=True)
class _Standing:
    """An entry in the order in which runs are preferred: better, then longer known, then by key."""

    order: tuple[float, float, float]
    since: datetime
    published: datetime
    key: str
    extent: Extent = field(compare=False)


def history(entries: Iterable[Entry], *, metric: str, strict: bool = False) -> list[Step]:
    """The steps, oldest first. Entries are runs that passed and have a positive value; keys are distinct.

    `strict` is what it is for `ranking.rank`: intervals may tie only in a group measured under a protocol of ours.
    """
    known: dict[str, Entry] = {}
    events: list[tuple[datetime, bool, _Standing]] = []
    for entry in entries:
        if entry.withdrawn is not None and entry.withdrawn <= entry.since:
            continue
        interval = (entry.low, entry.high) if strict else (None, None)
        reach = extent(metric, entry.value, *interval)
        standing = _Standing(reach.order, entry.since, entry.published, entry.key, reach)
        known[entry.key] = entry
        events.append((entry.since, True, standing))
        if entry.withdrawn is not None:
            events.append((entry.withdrawn, False, standing))
    steps: list[Step] = []
    present: set[_Standing] = set()
    holder: _Standing | None = None
    for at, together in groupby(sorted(events), key=lambda event: event[0]):
        for _, enters, standing in together:
            (present.add if enters else present.remove)(standing)
        stands = holder in present
        if holder is not None and stands and _shares_first(holder, present):
            continue
        first = min(present, default=None)
        if first is None and holder is None:
            continue
        steps.append(
            Step(
                at,
                Cause.WITHDRAWN if holder is not None and not stands else Cause.OBSERVED,
                known[first.key] if first else None,
                known[holder.key] if holder else None,
            )
        )
        holder = first
    return steps


def _shares_first(holder: _Standing, present: set[_Standing]) -> bool:
    """Whether the holder has rank 1: the best overlaps it and all that stand between them."""
    best = min(present)
    return all(each.extent.overlaps(best.extent) for each in present if each.order <= holder.order)
