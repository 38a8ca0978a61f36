"""The runners: whose they are, on which hardware, whether they are trusted, and how steady they have been."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.urls import reverse

from runs.reads import facts
from runs.reads.cursors import Cursor
from runs.reads.reruns.documents import stored
from runs.reads.reruns.words import KEY_STATES, VERDICTS, verdict_word
from runs.reads.rows import Row, as_instant, as_number, as_uuid, fetch, fetch_tuple
from runs.reads.values import Count, Fact

CALIBRATION_ROWS: Final = 60
"""How many sentinel rows a page of the history has."""

_RUNNERS: Final = """
SELECT n.id, n.name, n.operator, n.product, n.keyid, n.public, n.registered_at,
    (SELECT d.decision FROM runs_signerdecision d WHERE d.signer_id = n.id ORDER BY d.at DESC, d.id DESC LIMIT 1)
    AS decision,
    (SELECT count(*) FROM runs_rerunresult x WHERE x.runner_id = n.id) AS results,
    (SELECT max(x.finished_at) FROM runs_rerunresult x WHERE x.runner_id = n.id) AS last_result_at
FROM runs_signer n WHERE n.role = 'runner'
"""
_DECISIONS: Final = "SELECT decision, reason, actor, at FROM runs_signerdecision WHERE signer_id = %s ORDER BY at, id"
_VERDICTS: Final = "SELECT verdict, count(*) AS reruns FROM runs_rerunresult WHERE runner_id = %s GROUP BY verdict"
_LATEST: Final = "SELECT envelope FROM runs_rerunresult WHERE runner_id = %s ORDER BY finished_at DESC, id DESC LIMIT 1"
_CALIBRATIONS: Final = """
SELECT id, batch, sentinel, before, after, at FROM runs_calibration
WHERE runner_id = %s {older} ORDER BY id DESC LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class RunnerRow:
    """A runner in the list."""

    name: str
    operator: str
    product: str
    keyid: str
    state: str  # registered, approved, suspended, revoked
    registered_at: datetime
    results: int
    last_result_at: datetime | None
    url: str


@dataclass(frozen=True, slots=True)
class KeyDecision:
    """What an administrator decided about the key, and why."""

    decision: str
    reason: str
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class CalibrationRow:
    """One sentinel kernel before and after one batch, in ns."""

    batch: str
    sentinel: str
    before_ns: float | None
    after_ns: float | None
    at: datetime


@dataclass(frozen=True, slots=True)
class SentinelSummary:
    """How steady a sentinel has been over the rows of the page."""

    name: str
    rows: int
    median_ns: float
    least_ns: float
    most_ns: float


@dataclass(frozen=True, slots=True)
class RunnerPage:
    """Everything that a runner's page shows."""

    row: RunnerRow
    public: str
    history: tuple[KeyDecision, ...]
    verdicts: tuple[Count, ...]
    environment: tuple[Fact, ...]  # read off the host for its latest result; empty before the first
    calibrations: tuple[CalibrationRow, ...]  # the latest first
    sentinels: tuple[SentinelSummary, ...]
    older: str | None  # the cursor of the next page of calibrations
    permalink: str


def runner_rows() -> tuple[RunnerRow, ...]:
    """All runners by name, revoked ones included. One statement."""
    return tuple(_row(row) for row in fetch(f"{_RUNNERS} ORDER BY n.name"))


def runner_page(name: str, cursor: Cursor | None = None) -> RunnerPage | None:
    """The page of a runner, or None where there is none. Five statements."""
    found = fetch(f"{_RUNNERS} AND n.name = %s", [name])
    if not found:
        return None
    row = found[0]
    calibrations, older = _calibrations(row["id"], cursor)
    shown = _row(row)
    return RunnerPage(
        row=shown,
        public=row["public"],
        history=tuple(
            KeyDecision(each["decision"], each["reason"], each["actor"], as_instant(each["at"]))
            for each in fetch(_DECISIONS, [row["id"]])
        ),
        verdicts=_verdicts(row["id"]),
        environment=_environment(row["id"]),
        calibrations=calibrations,
        sentinels=_summaries(calibrations),
        older=older,
        permalink=settings.BASE_URL + shown.url,
    )


def calibration_history(name: str) -> tuple[CalibrationRow, ...] | None:
    """What the chart of a runner draws: its latest calibrations. None where there is no such runner."""
    found = fetch_tuple("SELECT id FROM runs_signer WHERE role = 'runner' AND name = %s", [name])
    return None if found is None else _calibrations(found[0], None)[0]


def _row(row: Row) -> RunnerRow:
    return RunnerRow(
        name=row["name"],
        operator=row["operator"],
        product=row["product"],
        keyid=row["keyid"],
        state=KEY_STATES[row["decision"] or "register"],
        registered_at=as_instant(row["registered_at"]),
        results=row["results"],
        last_result_at=as_instant(row["last_result_at"]) if row["last_result_at"] else None,
        url=reverse("runner", args=[row["name"]]),
    )


def _verdicts(signer: Any) -> tuple[Count, ...]:
    counts = {row["verdict"]: row["reruns"] for row in fetch(_VERDICTS, [signer])}
    return tuple(Count(verdict, verdict_word(verdict), counts[verdict]) for verdict in VERDICTS if verdict in counts)


def _environment(signer: Any) -> tuple[Fact, ...]:
    found = fetch_tuple(_LATEST, [signer])
    environment = stored(found[0]).predicate.get("environment") if found else None
    return facts.environment(environment["spec"]) if environment else ()


def _calibrations(signer: Any, cursor: Cursor | None) -> tuple[tuple[CalibrationRow, ...], str | None]:
    params: list[Any] = [signer, *([cursor.id] if cursor else [])]
    found = fetch(_CALIBRATIONS.format(older="AND id < %s" if cursor else ""), [*params, CALIBRATION_ROWS + 1])
    rows = tuple(
        CalibrationRow(
            row["batch"],
            row["sentinel"],
            None if row["before"] is None else as_number(row["before"]),
            None if row["after"] is None else as_number(row["after"]),
            as_instant(row["at"]),
        )
        for row in found[:CALIBRATION_ROWS]
    )
    more = len(found) > CALIBRATION_ROWS
    return rows, str(Cursor(as_uuid(found[CALIBRATION_ROWS - 1]["id"]), True)) if more else None


def _summaries(rows: Iterable[CalibrationRow]) -> tuple[SentinelSummary, ...]:
    times: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        times[row.sentinel] += [value for value in (row.before_ns, row.after_ns) if value is not None]
    return tuple(
        SentinelSummary(name, len(found), statistics.median(found), min(found), max(found))
        for name, found in sorted(times.items())
        if found
    )
