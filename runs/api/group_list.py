"""Comparison groups in the order of their keys, by keyset, as the search shows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final
from uuid import UUID

from runs.reads.rows import as_uuid, fetch
from runs.reads.search.conditions import Conditions
from runs.reads.search.facets import Facets
from runs.reads.search.groups import Candidate, best_runs, hit
from runs.reads.search.values import GroupHit
from runs.reads.search.vocabulary import StaleVocabulary, forget, vocabulary

_GROUPS: Final = """
SELECT g.key, g.operation_id, g.environment_id, g.workload_id, g.protocol_id, g.metric_key, g.source_native,
    g.run_count, g.ranked_count, w.summary, w.dtype
FROM runs_comparisongroup g JOIN runs_workload w ON w.id = g.workload_id
WHERE {conditions}
"""
_LIST: Final = _GROUPS + "ORDER BY g.key LIMIT {limit:d}"
_CONDITIONS: Final = {
    "operation": "g.operation_id = (SELECT id FROM runs_operation WHERE slug = %s)",
    "hardware": "g.environment_id IN (SELECT id FROM runs_environment WHERE hardware = %s)",
    "dtype": "w.dtype = %s",
}


def group_list(filters: Mapping[str, str], after: str, size: int) -> tuple[tuple[GroupHit, ...], str | None]:
    """One page of the groups whose keys follow `after`, and the key after which the next page begins.

    Three statements beside the vocabulary's, whatever the size.
    """
    clauses = [_CONDITIONS[name] for name in filters]
    params: list[Any] = list(filters.values())
    if after:
        clauses.append("g.key > %s")
        params.append(after)
    sql = _LIST.format(conditions=" AND ".join(clauses) or "1 = 1", limit=size + 1)
    found = [_candidate(row) for row in fetch(sql, params)]
    shown = found[:size]
    return _hits(shown), shown[-1].key if len(found) > size else None


def candidates_of(workloads: Collection[UUID]) -> list[Candidate]:
    """All groups of these workloads, in no order. One statement, and none where there are no workloads."""
    if not workloads:
        return []
    where = Conditions()
    where.member("g.workload_id", workloads)
    return [_candidate(row) for row in fetch(_GROUPS.format(conditions=where), where.params)]


def _hits(found: list[Candidate]) -> tuple[GroupHit, ...]:
    for tried in range(2):
        known = vocabulary()
        try:
            best = best_runs(found, Facets(), known)
            return tuple(hit(group, best.get(group.key), known) for group in found)
        except StaleVocabulary:
            if tried:
                raise
            forget()
    return ()


def _candidate(row: Mapping[str, Any]) -> Candidate:
    return Candidate(
        key=row["key"],
        operation=as_uuid(row["operation_id"]),
        environment=as_uuid(row["environment_id"]),
        workload=as_uuid(row["workload_id"]),
        protocol=as_uuid(row["protocol_id"]),
        metric=row["metric_key"],
        source_native=bool(row["source_native"]),
        runs=row["run_count"],
        ranked=row["ranked_count"],
        summary=row["summary"],
        dtype=row["dtype"],
        distance=0.0,
    )
