"""Where the groups of a list differ from what was asked for, and which sizes were measured next to those asked for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

from runs.reads.rows import as_uuid, fetch
from runs.reads.search.conditions import Conditions, of_runs, place, subject
from runs.reads.search.facets import AxisRange, Facets, Range
from runs.reads.search.groups import Candidate
from runs.reads.search.links import search_url
from runs.reads.search.query import LARGEST, Query, Term, format_query
from runs.reads.search.values import Bracket, Difference, Suggestion
from runs.reads.search.vocabulary import Vocabulary

Axes = Mapping[str, list[int]]

_AXES: Final = "SELECT a.workload_id, a.name, a.value FROM runs_workloadaxis a WHERE {where} ORDER BY a.name, a.value"
# CROSS JOIN is what SQLite reads in the order written: from the workloads to their axes, not the other way round.
_MEASURED: Final = """
WITH measured AS MATERIALIZED (
    SELECT g.workload_id
    FROM runs_comparisongroup g JOIN runs_workload w ON w.id = g.workload_id WHERE {where})
SELECT DISTINCT a.name, a.value FROM measured m CROSS JOIN runs_workloadaxis a
WHERE a.workload_id = m.workload_id AND {names}
"""


def axes_of(workloads: Iterable[UUID]) -> dict[UUID, dict[str, list[int]]]:
    """The axes of some workloads: one statement."""
    where = Conditions()
    where.member("a.workload_id", set(workloads))
    axes: dict[UUID, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in fetch(_AXES.format(where=where), where.params):
        axes[as_uuid(row["workload_id"])][row["name"]].append(row["value"])
    return axes


def of_workload(group: Candidate, facets: Facets, axes: Axes) -> list[Difference]:
    """The axes, shapes and dtype in which a group's workload is not what was asked for."""
    found = [_of_axis(axis, axes.get(axis.name, [])) for axis in facets.axes]
    found += [_of_shape(sizes, axes) for sizes in facets.shapes]
    if facets.dtypes is not None and group.dtype not in facets.dtypes:
        found.append(Difference("dtype", " or ".join(sorted(facets.dtypes)) or "another", group.dtype or "none"))
    return [difference for difference in found if difference]


def _of_axis(axis: AxisRange, values: list[int]) -> Difference | None:
    if any(low <= value <= high for low, high in axis.ranges for value in values) or not axis.ranges:
        return None
    nearest = min(
        ((max(low / max(value, 1), max(value, 1) / max(high, 1)), value, low if value < low else high)
         for low, high in axis.ranges for value in values),
        default=None,
    )  # fmt: skip
    if nearest is None:
        return Difference(axis.name, asked_of(axis), "no such axis")
    _, value, wanted = nearest
    return Difference(axis.name, asked_of(axis), str(value), value / wanted if wanted else None)


def _of_shape(sizes: tuple[int, ...], axes: Axes) -> Difference | None:
    lacking = Counter(sizes) - Counter(value for values in axes.values() for value in values)
    if not lacking:
        return None
    return Difference("shape", " × ".join(map(str, sizes)), f"no axis of {' and '.join(map(str, sorted(lacking)))}")


def of_place(group: Candidate, facets: Facets, vocabulary: Vocabulary) -> list[Difference]:
    """The hardware and the protocol in which a group is not what was asked for."""
    found = []
    if facets.environments is not None and group.environment not in facets.environments:
        asked = " or ".join(vocabulary.hardware(facets.environments).values()) or "hardware that is not in the index"
        found.append(Difference("hardware", asked, vocabulary.environments[group.environment].product))
    found += [
        Difference("protocol", text.text, vocabulary.protocols[group.protocol].name)
        for text in facets.texts
        if text.is_of_protocols and not text.excluded and group.protocol not in text.protocols
    ]
    return found


def asked_of(axis: AxisRange) -> str:
    """What was asked of an axis, as a query writes it."""
    return " or ".join(_range(pair) for pair in axis.ranges)


def _range(pair: Range) -> str:
    low, high = pair
    if low == high:
        return str(low)
    if high == LARGEST:
        return f"{low} or more"
    return f"{high} or less" if low == 0 else f"{low} to {high}"


def brackets(query: Query, facets: Facets, vocabulary: Vocabulary) -> tuple[Bracket, ...]:
    """The sizes measured next to each that was asked for and not measured; same operations, same hardware."""
    where = Conditions()
    subject(where, facets, vocabulary)
    place(where, facets)
    of_runs(where, facets)
    names = Conditions()
    names.member("a.name", {axis.name for axis in facets.axes})
    measured: dict[str, list[int]] = defaultdict(list)
    for row in fetch(_MEASURED.format(where=where, names=names), [*where.params, *names.params]):
        measured[row["name"]].append(row["value"])
    found = []
    for axis in facets.axes:
        for low, high in axis.ranges:
            values = measured[axis.name]
            if any(low <= value <= high for value in values):
                continue
            below = max((value for value in values if value < low), default=None)
            above = min((value for value in values if value > high), default=None)
            found.append(
                Bracket(axis.name, _range((low, high)), *(_at(query, axis.name, size) for size in (below, above)))
            )
    return tuple(found)


def _at(query: Query, axis: str, size: int | None) -> Suggestion | None:
    """The query with another size of an axis."""
    if size is None:
        return None
    others = [term for term in query.terms if term.key != axis or term.excluded]
    return Suggestion(str(size), search_url(format_query([*others, Term("field", str(size), axis, "=")])))
