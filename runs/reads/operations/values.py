"""What the pages of operations show."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from runs.reads.values import Fact, Figure, Link


@dataclass(frozen=True, slots=True)
class OperationRow:
    """An operation in the list: how much is known of it."""

    link: Link
    aliases: tuple[str, ...]
    runs: int
    groups: int
    workloads: int
    environments: int


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    operations: tuple[OperationRow, ...]


@dataclass(frozen=True, slots=True)
class OperationList:
    """The operations by family; `next` is the place where the next page begins, None at the end."""

    families: tuple[Family, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of an operation: `detail` is its value, bounds or expression."""

    name: str
    role: str
    detail: str


@dataclass(frozen=True, slots=True)
class Argument:
    """A tensor or a scalar that goes in or comes out; a scalar has no shape."""

    name: str
    direction: str  # "input" | "output"
    dtype: str
    shape: tuple[str, ...] | None
    layout: str | None


@dataclass(frozen=True, slots=True)
class Option:
    """What a choice may be, and how many comparison groups there are of it."""

    value: str
    label: str
    groups: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class AxisChoice:
    name: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Best:
    """The first run of a comparison group."""

    run: UUID
    implementation: Link
    primary: Figure


@dataclass(frozen=True, slots=True)
class Cell:
    """A workload on a GPU: its comparison group and the first in it; `best` is None where no run ranks."""

    group: str
    url: str
    runs: int
    ranked: int
    best: Best | None


@dataclass(frozen=True, slots=True)
class Column:
    """An environment that the operation was measured in, under the chosen protocol.

    `missing` counts the chosen workloads without evidence there.
    """

    environment: str  # the beginning of its digest
    hardware: Link
    title: str
    measured: int
    missing: int


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """A workload, and a cell for each column: None where there is no evidence."""

    workload: str
    digest: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Workloads by GPU for one way of measuring, with what is missing."""

    columns: tuple[Column, ...]
    rows: tuple[CoverageRow, ...]
    workloads: int  # of the operation that the choice leaves
    more_environments: int  # that have no column
    next: str | None


@dataclass(frozen=True, slots=True)
class Point:
    """The best ranked run of an implementation at one size."""

    size: int
    run: UUID
    primary: Figure


@dataclass(frozen=True, slots=True)
class Line:
    implementation: Link
    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class ScalingFigure:
    """A measurement along one axis, the others held: what the chart draws and the table beside it lists."""

    axis: str
    held: tuple[Fact, ...]
    hardware: Link
    environment: str
    sizes: tuple[int, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class OperationPage:
    """Everything that an operation's page shows."""

    slug: str
    name: str
    family: str
    digest: str
    aliases: tuple[str, ...]
    expression: str | None
    semantics: tuple[Fact, ...]
    axes: tuple[Axis, ...]
    arguments: tuple[Argument, ...]
    runs: int
    groups: int
    implementations: tuple[Link, ...]
    # what was chosen, and what may be
    measured: tuple[Option, ...]
    environments: tuple[Option, ...]
    along: tuple[Option, ...]
    dtypes: tuple[Option, ...]
    sizes: tuple[AxisChoice, ...]
    chosen: tuple[Fact, ...]
    coverage: Coverage
    scaling: ScalingFigure | None
    unmeasured: tuple[Link, ...]  # hardware of the index on which nobody measured the operation
