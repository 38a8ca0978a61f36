"""The history of comparison groups' first places, told by `runs.policy.records` from what the tables hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from runs.policy.records import Entry, Step, history
from runs.reads.links import implementation_link
from runs.reads.rows import Row, as_instant, as_number, as_uuid, fetch
from runs.reads.values import Figure, Link

_MEMBERS: Final = """
SELECT r.id, r.comparison_key, r.metric, r.statistic, r.unit, r.value, r.low, r.high, r.samples, r.observed_at,
    r.published_at, i.slug, i.title, g.source_native, x.at AS retracted, z.at AS superseded, f.at AS floored
FROM runs_run r
JOIN runs_comparisongroup g ON g.key = r.comparison_key
JOIN runs_implementation i ON i.id = r.implementation_id
LEFT JOIN runs_retraction x ON x.run_id = r.id
LEFT JOIN runs_supersession z ON z.run_id = r.id
LEFT JOIN runs_floorconfirmation f ON f.run_id = r.id
WHERE r.comparison_key IN ({keys}) AND r.status = 'passed' AND r.value > 0
ORDER BY r.id
"""


@dataclass(frozen=True, slots=True)
class Holder:
    """A run that holds, or held, the first place."""

    run: UUID
    implementation: Link
    primary: Figure
    observed_at: datetime
    published_at: datetime


@dataclass(frozen=True, slots=True)
class RecordStep:
    """A change of the first place.

    `first` is None when nobody was left to take it, `displaced` None where nobody held it; `ratio` is the first's value
    over that of the run displaced. `cause`: a new run was observed, or the holder was withdrawn.
    """

    at: datetime
    cause: str
    first: Holder | None
    displaced: Holder | None
    ratio: float | None


def steps_of(keys: Sequence[str]) -> Mapping[str, tuple[RecordStep, ...]]:
    """The steps of each of these groups, oldest first. One statement; it reads the runs of these groups alone."""
    marks = ", ".join(["%s"] * len(keys)) or "NULL"
    members: dict[str, list[Row]] = defaultdict(list)
    for row in fetch(_MEMBERS.format(keys=marks), list(keys)):
        members[row["comparison_key"]].append(row)
    return {key: _steps(rows) for key, rows in members.items()}


def _steps(rows: list[Row]) -> tuple[RecordStep, ...]:
    holders = {row["id"]: _holder(row) for row in rows}
    told = history(map(_entry, rows), metric=rows[0]["metric"], strict=not rows[0]["source_native"])
    by_key = {str(as_uuid(id_)): holder for id_, holder in holders.items()}
    return tuple(_step(step, by_key) for step in told)


def _entry(row: Row) -> Entry:
    withdrawn = [as_instant(row[name]) for name in ("retracted", "superseded", "floored") if row[name] is not None]
    return Entry(
        str(as_uuid(row["id"])),
        row["value"],
        as_instant(row["observed_at"]),
        as_instant(row["published_at"]),
        min(withdrawn, default=None),
        row["low"],
        row["high"],
    )


def _holder(row: Row) -> Holder:
    return Holder(
        as_uuid(row["id"]),
        implementation_link(row["slug"], row["title"]),
        Figure(row["metric"], row["statistic"], row["unit"], as_number(row["value"]), row["samples"]),
        as_instant(row["observed_at"]),
        as_instant(row["published_at"]),
    )


def _step(step: Step, holders: Mapping[str, Any]) -> RecordStep:
    return RecordStep(
        step.at,
        str(step.cause),
        holders[step.first.key] if step.first else None,
        holders[step.displaced.key] if step.displaced else None,
        step.ratio,
    )
