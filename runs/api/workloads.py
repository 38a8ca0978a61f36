"""Which workloads of an operation are near to a size, and where each was measured: kept in memory by each process.

A look-up of many workloads at once would ask the database for the distance of thousands of rows many times over. What
it needs of a workload never changes, and where it was measured only grows; so a process keeps both for the operations
that were asked for last, and drops an operation when a run of it was published since.
"""

from __future__ import annotations

import heapq
import time
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import log
from threading import Lock
from typing import Any, Final
from uuid import UUID

from runs.reads.rows import as_uuid, fetch, fetch_tuple
from runs.reads.search.conditions import Conditions

MOST_OPERATIONS: Final = 200  # that a process keeps
_MAX_AGE: Final = 60.0  # seconds: an importer that began earlier may have finished later

_WORKLOADS: Final = "SELECT w.id, w.operation_id, w.dtype FROM runs_workload w WHERE {where}"
_AXES: Final = """
SELECT a.workload_id, a.name, a.value FROM runs_workloadaxis a JOIN runs_workload w ON w.id = a.workload_id
WHERE {where} ORDER BY a.workload_id, a.name, a.value
"""
_MEASURED: Final = "SELECT DISTINCT w.workload_id, w.environment_id FROM runs_comparisongroup w WHERE {where}"
_NEWEST: Final = "SELECT id FROM runs_run ORDER BY id DESC LIMIT 1"
_SINCE: Final = "SELECT DISTINCT operation_id FROM runs_run WHERE id > %s"

_MOST_COLUMNS: Final = 64  # choices of axes and hardware that a catalogue keeps

Axes = Mapping[str, list[int]]
Places = frozenset[UUID] | None
"""Environments; None for all of them."""


@dataclass(frozen=True, slots=True)
class Case:
    """A workload: its axes with their sizes (several of a suite), and the environments that it was measured in."""

    id: UUID
    dtype: str
    axes: Axes
    environments: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class _Columns:
    """The cases with one size of each of some axes: their places, and for each axis the logarithms of its sizes."""

    places: list[int]
    logarithms: tuple[list[float], ...]


@dataclass(slots=True)
class Catalogue:
    """The measured workloads of one operation."""

    cases: tuple[Case, ...]
    read_at: float
    _suites: tuple[Case, ...] = field(init=False)
    _columns: dict[tuple[tuple[str, ...], Places], _Columns] = field(init=False, default_factory=dict)
    _exact: dict[tuple[str, ...], dict[tuple[int, ...], list[int]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._suites = tuple(case for case in self.cases if any(len(sizes) > 1 for sizes in case.axes.values()))

    def matching(self, axes: Mapping[str, int]) -> Iterable[Case]:
        """Those that have all of these sizes."""
        names = tuple(sorted(axes))
        by_sizes = self._by_sizes(names)
        yield from (self.cases[place] for place in by_sizes.get(tuple(axes[name] for name in names), ()))
        yield from (case for case in self._several(names) if all(axes[name] in case.axes[name] for name in names))

    def _by_sizes(self, names: tuple[str, ...]) -> dict[tuple[int, ...], list[int]]:
        by_sizes = self._exact.get(names)
        if by_sizes is None:
            by_sizes = defaultdict(list)
            for place, case in self._single(names):
                by_sizes[tuple(case.axes[name][0] for name in names)].append(place)
            if len(self._exact) >= _MOST_COLUMNS:
                self._exact.clear()
            self._exact[names] = by_sizes
        return by_sizes

    def nearest(
        self, axes: Mapping[str, int], environments: Places, but: Collection[UUID], *, most: int, tied: int
    ) -> list[tuple[float, Case]]:
        """Those measured in one of these environments, the nearest first: the sum of the logarithms of the factors.

        `but` are left out. At most so many, and as many again as `tied` that are no further away. Those that lack one
        of the axes are not near to anything.
        """
        names = tuple(sorted(axes))
        wanted = [log(max(axes[name], 1)) for name in names]
        columns = self._of(names, environments)
        away = [0.0] * len(columns.places)
        for own, sizes in zip(wanted, columns.logarithms, strict=True):
            away = [sofar + abs(size - own) for sofar, size in zip(away, sizes, strict=True)]
        few = heapq.nsmallest(most + tied + len(but), zip(away, columns.places, strict=True))
        found = [(round(distance, 6), self.cases[place]) for distance, place in few]
        for case in self._several(names):
            if environments is None or not case.environments.isdisjoint(environments):
                found.append((round(_away(case, names, wanted), 6), case))
        found = sorted((pair for pair in found if pair[1].id not in but), key=lambda pair: pair[0])[: most + tied]
        return found if len(found) <= most else [pair for pair in found if pair[0] <= found[most - 1][0]]

    def _of(self, names: tuple[str, ...], environments: Places) -> _Columns:
        key = (names, environments)
        columns = self._columns.get(key)
        if columns is None:
            found = [
                (place, case)
                for place, case in self._single(names)
                if environments is None or not case.environments.isdisjoint(environments)
            ]
            logarithms = tuple([log(max(case.axes[name][0], 1)) for _, case in found] for name in names)
            if len(self._columns) >= _MOST_COLUMNS:
                self._columns.clear()
            columns = self._columns[key] = _Columns([place for place, _ in found], logarithms)
        return columns

    def _single(self, names: tuple[str, ...]) -> Iterable[tuple[int, Case]]:
        """The cases that have one size of each of these axes, with their places."""
        for place, case in enumerate(self.cases):
            if all(len(case.axes.get(name, ())) == 1 for name in names):
                yield place, case

    def _several(self, names: tuple[str, ...]) -> Iterable[Case]:
        """The suites that have all of these axes, and several sizes of one of them."""
        return (
            case
            for case in self._suites
            if all(name in case.axes for name in names) and any(len(case.axes[name]) > 1 for name in names)
        )


def _away(case: Case, names: tuple[str, ...], wanted: list[float]) -> float:
    pairs = zip(names, wanted, strict=True)
    return sum(min(abs(log(max(size, 1)) - own) for size in case.axes[name]) for name, own in pairs)


class Shelf:
    """The catalogues that a process keeps; the operation asked for longest ago goes first. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[UUID, Catalogue] = OrderedDict()
        self._newest: Any = None

    def catalogues(self, operations: Collection[UUID]) -> dict[UUID, Catalogue]:
        """The catalogues of these operations: one statement where they are kept, at most five where they are not."""
        newest = fetch_tuple(_NEWEST)
        now = time.monotonic()
        with self._lock:
            before = self._newest
        changed = _published_since(before) if newest != before else frozenset()
        with self._lock:
            for id_ in list(self._kept):
                if changed is None or id_ in changed or now - self._kept[id_].read_at > _MAX_AGE:
                    del self._kept[id_]
            self._newest = newest
            found = {id_: self._kept[id_] for id_ in operations if id_ in self._kept}
            for id_ in found:
                self._kept.move_to_end(id_)
        missing = [id_ for id_ in operations if id_ not in found]
        if missing:
            read = _read(missing, now)
            found |= read
            with self._lock:
                self._kept.update(read)
                while len(self._kept) > MOST_OPERATIONS:
                    self._kept.popitem(last=False)
        return found

    def clear(self) -> None:
        """Drop everything, as a test does that begins with another database."""
        with self._lock:
            self._kept.clear()
            self._newest = None


shelf: Final = Shelf()


def _published_since(newest: tuple[Any, ...] | None) -> frozenset[UUID] | None:
    """The operations that runs were published of since; None where that is all of them."""
    if newest is None:
        return None
    return frozenset(as_uuid(row["operation_id"]) for row in fetch(_SINCE, [as_uuid(newest[0])]))


def _read(operations: Collection[UUID], now: float) -> dict[UUID, Catalogue]:
    where = Conditions()
    where.member("w.operation_id", operations)
    axes: dict[UUID, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in fetch(_AXES.format(where=where), where.params):
        axes[as_uuid(row["workload_id"])][row["name"]].append(row["value"])
    measured: dict[UUID, set[UUID]] = defaultdict(set)
    for row in fetch(_MEASURED.format(where=where), where.params):
        measured[as_uuid(row["workload_id"])].add(as_uuid(row["environment_id"]))
    alike: dict[frozenset[UUID], frozenset[UUID]] = {}  # most workloads were measured in the same places
    cases: dict[UUID, list[Case]] = {id_: [] for id_ in operations}
    for row in fetch(_WORKLOADS.format(where=where), where.params):
        id_ = as_uuid(row["id"])
        if id_ in measured:
            places = frozenset(measured[id_])
            case = Case(id_, row["dtype"], dict(axes[id_]), alike.setdefault(places, places))
            cases[as_uuid(row["operation_id"])].append(case)
    return {id_: Catalogue(tuple(found), now) for id_, found in cases.items()}
