"""What an operation was measured on: its workloads, its protocols, its environments, and which of them meet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runs.manifests.order import display_order
from runs.reads.links import hardware_link
from runs.reads.operations.choice import Choice, UnknownChoice
from runs.reads.rows import Row, fetch
from runs.reads.values import Link

PREFIX: Final = slice(7, 19)  # the twelve digits of a digest that addresses use
_MOST_WORKLOADS: Final = 5_000

_MEASURED: Final = """
SELECT c.id, c.digest, c.title, g.metric_key, count(*) AS found
FROM runs_comparisongroup g JOIN runs_protocol c ON c.id = g.protocol_id
WHERE g.operation_id = %s
GROUP BY c.id, c.digest, c.title, g.metric_key
ORDER BY CASE WHEN g.metric_key LIKE %s THEN 0 WHEN g.metric_key = 'none' THEN 2 ELSE 1 END,
    count(*) DESC, c.id, g.metric_key LIMIT 200
"""
_ENVIRONMENTS: Final = """
SELECT v.id, v.digest, v.title, v.hardware, v.product, v.form_factor, count(*) AS found
FROM runs_comparisongroup g JOIN runs_environment v ON v.id = g.environment_id
WHERE g.operation_id = %s
GROUP BY v.id, v.digest, v.title, v.hardware, v.product, v.form_factor
ORDER BY count(*) DESC, v.title, v.id LIMIT 200
"""
_WORKLOADS: Final = f"""
SELECT w.id, w.digest, w.summary, w.dtype, w.kind, a.name AS axis, a.value AS size
FROM (SELECT * FROM runs_workload WHERE operation_id = %s ORDER BY id LIMIT {_MOST_WORKLOADS}) w
LEFT JOIN runs_workloadaxis a ON a.workload_id = w.id AND w.kind = 'WorkloadCase'
"""  # noqa: S608 — a constant of ours
_PAIRS: Final = """
SELECT workload_id, environment_id FROM runs_comparisongroup
WHERE operation_id = %s AND protocol_id = %s AND metric_key = %s
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A workload; a suite has no axes of its own."""

    id: Any
    digest: str
    summary: str
    dtype: str
    axes: Mapping[str, int]

    @property
    def order(self) -> tuple[Any, ...]:
        """By sizes as numbers, so that 512 comes before 4096; suites last."""
        sizes = tuple((name, self.axes[name]) for name in display_order(self.axes))
        return (not sizes, self.dtype, sizes, self.summary, self.digest)

    def fits(self, choice: Choice) -> bool:
        """Whether it has the dtype and the sizes that a reader asked for."""
        return choice.dtype in ("", self.dtype) and all(self.axes.get(name) == size for name, size in choice.at)


@dataclass(frozen=True, slots=True)
class Measured:
    """A protocol with a metric: one way of measuring. The metric of runs that measured nothing is none."""

    id: Any
    value: str
    title: str
    metric: str
    groups: int

    @property
    def label(self) -> str:
        """The protocol, and which statistic of it."""
        _, _, rest = self.metric.partition(":")
        return f"{self.title} · {rest.partition(':')[0] or 'nothing measured'}"


@dataclass(frozen=True, slots=True)
class Place:
    """An environment."""

    id: Any
    value: str
    title: str
    hardware: Link
    groups: int


@dataclass(frozen=True, slots=True)
class Ground:
    """All of it; `measured` and `environment` are what was chosen, `environment` None for all of them."""

    cases: tuple[Case, ...]
    ways: tuple[Measured, ...]
    places: tuple[Place, ...]
    measured: Measured | None
    environment: Place | None
    pairs: Mapping[Any, frozenset[Any]]  # environment -> workloads measured there the chosen way

    @property
    def axes(self) -> list[str]:
        return display_order({name for case in self.cases for name in case.axes})


def ground(operation: Any, choice: Choice) -> Ground:
    """Four statements, whatever the operation. Raises UnknownChoice."""
    ways = tuple(map(_way, fetch(_MEASURED, [operation, "latency:%"])))
    places = tuple(map(_place, fetch(_ENVIRONMENTS, [operation])))
    cases = _cases(fetch(_WORKLOADS, [operation]))
    measured = _chosen(ways, choice.measured) or (ways[0] if ways else None)
    environment = _chosen(places, choice.environment)
    known = {name for case in cases for name in case.axes}
    asked = {*choice.held, *filter(None, [choice.along])}
    if asked - known or choice.dtype not in {"", *(case.dtype for case in cases)}:
        raise UnknownChoice(str(choice))
    met: dict[Any, set[Any]] = defaultdict(set)
    # Asked for in any case, so that an operation without evidence takes as many statements as any other.
    asked_for = [operation, measured.id if measured else None, measured.metric if measured else ""]
    for row in fetch(_PAIRS, asked_for):
        met[row["environment_id"]].add(row["workload_id"])
    pairs = {place: frozenset(workloads) for place, workloads in met.items()}
    return Ground(cases, ways, places, measured, environment, pairs)


def _chosen(options: Iterable[Any], value: str) -> Any:
    if not value:
        return None
    for option in options:
        if option.value == value:
            return option
    raise UnknownChoice(value)


def _way(row: Row) -> Measured:
    value = f"{row['digest'][PREFIX]}:{row['metric_key']}"
    return Measured(row["id"], value, row["title"], row["metric_key"], row["found"])


def _place(row: Row) -> Place:
    product = " ".join(filter(None, (row["product"], row["form_factor"])))
    link = hardware_link(row["hardware"], product)
    return Place(row["id"], row["digest"][PREFIX], row["title"], link, row["found"])


def _cases(rows: list[Row]) -> tuple[Case, ...]:
    axes: dict[Any, dict[str, int]] = defaultdict(dict)
    named = {}
    for row in rows:
        named[row["id"]] = row
        if row["axis"] is not None:
            axes[row["id"]][row["axis"]] = row["size"]
    cases = [Case(id_, row["digest"], row["summary"], row["dtype"], axes[id_]) for id_, row in named.items()]
    return tuple(sorted(cases, key=lambda case: case.order))
