"""The list of reruns by keyset, and the table of all verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from runs.reads.cursors import Cursor, InvalidCursor
from runs.reads.links import operation_link
from runs.reads.reruns.rows import rerun_rows
from runs.reads.reruns.values import RerunList, RerunRow, VerdictRow, VerdictTable
from runs.reads.reruns.words import STATES, VERDICTS, verdict_word
from runs.reads.rows import fetch
from runs.reads.values import Count

PAGE_SIZE: Final = 50
FILTERS: Final = ("state", "verdict", "product", "runner")
_CONDITIONS: Final = {
    "state": "u.state = %s",
    "verdict": "x.verdict = %s",
    "product": "u.product = %s",
    "runner": "n.name = %s",
}
_LONGEST: Final = 100

_STATES: Final = "SELECT state, product, count(*) AS reruns FROM runs_rerun GROUP BY state, product"
_VERDICTS: Final = """
SELECT o.slug, o.name, u.product, x.verdict, count(*) AS reruns
FROM runs_rerunresult x
JOIN runs_rerun u ON u.id = x.rerun_id
JOIN runs_run r ON r.id = x.run_id
JOIN runs_operation o ON o.id = r.operation_id
GROUP BY o.slug, o.name, u.product, x.verdict
"""


def chosen(parameters: Mapping[str, str]) -> dict[str, str]:
    """The filters among a request's parameters; a value longer than any is cut and then matches nothing."""
    given = ((name, parameters.get(name, "").strip().replace("\x00", "")[:_LONGEST]) for name in FILTERS)
    return {name: value for name, value in given if value}


def rerun_list(filters: Mapping[str, str], cursor: Cursor | None = None, size: int = PAGE_SIZE) -> RerunList:
    """One page of the chosen reruns, the latest first. One statement. Raises InvalidCursor for a cursor with a rank."""
    if cursor and cursor.rank:
        raise InvalidCursor(str(cursor))
    clauses = [_CONDITIONS[name] for name in filters]
    params: list[Any] = list(filters.values())
    forward = cursor is None or cursor.forward
    if cursor:
        clauses.append("u.id < %s" if forward else "u.id > %s")
        params.append(cursor.id)
    order = "u.id DESC" if forward else "u.id"
    found = rerun_rows(" AND ".join(clauses or ["1 = 1"]), params, order=order, limit=size + 1)
    more = len(found) > size
    rows = found[:size] if forward else tuple(reversed(found[:size]))
    after = bool(rows) and (more if forward else True)
    before = bool(rows) and (cursor is not None if forward else more)
    return RerunList(rows, _cut(rows[-1], True) if after else None, _cut(rows[0], False) if before else None)


def _cut(row: RerunRow, onward: bool) -> str:
    return str(Cursor(row.id, onward))


def verdict_table() -> VerdictTable:
    """The verdicts by operation and product, and the counts by state. Two statements."""
    states: dict[str, int] = defaultdict(int)
    products: dict[str, int] = defaultdict(int)
    for row in fetch(_STATES):
        states[row["state"]] += row["reruns"]
        products[row["product"]] += row["reruns"]
    cells: dict[tuple[str, str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    totals: dict[str, int] = defaultdict(int)
    for row in fetch(_VERDICTS):
        cells[row["name"], row["slug"], row["product"]][row["verdict"]] += row["reruns"]
        totals[row["verdict"]] += row["reruns"]
    return VerdictTable(
        verdicts=tuple(Count(verdict, verdict_word(verdict), totals[verdict]) for verdict in VERDICTS),
        rows=tuple(
            VerdictRow(
                operation_link(slug, name),
                product,
                tuple(counts[verdict] for verdict in VERDICTS),
                sum(counts.values()),
            )
            for (name, slug, product), counts in sorted(cells.items())
        ),
        states=tuple(Count(state, state, states[state]) for state in STATES if states[state]),
        products=tuple(Count(product, product, products[product]) for product in sorted(products)),
    )
