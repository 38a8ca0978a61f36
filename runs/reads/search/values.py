"""What the search shows, as plain typed values. The JSON twin is these, field for field."""

from __future__ import annotations

from dataclasses import dataclass

from runs.reads.values import Link, RunRow


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Another way to put the query, and where that leads."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the query that could not be used or matches nothing: a code, its sentence, what may be meant."""

    code: str
    sentence: str
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, slots=True)
class Chip:
    """One thing that was understood, and the query without it."""

    label: str  # "operation", "GPU", an axis, "text" …
    value: str  # in the index's own words
    note: str  # what it stands for, where that is not plain; else empty
    excluded: bool
    used: bool  # False where it could not be used, or matches nothing
    remove_url: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a group differs from what was asked for."""

    name: str
    asked: str
    found: str
    factor: float | None = None  # how many times larger, or smaller where it is below 1; of sizes alone


@dataclass(frozen=True, slots=True)
class GroupHit:
    """A comparison group, with the best of its runs that match."""

    key: str
    url: str
    operation: Link
    workload: str
    dtype: str
    hardware: Link
    environment: str
    protocol: str
    metric: str
    source_native: bool
    runs: int
    ranked: int
    best: RunRow | None  # None where no matching run ranks
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupList:
    """Groups that match, the first of them. `total` counts up to a bound; `more` says that others lie beyond it."""

    hits: tuple[GroupHit, ...] = ()
    total: int = 0
    more: bool = False
    next_url: str | None = None


@dataclass(frozen=True, slots=True)
class Bracket:
    """The sizes measured next below and next above one that was asked for."""

    axis: str
    asked: str
    below: Suggestion | None
    above: Suggestion | None


@dataclass(frozen=True, slots=True)
class NameHit:
    """An operation or an implementation whose name matches."""

    kind: str  # "operation" | "implementation"
    link: Link
    detail: str


@dataclass(frozen=True, slots=True)
class NameList:
    hits: tuple[NameHit, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True)
class Nearest:
    """What exists nearest to a query that nothing matches, and what was left out to find it."""

    left_out: tuple[str, ...]
    groups: GroupList


@dataclass(frozen=True, slots=True)
class Known:
    """What the index can be asked for: shown where nothing was asked."""

    operations: tuple[Suggestion, ...]
    hardware: tuple[Suggestion, ...]
    dtypes: tuple[str, ...]
    languages: tuple[str, ...]
    axes: tuple[str, ...]
    example: Suggestion | None


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A search and its results, in four lists. `known` stands in for them where nothing was asked."""

    query: str
    chips: tuple[Chip, ...] = ()
    problems: tuple[Problem, ...] = ()
    exact: GroupList = GroupList()
    compatible: GroupList = GroupList()
    brackets: tuple[Bracket, ...] = ()
    elsewhere: GroupList = GroupList()
    names: NameList = NameList()
    nearest: Nearest | None = None
    known: Known | None = None
