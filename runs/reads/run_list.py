"""Lists of runs, by keyset: every page costs the same, however far down it lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from runs.policy.level import EvidenceLevel
from runs.reads.cursors import Cursor, InvalidCursor, parse_cursor
from runs.reads.filters import Selection
from runs.reads.links import hardware_link, operation_link, source_link
from runs.reads.rows import Row, as_instant, as_number, as_uuid, fetch, fetch_tuple
from runs.reads.values import Figure, Page, RunRow

PAGE_SIZE: Final = 50

_ROW: Final = """
SELECT r.id, r.digest, r.status, r.metric, r.statistic, r.unit, r.value, r.samples, r.observed_at, r.published_at,
    r.illustrative, r.hardware, s.rank, e.level, e.disputed,
    o.slug AS operation_slug, o.name AS operation_name, w.summary AS workload, i.title AS implementation,
    c.title AS protocol,
    q.slug AS source_slug, q.name AS source_name, v.product, v.form_factor
FROM {first}
JOIN runs_operation o ON o.id = r.operation_id
JOIN runs_workload w ON w.id = r.workload_id
JOIN runs_implementation i ON i.id = r.implementation_id
JOIN runs_protocol c ON c.id = r.protocol_id
JOIN runs_environment v ON v.id = r.environment_id
JOIN runs_source q ON q.id = r.source_id
LEFT JOIN runs_evidencelevel e ON e.run_id = r.id
"""
# All runs begin at the runs; those of a comparison group at its standings, which are indexed in the group's order.
_RUNS: Final = _ROW.format(first="runs_run r LEFT JOIN runs_standing s ON s.run_id = r.id")
_STANDINGS: Final = _ROW.format(first="runs_standing s JOIN runs_run r ON r.id = s.run_id")


def run_rows(condition: str, params: Sequence[Any], *, order: str = "r.id DESC", limit: int) -> tuple[RunRow, ...]:
    """At most `limit` runs `r` under a condition of this package's own making."""
    return tuple(_row(row) for row in _select(_RUNS, condition, params, order, limit))


def run_list(chosen: Selection, cursor: Cursor | None = None, size: int = PAGE_SIZE) -> Page:
    """One page of the chosen runs: the latest first, or a comparison group by rank and then by id.

    Raises InvalidCursor for a cursor of another list.
    """
    clauses, params = chosen.conditions()
    if chosen.group is None:
        if cursor and cursor.rank:
            raise InvalidCursor(str(cursor))
        found = _latest(clauses, params, cursor, size + 1)
    else:
        found = _by_rank(clauses, params, cursor, size + 1)
    return _page(found, cursor, size, ranked=chosen.group is not None)


def _page(found: list[Row], cursor: Cursor | None, size: int, *, ranked: bool) -> Page:
    """A page of rows that were read in the cursor's direction, one more than it shows where there are more."""
    forward = cursor is None or cursor.forward
    more = len(found) > size
    rows = [_row(row) for row in found[:size]]
    if not forward:
        rows.reverse()

    def cut(row: RunRow, *, onward: bool) -> str:
        return str(Cursor(row.id, onward, (row.rank or 0) if ranked else 0))

    after = rows and (more if forward else True)
    before = rows and (cursor is not None if forward else more)
    return Page(
        tuple(rows),
        cut(rows[-1], onward=True) if after else None,
        cut(rows[0], onward=False) if before else None,
    )


def latest_runs(condition: str, params: Sequence[Any], token: str = "", size: int = PAGE_SIZE) -> Page:
    """One page of the runs `r` under a condition of this package's own making, the latest first.

    Raises InvalidCursor.
    """
    cursor = parse_cursor(token) if token else None
    if cursor and cursor.rank:
        raise InvalidCursor(token)
    found = _latest([condition], list(params), cursor, size + 1)
    return _page(found, cursor, size, ranked=False)


def group_size(key: str) -> int | None:
    """How many runs a comparison group has, or None where there is no such group."""
    row = fetch_tuple("SELECT run_count FROM runs_comparisongroup WHERE key = %s", [key])
    return row[0] if row else None


def _select(base: str, condition: str, params: Sequence[Any], order: str, limit: int) -> list[Row]:
    return fetch(f"{base} WHERE {condition} ORDER BY {order} LIMIT {limit:d}", params)


def _latest(clauses: list[str], params: list[Any], cursor: Cursor | None, limit: int) -> list[Row]:
    """From the newest on, or from a cursor on; a page before a cursor comes in reverse."""
    conditions, values = list(clauses), list(params)
    forward = cursor is None or cursor.forward
    if cursor:
        conditions.append("r.id < %s" if forward else "r.id > %s")
        values.append(cursor.id)
    order = "r.id DESC" if forward else "r.id"
    return _select(_RUNS, " AND ".join(conditions or ["1 = 1"]), values, order, limit)


def _by_rank(clauses: list[str], params: list[Any], cursor: Cursor | None, limit: int) -> list[Row]:
    """The ranked runs of a group and then the others, each part read along its index; before a cursor in reverse."""
    forward = cursor is None or cursor.forward
    sign, way = (">", "") if forward else ("<", " DESC")
    found: list[Row] = []
    for ranked in (True, False) if forward else (False, True):
        conditions = [*clauses, "s.rank IS NOT NULL" if ranked else "s.rank IS NULL"]
        values: list[int | str | UUID] = list(params)
        if cursor and bool(cursor.rank) == ranked:
            conditions.append(f"(s.rank, s.run_id) {sign} (%s, %s)" if ranked else f"s.run_id {sign} %s")
            values += [cursor.rank, cursor.id] if ranked else [cursor.id]
        elif cursor and forward == ranked:
            continue  # the cursor lies in the part that comes later in this direction
        order = f"s.rank{way}, s.run_id{way}" if ranked else f"s.run_id{way}"
        found += _select(_STANDINGS, " AND ".join(conditions), values, order, limit - len(found))
        if len(found) == limit:
            break
    return found


def _row(row: Row) -> RunRow:
    value = row["value"]
    product = " ".join(filter(None, (row["product"], row["form_factor"])))
    return RunRow(
        id=as_uuid(row["id"]),
        digest=row["digest"],
        title=f"{row['implementation']} · {row['operation_name']} · {row['workload']}",
        implementation=row["implementation"],
        operation=operation_link(row["operation_slug"], row["operation_name"]),
        workload=row["workload"],
        hardware=hardware_link(row["hardware"], product),
        source=source_link(row["source_slug"], row["source_name"]),
        status=row["status"],
        level=row["level"] or EvidenceLevel.REPORTED.slug,
        primary=None
        if value is None
        else Figure(row["metric"], row["statistic"], row["unit"], as_number(value), row["samples"]),
        rank=row["rank"],
        observed_at=as_instant(row["observed_at"]),
        published_at=as_instant(row["published_at"]),
        illustrative=bool(row["illustrative"]),
        protocol=row["protocol"],
        disputed=bool(row["disputed"]),
    )
