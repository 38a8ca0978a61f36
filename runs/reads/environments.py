"""Where was measured: the execution environments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson

from runs.manifests.order import in_display_order
from runs.reads import facts
from runs.reads.hardware import MeasuredOperation, measured_operations
from runs.reads.links import environment_link, hardware_link
from runs.reads.places import read_place, write_place
from runs.reads.references import referred
from runs.reads.rows import as_instant, as_json, fetch
from runs.reads.run_list import latest_runs
from runs.reads.values import Fact, Link, Page

PAGE: Final = 100

_LIST: Final = """
SELECT v.digest, v.title, v.hardware, v.product, v.form_factor, count(g.key) AS found,
    coalesce(sum(g.run_count), 0) AS runs
FROM (SELECT * FROM runs_environment WHERE {condition} ORDER BY title, digest LIMIT {limit}) v
LEFT JOIN runs_comparisongroup g ON g.environment_id = v.id
GROUP BY v.id, v.digest, v.title, v.hardware, v.product, v.form_factor ORDER BY v.title, v.digest
"""


@dataclass(frozen=True, slots=True)
class ListedEnvironment:
    link: Link
    digest: str
    hardware: Link
    groups: int
    runs: int


@dataclass(frozen=True, slots=True)
class EnvironmentList:
    rows: tuple[ListedEnvironment, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class EnvironmentPage:
    """What an environment's manifest says, and what was measured there."""

    link: Link
    digest: str
    hardware: Link
    facts: tuple[Fact, ...]
    groups: int
    run_count: int
    operations: tuple[MeasuredOperation, ...]
    runs: Page
    manifest: dict[str, Any]
    published_at: datetime


def environment_list(after: str = "") -> EnvironmentList:
    """One page of them. One statement. Raises InvalidCursor."""
    place = read_place(after, 2)
    condition = "(title, digest) > (%s, %s)" if place else "1 = 1"
    found = fetch(_LIST.format(condition=condition, limit=PAGE + 1), place or ())
    rows = tuple(
        ListedEnvironment(
            environment_link(row["digest"], row["title"]),
            row["digest"],
            hardware_link(row["hardware"], " ".join(filter(None, (row["product"], row["form_factor"])))),
            row["found"],
            int(row["runs"]),
        )
        for row in found[:PAGE]
    )
    last = rows[-1] if len(found) > PAGE else None
    return EnvironmentList(rows, write_place(last.link.name, last.digest) if last else None)


def environment_page(reference: str, cursor: str = "") -> EnvironmentPage | None:
    """An environment by its digest, the beginning of it or its id; None where there is none. Three statements.

    Raises Ambiguous and InvalidCursor.
    """
    found = referred("environment", reference)
    if found is None:
        return None
    manifest = orjson.loads(found["canonical"])
    operations = measured_operations("environment_id = %s", found["id"])
    hardware = manifest["spec"]["hardware"]
    return EnvironmentPage(
        environment_link(found["digest"], found["title"]),
        found["digest"],
        hardware_link(found["hardware"], facts.product(hardware)),
        facts.environment(manifest["spec"]),
        sum(each.groups for each in operations),
        sum(each.runs for each in operations),
        operations,
        latest_runs("r.environment_id = %s", [found["id"]], cursor),
        in_display_order({**manifest, "metadata": as_json(found["metadata"])}),
        as_instant(found["published_at"]),
    )
