"""The conditions of a search in SQL: on groups `g` with their workloads `w`, and on runs `r` with their levels `e`.

Names were looked up before (`meaning`), so the database compares ids alone. What narrows most is indexed: groups by
(operation, environment) and by workload, axes by (name, value) and by workload, runs by comparison key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import connection

from runs.reads.search.facets import AxisRange, Facets, Text
from runs.reads.search.vocabulary import Vocabulary

RUNS: Final = "runs_run r LEFT JOIN runs_evidencelevel e ON e.run_id = r.id"
# The runs that have a level of their own are few, and a search for a level begins with them: SQLite reads a CROSS JOIN
# in the order written.
_LEVELLED: Final = "runs_evidencelevel e CROSS JOIN runs_run r WHERE r.id = e.run_id"


class Conditions:
    """Clauses to be joined by AND, with their parameters."""

    def __init__(self) -> None:
        self.clauses: list[str] = []
        self.params: list[Any] = []

    def add(self, clause: str, *params: Any) -> None:
        self.clauses.append(clause)
        self.params += params

    def member(self, column: str, values: Collection[Any], *, excluded: bool = False) -> None:
        """The column is one of these values, or none of them. One parameter, however many values."""
        if excluded and not values:
            return
        clause, param = _member(column, values)
        self.add(f"NOT {clause}" if excluded else clause, param)

    def all(self, others: Conditions, *, form: str = "{}") -> None:
        """All of some other conditions, in some form."""
        if others.clauses:
            self.add(form.format(" AND ".join(others.clauses)), *others.params)

    def __str__(self) -> str:
        return " AND ".join(self.clauses or ["1 = 1"])


def _member(column: str, values: Collection[Any]) -> tuple[str, Any]:
    """A list is one parameter: an array on PostgreSQL, JSON on SQLite; the indexes serve both."""
    ordered = sorted(values)
    if connection.vendor == "postgresql":
        return f"{column} = ANY(%s)", ordered
    plain = [value.hex if isinstance(value, UUID) else value for value in ordered]
    return f"{column} IN (SELECT value FROM json_each(%s))", orjson.dumps(plain).decode()  # noqa: S608


def group_conditions(facets: Facets, vocabulary: Vocabulary) -> Conditions:
    """What a group must meet to match all of the facets."""
    where = Conditions()
    subject(where, facets, vocabulary)
    workload(where, facets, vocabulary)
    place(where, facets)
    of_runs(where, facets)
    return where


def subject(where: Conditions, facets: Facets, vocabulary: Vocabulary) -> None:
    """The operation, as far as it follows from anything that was asked; and what is excluded of a group."""
    chosen = facets.operations
    for narrower in _implied(facets, vocabulary):
        chosen = narrower if chosen is None else chosen & narrower
    if chosen is not None:
        where.member("g.operation_id", chosen)
    where.member("g.operation_id", facets.excluded.operations, excluded=True)
    where.member("g.environment_id", facets.excluded.environments, excluded=True)
    where.member("w.dtype", facets.excluded.dtypes, excluded=True)
    for axis in facets.excluded.axes:
        where.all(_axis(axis), form="NOT ({})")
    for sizes in facets.excluded.shapes:
        where.all(_shape(sizes, vocabulary), form="NOT ({})")
    for text in facets.texts:
        if not text.is_of_protocols and not text.is_of_runs:
            where.all(_text(text, "g"), form="NOT ({})" if text.excluded else "{}")


def _implied(facets: Facets, vocabulary: Vocabulary) -> Iterable[frozenset[UUID]]:
    """Operations that the implementations asked for compute: an index finds their groups, and no other can match."""
    known = vocabulary.implementations
    if facets.implementations is not None:
        yield frozenset(known[id_].operation for id_ in facets.implementations)
    for text in facets.texts:
        if text.found and not (text.excluded or text.environments or text.protocols or text.sources):
            yield text.operations | {known[id_].operation for id_ in text.implementations}


def workload(where: Conditions, facets: Facets, vocabulary: Vocabulary) -> None:
    """The dtype, the axes and the shapes."""
    if facets.dtypes is not None:
        where.member("w.dtype", facets.dtypes)
    for axis in facets.axes:
        where.all(_axis(axis))
    for sizes in facets.shapes:
        where.all(_shape(sizes, vocabulary))


def place(where: Conditions, facets: Facets) -> None:
    """The hardware and the protocol."""
    if facets.environments is not None:
        where.member("g.environment_id", facets.environments)
    for text in facets.texts:
        if text.is_of_protocols:
            where.all(_text(text, "g"), form="NOT ({})" if text.excluded else "{}")


def of_runs(where: Conditions, facets: Facets) -> None:
    """Some run of the group meets what is asked of runs."""
    runs = run_conditions(facets)
    if facets.levels is not None and "reported" not in facets.levels:
        where.all(runs, form=f"g.key IN (SELECT r.comparison_key FROM {_LEVELLED} AND {{}})")  # noqa: S608
    else:
        where.all(runs, form=f"EXISTS (SELECT 1 FROM {RUNS} WHERE r.comparison_key = g.key AND {{}})")  # noqa: S608


def run_conditions(facets: Facets) -> Conditions:
    """What a run must meet, beyond what its group does."""
    where = Conditions()
    gone = facets.excluded
    for column, wanted, unwanted in (
        ("r.implementation_id", facets.implementations, gone.implementations),
        ("r.source_id", facets.sources, gone.sources),
        ("r.status", facets.statuses, gone.statuses),
        ("coalesce(e.level, 'reported')", facets.levels, gone.levels),
    ):
        if wanted is not None:
            where.member(column, wanted)
        where.member(column, unwanted, excluded=True)
    for text in facets.texts:
        if text.is_of_runs:
            where.all(_text(text, "r"), form="NOT ({})" if text.excluded else "{}")
    return where


def _text(text: Text, table: str) -> Conditions:
    """Any of the records that a text names, as columns of groups or of runs; of none, nothing."""
    columns: tuple[tuple[str, Collection[UUID]], ...] = (
        (f"{table}.operation_id", text.operations),
        (f"{table}.environment_id", text.environments),
        (f"{table}.protocol_id", text.protocols),
    )
    if table == "r":
        columns += (("r.implementation_id", text.implementations), ("r.source_id", text.sources))
    named = [_member(column, ids) for column, ids in columns if ids]
    where = Conditions()
    where.add(f"({' OR '.join(clause for clause, _ in named) or '1 = 0'})", *(param for _, param in named))
    return where


def _axis(axis: AxisRange) -> Conditions:
    where = Conditions()
    ranges = " OR ".join(["a.value BETWEEN %s AND %s"] * len(axis.ranges)) or "1 = 0"
    where.add(
        f"g.workload_id IN (SELECT a.workload_id FROM runs_workloadaxis a WHERE a.name = %s AND ({ranges}))",  # noqa: S608
        axis.name,
        *(bound for pair in axis.ranges for bound in pair),
    )
    return where


def _shape(sizes: tuple[int, ...], vocabulary: Vocabulary) -> Conditions:
    """A case that has an axis for each of the sizes. Of a suite's axes it is not known which belong to one case."""
    counted = Counter(sizes)
    (names, all_names), (values, all_values) = _member("a.name", vocabulary.axes), _member("a.value", counted)
    having = " AND ".join(["sum(CASE WHEN a.value = %s THEN 1 ELSE 0 END) >= %s"] * len(counted))
    where = Conditions()
    where.add(
        f"(w.kind = 'WorkloadCase' AND g.workload_id IN (SELECT a.workload_id FROM runs_workloadaxis a "  # noqa: S608
        f"WHERE {names} AND {values} GROUP BY a.workload_id HAVING {having}))",
        all_names,
        all_values,
        *(number for pair in counted.items() for number in pair),
    )
    return where


def distance(facets: Facets) -> tuple[str, list[Any]]:
    """How far a workload is from the axes and shapes asked for: the sum of the logarithms of the factors between them.

    NULL for a workload that lacks one of the axes.
    """
    terms: list[str] = []
    params: list[Any] = []
    for axis in facets.axes:
        ranges = " UNION ALL ".join(["SELECT CAST(%s AS bigint) AS low, CAST(%s AS bigint) AS high"] * len(axis.ranges))
        terms.append(
            f"(SELECT min({_FROM_RANGE}) FROM runs_workloadaxis a CROSS JOIN ({ranges}) t "  # noqa: S608
            "WHERE a.workload_id = g.workload_id AND a.name = %s)"
        )
        params += [*(bound for pair in axis.ranges for bound in pair), axis.name]
    for sizes in facets.shapes:
        for size in sizes:
            terms.append(
                f"(SELECT min(abs(ln({_VALUE} / %s))) FROM runs_workloadaxis a WHERE a.workload_id = g.workload_id)"  # noqa: S608
            )
            params.append(float(max(size, 1)))
    return " + ".join(terms) or "0", params


def _at_least_one(expression: str) -> str:
    return f"CAST(CASE WHEN {expression} < 1 THEN 1 ELSE {expression} END AS double precision)"


_VALUE: Final = _at_least_one("a.value")
_FROM_RANGE: Final = (
    f"CASE WHEN a.value < t.low THEN ln({_at_least_one('t.low')} / {_VALUE}) "
    f"WHEN a.value > t.high THEN ln({_VALUE} / {_at_least_one('t.high')}) ELSE 0.0 END"
)
