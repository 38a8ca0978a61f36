"""The records: who is first in each comparison group now, since when, and what it displaced."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.urls import reverse

from runs.charts import Steps
from runs.reads.cursors import Cursor, InvalidCursor, parse_cursor
from runs.reads.format import common_unit, date, figure
from runs.reads.links import group_url, hardware_link, operation_link, protocol_link
from runs.reads.record_steps import RecordStep, steps_of
from runs.reads.rows import Row, as_instant, as_uuid, fetch
from runs.reads.values import Link

PAGE: Final = 25
FEED: Final = 50
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_HEAD: Final = """
SELECT {columns}, g.key, g.source_native, g.run_count, g.ranked_count,
    o.slug AS operation_slug, o.name AS operation_name, w.summary AS workload,
    v.hardware, v.product, v.form_factor, v.title AS environment, c.digest AS protocol_digest, c.title AS protocol_title
FROM {first}
JOIN runs_operation o ON o.id = g.operation_id
JOIN runs_workload w ON w.id = g.workload_id
JOIN runs_environment v ON v.id = g.environment_id
JOIN runs_protocol c ON c.id = g.protocol_id
WHERE {condition}
"""
# The runs that are first in their groups, each group once: of those that share the first rank, the one observed first.
_FIRST: Final = _HEAD.format(
    columns="r.id, r.observed_at, r.illustrative",
    # A cross join is read in this order: along the runs, as far as the page goes.
    first="""runs_run r CROSS JOIN runs_standing s CROSS JOIN runs_comparisongroup g""",
    condition="""s.run_id = r.id AND s.rank = 1 AND g.key = s.group_id AND NOT EXISTS (
    SELECT 1 FROM runs_standing t JOIN runs_run e ON e.id = t.run_id
    WHERE t.group_id = s.group_id AND t.rank = 1 AND (e.observed_at, e.id) < (r.observed_at, r.id))""",
)
_GROUP: Final = _HEAD.format(
    columns="EXISTS (SELECT 1 FROM runs_run e WHERE e.comparison_key = g.key AND e.illustrative) AS illustrative",
    first="runs_comparisongroup g",
    condition="g.key >= %s AND g.key < %s ORDER BY g.key LIMIT 2",
)
_DISPLACED: Final = """
AND NOT r.illustrative AND EXISTS (
    SELECT 1 FROM runs_run e
    WHERE e.comparison_key = r.comparison_key AND e.status = 'passed' AND e.value > 0 AND e.observed_at < r.observed_at)
"""
_FILTERS: Final = {
    "operation": " AND r.operation_id = (SELECT id FROM runs_operation WHERE slug = %s)",
    "hardware": " AND r.hardware = %s",
}


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A comparison group and how its first place stands.

    `current` is the last step of its history; None where no run ever stood.
    """

    key: str
    url: str  # of its history
    group: str  # the address of the group
    operation: Link
    workload: str
    hardware: Link
    environment: str
    protocol: Link
    source_native: bool
    illustrative: bool
    runs: int
    ranked: int
    current: RecordStep | None


@dataclass(frozen=True, slots=True)
class RecordList:
    """A keyset page: those observed last first. `next` and `previous` are cursors."""

    rows: tuple[RecordRow, ...]
    next: str | None
    previous: str | None


@dataclass(frozen=True, slots=True)
class RecordPage:
    """A group's history, oldest step first."""

    row: RecordRow
    steps: tuple[RecordStep, ...]


def record_list(filters: dict[str, str], token: str = "") -> RecordList:
    """One page of the records under these filters. Two statements. Raises InvalidCursor."""
    cursor = parse_cursor(token) if token else None
    forward = cursor is None or cursor.forward
    clauses = "".join(_FILTERS[name] for name in filters)
    params: list[Any] = list(filters.values())
    if cursor:
        clauses += f" AND (r.observed_at, r.id) {'<' if forward else '>'} (%s, %s)"
        params += [_moment(cursor), cursor.id]
    way = " DESC" if forward else ""
    found = _first(f"{clauses} ORDER BY r.observed_at{way}, r.id{way} LIMIT {PAGE + 1}", params)
    more = len(found) > PAGE
    shown = found[:PAGE] if forward else found[:PAGE][::-1]
    if not shown:
        return RecordList((), None, None)
    after, before = (more if forward else True), (cursor is not None if forward else more)
    return RecordList(
        _rows(shown),
        str(_cursor(shown[-1], onward=True)) if after else None,
        str(_cursor(shown[0], onward=False)) if before else None,
    )


def latest_records() -> tuple[RecordRow, ...]:
    """The runs published last that took a first place from another, for those who follow. Two statements."""
    found = _rows(_first(f"{_DISPLACED} ORDER BY r.id DESC LIMIT {FEED}", []))
    return tuple(row for row in found if row.current and row.current.first and row.current.displaced)


def record_page(digits: str) -> RecordPage | None:
    """The history of the group whose key begins so; None where there is none, or more than one. Two statements."""
    found = fetch(_GROUP, [f"sha256:{digits}", f"sha256:{digits}g"])
    steps = steps_of([row["key"] for row in found])
    if len(found) != 1:
        return None
    told = steps.get(found[0]["key"], ())
    return RecordPage(_row(found[0], told), told)


def chart(page: RecordPage) -> Steps | None:
    """The first place's value at each change; None where fewer than two changes left a first."""
    held = [(step.at, step.first.primary) for step in page.steps if step.first]
    if len(held) < 2:
        return None
    first = held[0][1]
    unit, factor = common_unit([primary.value for _, primary in held], first.unit)
    metric = first.metric.replace("_", " ")
    return Steps(
        title=f"{page.row.operation.name} on {page.row.hardware.name}: the first {first.statistic} {metric} over time",
        description=f"{page.row.workload}. "
        + "; ".join(f"{figure(primary)} from {date(at)}" for at, primary in held)
        + ".",
        unit=f"{first.statistic} {metric}, {unit}",
        points=tuple((at.timestamp(), primary.value * factor) for at, primary in held),
    )


def _first(rest: str, params: list[Any]) -> list[Row]:
    return fetch(_FIRST + rest, params)


def _rows(found: list[Row]) -> tuple[RecordRow, ...]:
    steps = steps_of([row["key"] for row in found])
    return tuple(_row(row, steps[row["key"]]) for row in found)


def _row(row: Row, steps: tuple[RecordStep, ...]) -> RecordRow:
    return RecordRow(
        key=row["key"],
        url=reverse("record", args=[row["key"][7:23]]),
        group=group_url(row["key"]),
        operation=operation_link(row["operation_slug"], row["operation_name"]),
        workload=row["workload"],
        hardware=hardware_link(row["hardware"], " ".join(filter(None, (row["product"], row["form_factor"])))),
        environment=row["environment"],
        protocol=protocol_link(row["protocol_digest"], row["protocol_title"]),
        source_native=bool(row["source_native"]),
        illustrative=bool(row["illustrative"]),
        runs=row["run_count"],
        ranked=row["ranked_count"],
        current=steps[-1] if steps else None,
    )


def _cursor(row: Row, *, onward: bool) -> Cursor:
    """A place in the order of observation: microseconds since 1970, and the run."""
    since = as_instant(row["observed_at"]) - _EPOCH
    return Cursor(as_uuid(row["id"]), onward, max(since // timedelta(microseconds=1), 0))


def _moment(cursor: Cursor) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=cursor.rank)
    except OverflowError as error:
        raise InvalidCursor(str(cursor)) from error
