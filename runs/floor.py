"""New runs against the physical floor: which of them are faster than their hardware could be.

The policy is `runs.policy.roofline`; here the specs that it needs are fetched. Only publication calls this.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runs.models import Environment, Operation, Protocol, Run, Workload
from runs.models.base import ManifestRecord
from runs.policy.roofline import Floor, NoClaim, floor
from runs.storage import chunks

_REFERRED: tuple[tuple[str, type[ManifestRecord]], ...] = (
    ("operation_id", Operation),
    ("workload_id", Workload),
    ("protocol_id", Protocol),
    ("environment_id", Environment),
)
_COLUMNS = ("id", "comparison_key", "status", "metric", "unit", "value", *(column for column, _ in _REFERRED))


@dataclass(frozen=True, slots=True)
class BelowFloor:
    """A run that is below the physical floor: its latency in ns, and the floor that stands above it."""

    run: UUID
    comparison_key: str
    value: float
    floor: Floor


def below_floor(rows: Iterable[Mapping[str, Any]]) -> list[BelowFloor]:
    """The runs among these, given by column name, that are below the floor.

    Only what passed and measured a latency in ns is looked at. Reads each record that the runs refer to once.
    """
    checked = [row for row in rows if row["status"] == "passed" and (row["metric"], row["unit"]) == ("latency", "ns")]
    specs = {column: _specs(model, {row[column] for row in checked}) for column, model in _REFERRED}
    claims: dict[tuple[UUID, ...], Floor | NoClaim] = {}
    found = []
    for row in checked:
        case = tuple(row[column] for column, _ in _REFERRED)
        if case not in claims:
            claims[case] = floor(*(specs[column][row[column]] for column, _ in _REFERRED))
        claim = claims[case]
        if isinstance(claim, Floor) and claim.is_above(row["value"]):
            found.append(BelowFloor(row["id"], row["comparison_key"], row["value"], claim))
    return found


def is_below(run: Run) -> bool:
    """Whether one published run is below the floor."""
    return bool(below_floor(Run.objects.filter(id=run.id).values(*_COLUMNS)))


def _specs(model: type[ManifestRecord], ids: Iterable[UUID]) -> dict[UUID, Mapping[str, Any]]:
    wanted: Sequence[UUID] = sorted(ids)
    return {
        id_: json.loads(canonical)["spec"]
        for chunk in chunks(wanted)
        for id_, canonical in model._default_manager.filter(id__in=chunk).values_list("id", "canonical")
    }
