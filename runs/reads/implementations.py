"""Implementations: what each is, and where it ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson

from runs.reads import facts
from runs.reads.links import (
    group_url,
    hardware_link,
    implementation_link,
    operation_link,
    project_link,
    protocol_link,
)
from runs.reads.places import read_place, write_place
from runs.reads.rows import Row, as_number, as_uuid, fetch
from runs.reads.values import Fact, Figure, Link

PAGE: Final = 200

_COLUMNS: Final = """i.id, i.slug, i.title, i.language, i.revision, i.license, i.digest, o.slug AS operation_slug,
    o.name AS operation_name, p.slug AS project_slug, p.name AS project_name, p.url AS project_url"""
_LIST: Final = f"""
SELECT {_COLUMNS}, (SELECT count(*) FROM runs_run r WHERE r.implementation_id = i.id) AS runs
FROM (SELECT * FROM runs_implementation WHERE {{condition}} ORDER BY title, slug LIMIT {{limit}}) i
JOIN runs_operation o ON o.id = i.operation_id LEFT JOIN runs_project p ON p.id = i.project_id
ORDER BY i.title, i.slug
"""  # noqa: S608 — constants of ours
_ONE: Final = f"""
SELECT {_COLUMNS}, i.canonical FROM runs_implementation i
JOIN runs_operation o ON o.id = i.operation_id LEFT JOIN runs_project p ON p.id = i.project_id WHERE i.slug = %s
"""  # noqa: S608 — constants of ours
# Its best rank in each group, by GPU.
_BY_GPU: Final = """
SELECT b.hardware, count(*) AS found, sum(b.runs) AS runs,
    sum(CASE WHEN b.rank IS NOT NULL THEN 1 ELSE 0 END) AS ranked,
    sum(CASE WHEN b.rank = 1 THEN 1 ELSE 0 END) AS first,
    (SELECT v.product FROM runs_environment v WHERE v.hardware = b.hardware ORDER BY v.id LIMIT 1) AS product,
    (SELECT v.form_factor FROM runs_environment v WHERE v.hardware = b.hardware ORDER BY v.id LIMIT 1) AS form_factor
FROM (
    SELECT r.hardware, r.comparison_key, min(s.rank) AS rank, count(*) AS runs
    FROM runs_run r LEFT JOIN runs_standing s ON s.run_id = r.id
    WHERE r.implementation_id = %s GROUP BY r.hardware, r.comparison_key) b
GROUP BY b.hardware ORDER BY b.hardware
"""
# Its best run in each group, beside the group's first. Of equal runs the one published first.
_RESULTS: Final = """
SELECT r.hardware, c.title AS protocol_title, w.summary, g.key, c.digest AS protocol_digest, v.product, v.form_factor,
    r.id, r.metric, r.statistic, r.unit, r.value, r.samples, s.rank, g.ranked_count,
    (SELECT e.value FROM runs_standing t JOIN runs_run e ON e.id = t.run_id
     WHERE t.group_id = g.key AND t.rank = 1 ORDER BY t.run_id LIMIT 1) AS first
FROM runs_run r
JOIN runs_standing s ON s.run_id = r.id AND s.rank IS NOT NULL
JOIN runs_comparisongroup g ON g.key = s.group_id
JOIN runs_workload w ON w.id = g.workload_id
JOIN runs_protocol c ON c.id = g.protocol_id
JOIN runs_environment v ON v.id = g.environment_id
WHERE r.implementation_id = %s AND NOT EXISTS (
    SELECT 1 FROM runs_standing t JOIN runs_run e ON e.id = t.run_id
    WHERE t.group_id = s.group_id AND e.implementation_id = r.implementation_id
        AND (t.rank, t.run_id) < (s.rank, s.run_id)) {more}
ORDER BY r.hardware, c.title, w.summary, g.key LIMIT {limit}
"""


@dataclass(frozen=True, slots=True)
class ImplementationRow:
    """An implementation in a list. `license` is an SPDX expression; empty where unknown, as the revision is."""

    link: Link
    operation: Link
    project: Link | None
    language: str
    revision: str
    license: str
    runs: int


@dataclass(frozen=True, slots=True)
class ImplementationList:
    rows: tuple[ImplementationRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class GpuResult:
    """How it stands on one GPU: comparison groups that it has runs in, ranks in, and is first in."""

    hardware: Link
    runs: int
    groups: int
    ranked: int
    first: int


@dataclass(frozen=True, slots=True)
class Result:
    """Its best run in one comparison group; `ratio` is its value over that of the first."""

    hardware: Link
    workload: str
    protocol: Link
    group: str  # the group's address
    key: str
    run: UUID
    primary: Figure
    rank: int
    ranked: int
    ratio: float | None


@dataclass(frozen=True, slots=True)
class ImplementationPage:
    """Everything that an implementation's page shows."""

    link: Link
    digest: str
    operation: Link
    project: Link | None
    project_url: str
    language: str
    revision: str
    license: str
    installs: tuple[Fact, ...]  # name of the build variant, and the command
    facts: tuple[Fact, ...]
    hardware: tuple[GpuResult, ...]
    results: tuple[Result, ...]
    next: str | None


def implementation_list(after: str = "", project: Any = None) -> ImplementationList:
    """One page of them, or of those of a project. One statement. Raises InvalidCursor."""
    place = read_place(after, 2)
    conditions = ["(title, slug) > (%s, %s)"] if place else []
    params: list[Any] = [*(place or ())]
    if project is not None:
        conditions.append("project_id = %s")
        params.append(project)
    found = fetch(_LIST.format(condition=" AND ".join(conditions) or "1 = 1", limit=PAGE + 1), params)
    rows = tuple(
        ImplementationRow(
            implementation_link(row["slug"], row["title"]),
            operation_link(row["operation_slug"], row["operation_name"]),
            _project(row),
            row["language"],
            row["revision"],
            row["license"],
            row["runs"],
        )
        for row in found[:PAGE]
    )
    last = rows[-1].link if len(found) > PAGE else None
    return ImplementationList(rows, write_place(last.name, last.slug) if last else None)


def implementation_page(slug: str, hardware: str = "", after: str = "") -> ImplementationPage | None:
    """An implementation with its results, on one GPU where one is named; None where there is none. Three statements.

    Raises InvalidCursor.
    """
    place = read_place(after, 4)
    found = fetch(_ONE, [slug])
    if not found:
        return None
    row = found[0]
    spec = orjson.loads(row["canonical"])["spec"]
    more, params = "", [row["id"]]
    if hardware:
        more, params = " AND r.hardware = %s", [*params, hardware]
    if place:
        more, params = f"{more} AND (r.hardware, c.title, w.summary, g.key) > (%s, %s, %s, %s)", [*params, *place]
    results = fetch(_RESULTS.format(more=more, limit=PAGE + 1), params)
    shown = results[:PAGE]
    last = shown[-1] if len(results) > PAGE else None
    said = facts.implementation(spec)
    return ImplementationPage(
        link=implementation_link(row["slug"], row["title"]),
        digest=row["digest"],
        operation=operation_link(row["operation_slug"], row["operation_name"]),
        project=_project(row),
        project_url=row["project_url"] or "",
        language=row["language"],
        revision=row["revision"],
        license=row["license"],
        installs=tuple(fact for fact in said if fact.name.startswith("install")),
        facts=tuple(fact for fact in said if not fact.name.startswith("install")),
        hardware=tuple(
            GpuResult(
                hardware_link(each["hardware"], _product(each)),
                int(each["runs"]),
                each["found"],
                int(each["ranked"]),
                int(each["first"]),
            )
            for each in fetch(_BY_GPU, [row["id"]])
        ),
        results=tuple(map(_result, sorted(shown, key=_natural))),
        next=write_place(*(last[name] for name in ("hardware", "protocol_title", "summary", "key"))) if last else None,
    )


def _project(row: Row) -> Link | None:
    return project_link(row["project_slug"], row["project_name"]) if row["project_slug"] else None


def _product(row: Mapping[str, Any]) -> str:
    return " ".join(filter(None, (row["product"], row["form_factor"])))


def _natural(row: Row) -> tuple[Any, ...]:
    """By GPU and protocol, then by the numbers in the workload, so that 512 comes before 4096."""
    words = tuple((not word.isdigit(), int(word) if word.isdigit() else 0, word) for word in row["summary"].split())
    return row["hardware"], row["protocol_title"], words


def _result(row: Row) -> Result:
    return Result(
        hardware_link(row["hardware"], _product(row)),
        row["summary"],
        protocol_link(row["protocol_digest"], row["protocol_title"]),
        group_url(row["key"]),
        row["key"],
        as_uuid(row["id"]),
        Figure(row["metric"], row["statistic"], row["unit"], as_number(row["value"]), row["samples"]),
        row["rank"],
        row["ranked_count"],
        row["value"] / row["first"] if row["first"] else None,
    )
