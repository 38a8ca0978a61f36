"""The operations of the index, by family."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import Any, Final

from runs.reads.links import operation_link
from runs.reads.operations.values import Family, OperationList, OperationRow
from runs.reads.places import read_place, write_place
from runs.reads.rows import fetch

PAGE: Final = 200

_LIST: Final = """
SELECT o.id, o.slug, o.name, o.family, count(g.key) AS found, coalesce(sum(g.run_count), 0) AS runs,
    count(DISTINCT g.workload_id) AS workloads, count(DISTINCT g.environment_id) AS environments
FROM (SELECT * FROM runs_operation WHERE {after} ORDER BY family, name, slug LIMIT {limit}) o
LEFT JOIN runs_comparisongroup g ON g.operation_id = o.id
GROUP BY o.id, o.slug, o.name, o.family ORDER BY o.family, o.name, o.slug
"""
_ALIASES: Final = "SELECT operation_id, alias FROM runs_operationalias WHERE operation_id IN ({ids}) ORDER BY alias"


def operation_list(after: str = "") -> OperationList:
    """One page of them. Two statements. Raises InvalidCursor."""
    place = read_place(after, 3)
    condition = "(family, name, slug) > (%s, %s, %s)" if place else "1 = 1"
    found = fetch(_LIST.format(after=condition, limit=PAGE + 1), place or [])
    rows = found[:PAGE]
    ids = [row["id"] for row in rows] or [None]
    aliases: dict[Any, list[str]] = defaultdict(list)
    for row in fetch(_ALIASES.format(ids=", ".join(["%s"] * len(ids))), ids):
        aliases[row["operation_id"]].append(row["alias"])
    families = tuple(
        Family(
            name,
            tuple(
                OperationRow(
                    operation_link(row["slug"], row["name"]),
                    tuple(aliases[row["id"]]),
                    int(row["runs"]),
                    row["found"],
                    row["workloads"],
                    row["environments"],
                )
                for row in members
            ),
        )
        for name, members in groupby(rows, key=lambda row: row["family"])
    )
    last = rows[-1] if len(found) > PAGE else None
    return OperationList(families, write_place(last["family"], last["name"], last["slug"]) if last else None)
