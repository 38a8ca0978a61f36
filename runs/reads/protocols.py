"""How was measured: the benchmark protocols."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson

from runs.manifests.order import in_display_order
from runs.policy.roofline import flushes_cache, timed_pass
from runs.reads import facts
from runs.reads.hardware import MeasuredOperation, measured_operations
from runs.reads.links import protocol_link
from runs.reads.places import read_place, write_place
from runs.reads.references import referred
from runs.reads.rows import as_instant, as_json, fetch
from runs.reads.run_list import latest_runs
from runs.reads.values import Fact, Link, Page

PAGE: Final = 100

_LIST: Final = """
SELECT c.digest, c.title, c.harness, c.timer, count(g.key) AS found, coalesce(sum(g.run_count), 0) AS runs
FROM (SELECT * FROM runs_protocol WHERE {condition} ORDER BY title, digest LIMIT {limit}) c
LEFT JOIN runs_comparisongroup g ON g.protocol_id = c.id
GROUP BY c.id, c.digest, c.title, c.harness, c.timer ORDER BY c.title, c.digest
"""


@dataclass(frozen=True, slots=True)
class ListedProtocol:
    link: Link
    digest: str
    harness: str
    timer: str
    groups: int
    runs: int


@dataclass(frozen=True, slots=True)
class ProtocolList:
    rows: tuple[ListedProtocol, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class ProtocolPage:
    """What a protocol's manifest says, and what was measured so.

    `timed_pass` is None where the protocol does not say which pass it times.
    """

    link: Link
    digest: str
    facts: tuple[Fact, ...]
    timed_pass: str | None
    flushes_cache: bool
    groups: int
    run_count: int
    operations: tuple[MeasuredOperation, ...]
    runs: Page
    manifest: dict[str, Any]
    published_at: datetime


def protocol_list(after: str = "") -> ProtocolList:
    """One page of them. One statement. Raises InvalidCursor."""
    place = read_place(after, 2)
    condition = "(title, digest) > (%s, %s)" if place else "1 = 1"
    found = fetch(_LIST.format(condition=condition, limit=PAGE + 1), place or ())
    rows = tuple(
        ListedProtocol(
            protocol_link(row["digest"], row["title"]),
            row["digest"],
            row["harness"],
            row["timer"],
            row["found"],
            int(row["runs"]),
        )
        for row in found[:PAGE]
    )
    last = rows[-1] if len(found) > PAGE else None
    return ProtocolList(rows, write_place(last.link.name, last.digest) if last else None)


def protocol_page(reference: str, cursor: str = "") -> ProtocolPage | None:
    """A protocol by its digest, the beginning of it or its id; None where there is none. Three statements.

    Raises Ambiguous and InvalidCursor.
    """
    found = referred("protocol", reference)
    if found is None:
        return None
    manifest = orjson.loads(found["canonical"])
    operations = measured_operations("protocol_id = %s", found["id"])
    return ProtocolPage(
        protocol_link(found["digest"], found["title"]),
        found["digest"],
        facts.protocol(manifest["spec"]),
        timed_pass(manifest["spec"]),
        flushes_cache(manifest["spec"]),
        sum(each.groups for each in operations),
        sum(each.runs for each in operations),
        operations,
        latest_runs("r.protocol_id = %s", [found["id"]], cursor),
        in_display_order({**manifest, "metadata": as_json(found["metadata"])}),
        as_instant(found["published_at"]),
    )
