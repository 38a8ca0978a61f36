"""Whom a run stands beside in its comparison group: the first, the one before it and the one after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from runs.policy.ranking import HIGHER_IS_BETTER
from runs.reads.rows import Row, as_number, as_uuid, fetch
from runs.reads.values import Figure

_FIRST: Final = """
SELECT r.id FROM runs_run r JOIN runs_standing t ON t.run_id = r.id
WHERE r.comparison_key = %s AND t.rank = 1 ORDER BY r.value{way}, r.id LIMIT 1
"""
_BESIDE: Final = """
SELECT t.run_id FROM runs_standing t
WHERE t.group_id = %s AND t.rank IS NOT NULL AND (t.rank, t.run_id) {sign} (%s, %s)
ORDER BY t.rank{way}, t.run_id{way} LIMIT 1
"""
_NEIGHBOURS: Final = """
SELECT n.place, r.id, s.rank, i.title, r.metric, r.statistic, r.unit, r.value, r.samples
FROM (
    SELECT 'first' AS place, ({first}) AS id
    UNION ALL SELECT 'before', ({before})
    UNION ALL SELECT 'after', ({after})
) n
JOIN runs_run r ON r.id = n.id
JOIN runs_standing s ON s.run_id = r.id
JOIN runs_implementation i ON i.id = r.implementation_id
"""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A ranked run of the same group."""

    id: UUID
    implementation: str
    rank: int
    primary: Figure


@dataclass(frozen=True, slots=True)
class Neighbours:
    """`first` is None where the run itself has the first rank, `before` and `after` where nobody stands there."""

    first: Neighbour | None = None
    before: Neighbour | None = None
    after: Neighbour | None = None


def neighbours(key: str, run: UUID, rank: int | None, metric: str) -> Neighbours:
    """The neighbours of a run in the group of this key, ends of indexes all of them. One statement.

    A run without a rank has the first alone. `metric` is the group's: it says which direction is better.
    """
    sql = _NEIGHBOURS.format(
        first=_FIRST.format(way=" DESC" if metric in HIGHER_IS_BETTER else ""),
        before=_BESIDE.format(sign="<", way=" DESC"),
        after=_BESIDE.format(sign=">", way=""),
    )
    found = {row["place"]: _neighbour(row) for row in fetch(sql, [key, key, rank, run, key, rank, run])}
    first = found.get("first")
    return Neighbours(first if first and rank != 1 else None, found.get("before"), found.get("after"))


def _neighbour(row: Row) -> Neighbour:
    primary = Figure(row["metric"], row["statistic"], row["unit"], as_number(row["value"]), row["samples"])
    return Neighbour(as_uuid(row["id"]), row["title"], row["rank"], primary)
