"""Comparison groups as a search lists them: found by conditions, put in order, cut into pages, with their best runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final
from uuid import UUID

from runs.policy.level import EvidenceLevel
from runs.reads.links import group_url, hardware_link, operation_link, source_link
from runs.reads.rows import Row, as_instant, as_number, as_uuid, fetch
from runs.reads.search.conditions import RUNS, Conditions, run_conditions
from runs.reads.search.facets import Facets, Ids
from runs.reads.search.values import Difference, GroupHit
from runs.reads.search.vocabulary import Vocabulary
from runs.reads.values import Figure, RunRow

BOUND: Final = 1_000  # groups that one list looks at; a search that finds more is too wide to be read

_GROUPS: Final = """
SELECT g.key, g.operation_id, g.environment_id, g.workload_id, g.protocol_id, g.metric_key, g.source_native,
    g.run_count, g.ranked_count, w.summary, w.dtype
FROM runs_comparisongroup g JOIN runs_workload w ON w.id = g.workload_id
WHERE {where} LIMIT {limit:d}
"""
# Materialised, so that a distance is computed once and not wherever it is compared.
_NEAREST: Final = """
WITH near AS MATERIALIZED (
    SELECT g.key, g.operation_id, g.environment_id, g.workload_id, g.protocol_id, g.metric_key, g.source_native,
        g.run_count, g.ranked_count, w.summary, w.dtype, {distance} AS distance
    FROM runs_comparisongroup g JOIN runs_workload w ON w.id = g.workload_id
    WHERE {where})
SELECT near.*, count(*) OVER () AS total FROM near WHERE {beyond} ORDER BY distance, key LIMIT {limit:d}
"""
_BEST: Final = """
SELECT g.key, (
    SELECT s.run_id FROM runs_standing s{joined}
    WHERE s.group_id = g.key AND s.rank IS NOT NULL AND {where} ORDER BY s.rank, s.run_id LIMIT 1) AS run_id
FROM runs_comparisongroup g WHERE {keys}
"""
# Names come from the vocabulary: with each joined table the database plans longer than it reads.
_RUNS: Final = """
SELECT r.id, r.comparison_key, r.digest, r.implementation_id, r.source_id, r.status, r.metric, r.statistic, r.unit,
    r.value, r.samples, r.observed_at, r.published_at, r.illustrative, s.rank, e.level, e.disputed
FROM runs_run r JOIN runs_standing s ON s.run_id = r.id LEFT JOIN runs_evidencelevel e ON e.run_id = r.id
WHERE {where}
"""
_JOINED: Final = f" JOIN ({RUNS}) ON r.id = s.run_id"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A group that was found, before anything else of it is read."""

    key: str
    operation: UUID
    environment: UUID
    workload: UUID
    protocol: UUID
    metric: str
    source_native: bool
    runs: int
    ranked: int
    summary: str
    dtype: str
    distance: float


def _candidate(row: Row) -> Candidate:
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
        distance=row.get("distance") or 0.0,
    )


def find(where: Conditions, vocabulary: Vocabulary, preferred: Ids) -> tuple[list[Candidate], bool]:
    """The groups under some conditions, preferred operations first, and whether there are more than a list looks at.

    Where there are more, it is left to the database which of them are looked at, so that no statement reads them all.
    """
    rows = fetch(_GROUPS.format(where=where, limit=BOUND + 1), where.params)
    found = sorted(map(_candidate, rows[:BOUND]), key=partial(_order, vocabulary, preferred))
    return found, len(rows) > BOUND


def find_nearest(
    where: Conditions,
    distance: tuple[str, list[Any]],
    beyond: Conditions,
    vocabulary: Vocabulary,
    preferred: Ids,
    *,
    most: int,
) -> tuple[list[Candidate], int]:
    """At most so many groups under some conditions, the nearest first, and how many there are.

    `beyond` is about their distance and the rest of a row.
    """
    expression, params = distance
    sql = _NEAREST.format(distance=expression, where=where, beyond=beyond, limit=most)
    rows = fetch(sql, [*params, *where.params, *beyond.params])
    found = sorted(map(_candidate, rows), key=lambda one: (round(one.distance, 6), _order(vocabulary, preferred, one)))
    return found, rows[0]["total"] if rows else 0


def _order(vocabulary: Vocabulary, preferred: Ids, group: Candidate) -> tuple[Any, ...]:
    """By operation, hardware and size, times before memory; the preferred operations first."""
    return (
        group.operation not in preferred,
        vocabulary.operations[group.operation].name.lower(),
        vocabulary.environments[group.environment].product.lower(),
        group.dtype,
        _sizes(group.summary),
        not group.metric.startswith("latency"),
        vocabulary.protocols[group.protocol].name.lower(),
        group.key,
    )


@lru_cache(maxsize=2**14)
def _sizes(summary: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", summary)))


def best_runs(groups: Iterable[Candidate], facets: Facets, vocabulary: Vocabulary) -> dict[str, RunRow]:
    """The best ranked run of each group that meets what is asked of runs, by key.

    Two statements, however many groups.
    """
    by_key = {group.key: group for group in groups}
    if not by_key:
        return {}
    where, chosen, wanted = run_conditions(facets), Conditions(), Conditions()
    chosen.member("g.key", by_key)
    joined = _JOINED if where.clauses else ""
    rows = fetch(_BEST.format(joined=joined, where=where, keys=chosen), [*where.params, *chosen.params])
    wanted.member("r.id", {as_uuid(row["run_id"]) for row in rows if row["run_id"]})
    return {
        row["comparison_key"]: _run(row, by_key[row["comparison_key"]], vocabulary)
        for row in fetch(_RUNS.format(where=wanted), wanted.params)
    }


def _run(row: Row, group: Candidate, vocabulary: Vocabulary) -> RunRow:
    """A ranked run of a group; a ranked run has a primary measurement."""
    operation, environment = vocabulary.operations[group.operation], vocabulary.environments[group.environment]
    implementation = vocabulary.implementations[as_uuid(row["implementation_id"])]
    source = vocabulary.sources[as_uuid(row["source_id"])]
    return RunRow(
        id=as_uuid(row["id"]),
        digest=row["digest"],
        title=f"{implementation.title} · {operation.name} · {group.summary}",
        implementation=implementation.title,
        operation=operation_link(operation.slug, operation.name),
        workload=group.summary,
        hardware=hardware_link(environment.hardware, environment.product),
        source=source_link(source.slug, source.name),
        status=row["status"],
        level=row["level"] or EvidenceLevel.REPORTED.slug,
        primary=Figure(row["metric"], row["statistic"], row["unit"], as_number(row["value"]), row["samples"]),
        rank=row["rank"],
        observed_at=as_instant(row["observed_at"]),
        published_at=as_instant(row["published_at"]),
        illustrative=bool(row["illustrative"]),
        protocol=vocabulary.protocols[group.protocol].name,
        disputed=bool(row["disputed"]),
    )


def hit(
    group: Candidate, best: RunRow | None, vocabulary: Vocabulary, differences: Sequence[Difference] = ()
) -> GroupHit:
    """A group as a page shows it."""
    operation, environment = vocabulary.operations[group.operation], vocabulary.environments[group.environment]
    return GroupHit(
        key=group.key,
        url=group_url(group.key),
        operation=operation_link(operation.slug, operation.name),
        workload=group.summary,
        dtype=group.dtype,
        hardware=hardware_link(environment.hardware, environment.product),
        environment=environment.title,
        protocol=vocabulary.protocols[group.protocol].name,
        metric=group.metric,
        source_native=group.source_native,
        runs=group.runs,
        ranked=group.ranked,
        best=best,
        differences=tuple(differences),
    )
