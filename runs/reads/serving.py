"""Serving runs: a list, and the page of one. They are never listed, ranked or compared with kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from django.conf import settings
from django.urls import reverse

from runs.manifests.order import display_order, in_display_order
from runs.reads.cursors import InvalidCursor
from runs.reads.links import project_link, source_link
from runs.reads.places import read_place, write_place
from runs.reads.rows import Row, as_instant, as_json, as_number, as_uuid, fetch, fetch_tuple
from runs.reads.values import Event, Fact, Figure, Link, SourceLine

PAGE: Final = 50
LONGEST: Final = 2_000  # characters of a value in one line of facts; the manifest has it whole

_ROW: Final = """
SELECT r.id, r.digest, r.title, r.status, r.accelerator, r.accelerators, r.observed_at, r.published_at,
    m.name AS model, t.name AS stack, c.name AS configuration, w.name AS workload,
    q.slug AS source_slug, q.name AS source_name,
    d.id AS withdrawn, f.metric, f.statistic, f.unit, f.value, f.samples
FROM (SELECT * FROM runs_servingrun WHERE {condition} ORDER BY id DESC LIMIT {limit}) r
JOIN runs_modelrevision m ON m.id = r.model_id
JOIN runs_servingconfiguration c ON c.id = r.configuration_id
JOIN runs_servingstackrevision t ON t.id = c.stack_id
JOIN runs_servingworkload w ON w.id = r.workload_id
JOIN runs_source q ON q.id = r.source_id
LEFT JOIN runs_servingwithdrawal d ON d.run_id = r.id
LEFT JOIN runs_servingmeasurement f ON f.run_id = r.id AND f.position = 0
ORDER BY r.id DESC
"""
_PAGE: Final = """
SELECT r.id, r.digest, r.title, r.status, r.canonical, r.metadata, r.observed_at, r.published_at,
    r.accelerator, r.accelerators,
    m.name AS model, m.canonical AS model_spec, m.digest AS model_digest,
    t.name AS stack, t.canonical AS stack_spec, t.digest AS stack_digest, p.slug AS project_slug, p.name AS project,
    c.name AS configuration, c.canonical AS configuration_spec, c.digest AS configuration_digest,
    w.name AS workload, w.canonical AS workload_spec, w.digest AS workload_digest,
    q.slug AS source_slug, q.name AS source_name, q.url AS source_url, q.license AS source_license,
    q.attribution AS source_attribution,
    s.name AS snapshot_name, s.digest AS snapshot_digest,
    d.reason, d.actor, d.at, d.successor_id
FROM runs_servingrun r
JOIN runs_modelrevision m ON m.id = r.model_id
JOIN runs_servingconfiguration c ON c.id = r.configuration_id
JOIN runs_servingstackrevision t ON t.id = c.stack_id
LEFT JOIN runs_project p ON p.id = t.project_id
JOIN runs_servingworkload w ON w.id = r.workload_id
JOIN runs_source q ON q.id = r.source_id
LEFT JOIN runs_sourcesnapshot s ON s.id = r.snapshot_id
LEFT JOIN runs_servingwithdrawal d ON d.run_id = r.id
WHERE r.id = %s
"""
_NEWEST: Final = """
SELECT (SELECT id FROM runs_servingrun ORDER BY id DESC LIMIT 1), (SELECT count(*) FROM runs_servingrun),
    (SELECT id FROM runs_servingwithdrawal ORDER BY id DESC LIMIT 1)
"""


@dataclass(frozen=True, slots=True)
class ServingRow:
    """A serving run in a list; `figure` is the first that it lists."""

    id: UUID
    digest: str
    title: str
    model: str
    stack: str
    configuration: str
    workload: str
    accelerator: str
    accelerators: int | None
    status: str
    withdrawn: bool
    figure: Figure | None
    source: Link
    observed_at: datetime | None


@dataclass(frozen=True, slots=True)
class ServingList:
    total: int
    rows: tuple[ServingRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class ServingSubject:
    """What a serving run refers to: its name, its digest, and what its manifest says."""

    name: str
    digest: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class ServingPage:
    """One serving run. What its source does not say is None, empty, or has no fact."""

    id: UUID
    digest: str
    title: str
    status: str
    event: Event | None
    model: ServingSubject
    stack: ServingSubject
    project: Link | None
    configuration: ServingSubject
    workload: ServingSubject
    accelerator: str
    accelerators: int | None
    facts: tuple[Fact, ...]
    measurements: tuple[Figure, ...]
    observed_at: datetime | None
    published_at: datetime
    source: SourceLine
    snapshot: Fact | None
    manifest: dict[str, Any]
    permalink: str


def serving_list(after: str = "") -> ServingList:
    """One page, the latest first. Two statements. Raises InvalidCursor."""
    place = read_place(after, 1)
    condition, params = ("id < %s", [_uuid(place[0], after)]) if place else ("1 = 1", [])
    found = fetch(_ROW.format(condition=condition, limit=PAGE + 1), params)
    rows = tuple(_row(row) for row in found[:PAGE])
    counted = fetch_tuple("SELECT count(*) FROM runs_servingrun") or (0,)
    return ServingList(counted[0], rows, write_place(str(rows[-1].id)) if len(found) > PAGE else None)


def _uuid(text: str, token: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InvalidCursor(token) from None


def serving_state() -> tuple[Any, ...]:
    """What pages of serving runs depend on: equal states mean that nothing was published in between."""
    return fetch_tuple(_NEWEST) or ()


def state_changed(state: tuple[Any, ...]) -> float:
    """When the latest record of a state was made, in seconds since 1970."""
    # The first 48 bits of a version 7 UUID are milliseconds since 1970.
    return max((as_uuid(state[place]).int >> 80 for place in (0, 2) if state[place] is not None), default=0) / 1000


def serving_page(run_id: UUID) -> ServingPage | None:
    """The page of a serving run, or None where there is none. Two statements."""
    found = fetch(_PAGE, [run_id])
    if not found:
        return None
    row = found[0]
    manifest = orjson.loads(row["canonical"])
    figures = fetch(
        "SELECT metric, statistic, unit, value, samples FROM runs_servingmeasurement WHERE run_id = %s "
        "ORDER BY position",
        [run_id],
    )
    references = {"modelDigest", "configurationDigest", "workloadDigest", "measurements", "status", "observedAt"}
    return ServingPage(
        id=run_id,
        digest=row["digest"],
        title=row["title"],
        status=row["status"],
        event=_event(row),
        model=_subject(row, "model"),
        stack=_subject(row, "stack"),
        project=project_link(row["project_slug"], row["project"]) if row["project_slug"] else None,
        configuration=_subject(row, "configuration", without={"stackDigest"}),
        workload=_subject(row, "workload"),
        accelerator=row["accelerator"],
        accelerators=row["accelerators"],
        facts=tuple(_facts(manifest["spec"], without=references)),
        measurements=tuple(_figure(figure) for figure in figures),
        observed_at=as_instant(row["observed_at"]) if row["observed_at"] else None,
        published_at=as_instant(row["published_at"]),
        source=SourceLine(
            row["source_slug"], row["source_name"], row["source_url"], row["source_license"], row["source_attribution"]
        ),
        snapshot=Fact(row["snapshot_name"], row["snapshot_digest"]) if row["snapshot_digest"] else None,
        manifest=in_display_order({**manifest, "metadata": as_json(row["metadata"])}),
        permalink=settings.BASE_URL + reverse("serving-run", args=[run_id]),
    )


def _row(row: Row) -> ServingRow:
    return ServingRow(
        id=as_uuid(row["id"]),
        digest=row["digest"],
        title=row["title"],
        model=row["model"],
        stack=row["stack"],
        configuration=row["configuration"],
        workload=row["workload"],
        accelerator=row["accelerator"],
        accelerators=row["accelerators"],
        status=row["status"],
        withdrawn=row["withdrawn"] is not None,
        figure=None if row["value"] is None else _figure(row),
        source=source_link(row["source_slug"], row["source_name"]),
        observed_at=as_instant(row["observed_at"]) if row["observed_at"] else None,
    )


def _figure(row: Row) -> Figure:
    return Figure(row["metric"], row["statistic"], row["unit"], as_number(row["value"]), row["samples"])


def _event(row: Row) -> Event | None:
    if row["at"] is None:
        return None
    successor = as_uuid(row["successor_id"]) if row["successor_id"] else None
    kind = "superseded" if successor else "retracted"
    return Event(kind, row["reason"], row["actor"], as_instant(row["at"]), successor)


def _subject(row: Row, name: str, without: set[str] | None = None) -> ServingSubject:
    spec = orjson.loads(row[f"{name}_spec"])["spec"]
    return ServingSubject(row[name], row[f"{name}_digest"], tuple(_facts(spec, without=without or set())))


def _facts(spec: Mapping[str, Any], *, without: set[str]) -> Iterator[Fact]:
    """Every member of a spec, whose fields nobody has fixed yet, under its own name."""
    for name in display_order(spec):
        if name not in without:
            yield Fact(name, _text(spec[name])[:LONGEST])


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "; ".join(_text(item) for item in value)
    if isinstance(value, Mapping):
        return " · ".join(f"{name} {_text(value[name])}".strip() for name in display_order(value))
    return "null" if value is None else str(value)
