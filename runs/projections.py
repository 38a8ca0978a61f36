"""Standings and comparison groups, computed from the evidence by `policy`. Called by `runs.publication` alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from runs.models import ComparisonGroup, Run, Standing
from runs.policy import ranking
from runs.storage import chunks, insert, update


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """What a comparison group holds constant, by id; its key digests the same facts."""

    operation: UUID
    workload: UUID
    protocol: UUID
    environment: UUID
    correctness: str
    metric: str


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A new run came first in a group where another run was first before."""

    group: str
    run: UUID
    displaced: UUID
    value: float
    displaced_value: float


_MEMBER = (
    "comparison_key",
    "id",
    "status",
    "metric",
    "value",
    "low",
    "high",
    "source_native",
    "retraction__id",
    "supersession__id",
    "floor_confirmation__id",
    "standing__rank",
    "standing__reasons",
    "standing__version",
)


def rebuild(groups: Mapping[str, GroupFacts], now: datetime) -> list[NewRecord]:
    """Create the groups that are new, and bring all of them up to date. Returns the firsts that displaced others."""
    for chunk in chunks(groups):
        known = set(ComparisonGroup.objects.filter(key__in=chunk).values_list("key", flat=True))
        insert(
            ComparisonGroup,
            [
                {
                    "key": key,
                    "operation_id": groups[key].operation,
                    "workload_id": groups[key].workload,
                    "protocol_id": groups[key].protocol,
                    "environment_id": groups[key].environment,
                    "correctness_key": groups[key].correctness,
                    "metric_key": groups[key].metric,
                    "source_native": False,
                    "run_count": 0,
                    "ranked_count": 0,
                    "version": 0,
                    "changed_at": now,
                }
                for key in chunk
                if key not in known
            ],
        )
    return refresh(groups, now)


def refresh(keys: Iterable[str], now: datetime) -> list[NewRecord]:
    """Rank the runs of these groups anew and write what changed. Returns the firsts that displaced others."""
    records = []
    for chunk in chunks(keys):
        members: dict[str, list[Any]] = defaultdict(list)
        for row in Run.objects.filter(comparison_key__in=chunk).values_list(*_MEMBER):
            members[row[0]].append(row[1:])
        new, changed, counts = [], [], []
        for key in chunk:
            native = any(row[6] for row in members[key])
            positions = ranking.rank(
                (
                    ranking.Candidate(
                        id_,
                        status,
                        metric,
                        value,
                        retracted is not None,
                        superseded is not None,
                        low,
                        high,
                        below is not None,
                    )
                    for id_, status, metric, value, low, high, _, retracted, superseded, below, *_ in members[key]
                ),
                strict=not native,
            )
            for id_, *_, rank, reasons, version in members[key]:
                position = positions[id_]
                if version is None:
                    new.append(
                        {
                            "run_id": id_,
                            "group_id": key,
                            "rank": position.rank,
                            "reasons": list(position.reasons),
                            "version": 1,
                            "changed_at": now,
                        }
                    )
                elif (rank, tuple(reasons)) != (position.rank, position.reasons):
                    changed.append((position.rank, list(position.reasons), version + 1, now, id_))
            records += _new_record(key, members[key], positions)
            ranked = sum(position.rank is not None for position in positions.values())
            counts.append((len(positions), ranked, native, now, key))
        insert(Standing, new)
        update(Standing, ("rank", "reasons", "version", "changed_at"), changed)
        update(ComparisonGroup, ("run_count", "ranked_count", "source_native", "changed_at"), counts)
        ComparisonGroup.objects.filter(key__in=chunk).update(version=F("version") + 1)
    return records


def _new_record(key: str, members: Iterable[Any], positions: Mapping[Any, ranking.Position]) -> list[NewRecord]:
    before, after, values = [], [], {}
    for id_, _, _, value, *_, rank, _, version in members:
        values[id_] = value
        if rank == 1:
            before.append(id_)
        if positions[id_].rank == 1 and version is None:
            after.append(id_)
    if not (before and after) or positions[before[0]].rank == 1:
        return []
    return [NewRecord(key, after[0], before[0], values[after[0]], values[before[0]])]
