"""What a query asks of a comparison group and of its runs, by ids and values. Pure.

`None` asks nothing; an empty set asks for what does not exist, and matches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

Ids = frozenset[UUID]
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AxisRange:
    """An axis has a value in one of some inclusive ranges; of no range where conditions contradict one another."""

    name: str
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A word or phrase, and the records whose names hold it. A run matches through any of them."""

    text: str
    excluded: bool
    operations: Ids
    environments: Ids
    protocols: Ids
    implementations: Ids
    sources: Ids

    @property
    def found(self) -> bool:
        """Whether any name holds it."""
        return bool(self.operations or self.environments or self.protocols or self.implementations or self.sources)

    @property
    def is_of_runs(self) -> bool:
        """Whether it can tell runs of one group apart."""
        return bool(self.implementations or self.sources)

    @property
    def is_of_protocols(self) -> bool:
        """Whether it speaks of how was measured, and of nothing else."""
        return bool(self.protocols) and not (self.operations or self.environments or self.is_of_runs)


@dataclass(frozen=True, slots=True)
class Excluded:
    """What must not be there. Nothing that is near to a query may break this either."""

    operations: Ids = frozenset()
    environments: Ids = frozenset()
    dtypes: frozenset[str] = frozenset()
    implementations: Ids = frozenset()
    sources: Ids = frozenset()
    statuses: frozenset[str] = frozenset()
    levels: frozenset[str] = frozenset()
    axes: tuple[AxisRange, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Facets:
    """The conditions of a query, all of which must hold."""

    operations: Ids | None = None
    environments: Ids | None = None
    dtypes: frozenset[str] | None = None
    axes: tuple[AxisRange, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    implementations: Ids | None = None
    sources: Ids | None = None
    statuses: frozenset[str] | None = None
    levels: frozenset[str] | None = None
    texts: tuple[Text, ...] = ()
    excluded: Excluded = field(default_factory=Excluded)

    @property
    def asks(self) -> bool:
        """Whether there is any condition."""
        return self != Facets()

    @property
    def asks_for(self) -> bool:
        """Whether there is any condition but what is excluded."""
        return (
            replace(self, excluded=Excluded(), texts=tuple(one for one in self.texts if not one.excluded)) != Facets()
        )

    @property
    def has_workload(self) -> bool:
        """Whether it asks for particular workloads, by conditions that nearness has a meaning for."""
        return bool(self.axes or self.shapes or self.dtypes is not None)

    @property
    def has_place(self) -> bool:
        """Whether it asks for particular hardware or protocols."""
        return self.environments is not None or any(text.is_of_protocols and not text.excluded for text in self.texts)

    @property
    def is_void(self) -> bool:
        """Whether some condition matches nothing whatever the index holds."""
        sets: tuple[frozenset[Any] | None, ...] = (
            self.operations,
            self.environments,
            self.dtypes,
            self.implementations,
            self.sources,
            self.statuses,
            self.levels,
        )
        return (
            any(chosen is not None and not chosen for chosen in sets)
            or any(not axis.ranges for axis in self.axes)
            or any(not text.found and not text.excluded for text in self.texts)
        )

    def without_workload(self) -> Facets:
        return replace(self, dtypes=None, axes=(), shapes=())

    def without_place(self) -> Facets:
        """On any hardware, under any protocol."""
        return replace(
            self,
            environments=None,
            texts=tuple(text for text in self.texts if text.excluded or not text.is_of_protocols),
        )

    def without_runs(self) -> Facets:
        """Whoever measured what implementation."""
        return replace(self, implementations=None, sources=None, statuses=None, levels=None)

    def without_void(self) -> Facets:
        """Less the conditions that match nothing."""
        return replace(
            self,
            operations=self.operations or None,
            environments=self.environments or None,
            dtypes=self.dtypes or None,
            axes=tuple(axis for axis in self.axes if axis.ranges),
            implementations=self.implementations or None,
            sources=self.sources or None,
            statuses=self.statuses or None,
            levels=self.levels or None,
            texts=tuple(text for text in self.texts if text.found),
        )
