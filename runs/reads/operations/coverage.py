"""Workloads by GPU: the first run of each comparison group, and where there is none."""

from __future__ import annotations

from typing import Any, Final

from runs.reads.links import group_url, implementation_link
from runs.reads.operations.choice import Choice, UnknownChoice
from runs.reads.operations.ground import PREFIX, Case, Ground, Place
from runs.reads.operations.values import Best, Cell, Column, Coverage, CoverageRow
from runs.reads.rows import Row, as_number, as_uuid, fetch
from runs.reads.values import Figure

ROWS: Final = 40
COLUMNS: Final = 8

_CELLS: Final = """
SELECT g.key, g.workload_id, g.environment_id, g.run_count, g.ranked_count,
    r.id AS run, r.metric, r.statistic, r.unit, r.value, r.samples, i.slug, i.title
FROM runs_comparisongroup g
LEFT JOIN runs_run r ON r.id = (
    SELECT s.run_id FROM runs_standing s WHERE s.group_id = g.key AND s.rank = 1 ORDER BY s.run_id LIMIT 1)
LEFT JOIN runs_implementation i ON i.id = r.implementation_id
WHERE g.operation_id = %s AND g.protocol_id = %s AND g.metric_key = %s AND g.workload_id IN ({workloads})
"""


def coverage(operation: Any, found: Ground, choice: Choice) -> Coverage:
    """One page of the table. One statement. Raises UnknownChoice where it is to begin after an unknown workload."""
    cases = [case for case in found.cases if case.fits(choice)]
    shown, after = _page(cases, choice.after)
    places = [found.environment] if found.environment else [place for place in found.places if place.id in found.pairs]
    columns = places[:COLUMNS]
    cells = _cells(operation, found, shown)
    return Coverage(
        columns=tuple(_column(place, found, cases) for place in columns),
        rows=tuple(
            CoverageRow(case.summary, case.digest, tuple(cells.get((case.id, place.id)) for place in columns))
            for case in shown
        ),
        workloads=len(cases),
        more_environments=len(places) - len(columns),
        next=after,
    )


def _page(cases: list[Case], after: str) -> tuple[list[Case], str | None]:
    start = 0
    if after:
        start = next((number for number, case in enumerate(cases, 1) if case.digest[PREFIX] == after), 0)
        if not start:
            raise UnknownChoice(after)
    shown = cases[start : start + ROWS]
    more = len(cases) > start + ROWS
    return shown, shown[-1].digest[PREFIX] if more else None


def _column(place: Place, found: Ground, cases: list[Case]) -> Column:
    there = found.pairs.get(place.id, frozenset())
    measured = sum(case.id in there for case in cases)
    return Column(place.value, place.hardware, place.title, measured, len(cases) - measured)


def _cells(operation: Any, found: Ground, cases: list[Case]) -> dict[tuple[Any, Any], Cell]:
    measured = found.measured
    ids = [case.id for case in cases] or [None]
    sql = _CELLS.format(workloads=", ".join(["%s"] * len(ids)))
    key = [measured.id, measured.metric] if measured else [None, ""]
    return {(row["workload_id"], row["environment_id"]): _cell(row) for row in fetch(sql, [operation, *key, *ids])}


def _cell(row: Row) -> Cell:
    best = None
    if row["run"] is not None:
        figure = Figure(row["metric"], row["statistic"], row["unit"], as_number(row["value"]), row["samples"])
        best = Best(as_uuid(row["run"]), implementation_link(row["slug"], row["title"]), figure)
    return Cell(row["key"], group_url(row["key"]), row["run_count"], row["ranked_count"], best)
