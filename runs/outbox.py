"""Telling others what happened to the evidence. Called by publication, in the transaction of what happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from runs.floor import BelowFloor
from runs.models import OutboxEntry, Run
from runs.projections import NewRecord
from runs.storage import insert


def announce_runs(runs: Sequence[Mapping[str, Any]], records: Sequence[NewRecord], now: datetime) -> None:
    """New runs, and those of them that displaced the first of their group."""
    entries = [_entry("new_run", run["id"], run["comparison_key"], {}, now) for run in runs]
    for record in records:
        payload = {
            "displaced": str(record.displaced),
            "value": record.value,
            "displacedValue": record.displaced_value,
        }
        entries.append(_entry("new_record", record.run, record.group, payload, now))
    insert(OutboxEntry, entries)


def announce_below_floor(below: Sequence[BelowFloor], now: datetime) -> None:
    """New runs that are faster than their hardware could be, for a moderator to look at."""
    insert(
        OutboxEntry,
        [
            _entry(
                "below_floor",
                each.run,
                each.comparison_key,
                {"value": each.value, "floor": each.floor.ns, "impossible": each.floor.impossible_ns},
                now,
            )
            for each in below
        ],
    )


def announce(topic: str, run: Run, payload: Mapping[str, Any], now: datetime) -> None:
    """Something that happened to one run."""
    insert(OutboxEntry, [_entry(topic, run.id, run.comparison_key, payload, now)])


def _entry(topic: str, run: Any, key: str, payload: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    return {"topic": topic, "run_id": run, "comparison_key": key, "payload": dict(payload), "at": now}
