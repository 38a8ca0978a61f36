"""One source: what came from it, how fresh it is, and under which terms."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runs.manifests.kinds.run import STATUSES
from runs.reads.rows import as_instant, fetch
from runs.reads.run_list import run_rows
from runs.reads.values import Count, RunRow, SnapshotRow, SourceLine

LATEST: Final = 10
_MOST: Final = 200

_SOURCE: Final = (
    "SELECT id, slug, name, kind, url, license, attribution, terms, created_at FROM runs_source WHERE slug = %s"
)
# One pass over its runs, whose rows are long; the names are joined to what is left of them.
_COUNTS: Final = """
SELECT c.*, o.slug AS operation_slug, o.name AS operation_name,
    (SELECT v.product FROM runs_environment v WHERE v.hardware = c.hardware ORDER BY v.id LIMIT 1) AS product,
    (SELECT v.form_factor FROM runs_environment v WHERE v.hardware = c.hardware ORDER BY v.id LIMIT 1) AS form_factor
FROM (
    SELECT operation_id, hardware, status, count(*) AS runs, min(observed_at) AS began, max(observed_at) AS observed,
        max(published_at) AS published
    FROM runs_run WHERE source_id = %s GROUP BY operation_id, hardware, status) c
JOIN runs_operation o ON o.id = c.operation_id
"""
_SNAPSHOTS: Final = f"""
SELECT name, version, digest, size, license, url, retrieved_at
FROM runs_sourcesnapshot WHERE source_id = %s ORDER BY retrieved_at DESC, id DESC LIMIT {_MOST}
"""  # noqa: S608 — a constant of ours


@dataclass(frozen=True, slots=True)
class SourcePage:
    """Everything that a source's page shows; times are None where it has published no run."""

    line: SourceLine
    kind: str
    terms: str
    known_since: datetime
    runs: int
    first_observed: datetime | None
    latest_observed: datetime | None
    latest_published: datetime | None
    statuses: tuple[Count, ...]
    operations: tuple[Count, ...]
    hardware: tuple[Count, ...]
    snapshots: tuple[SnapshotRow, ...]
    latest: tuple[RunRow, ...]


def source_page(slug: str) -> SourcePage | None:
    """A source, or None where there is none of the name. Four statements."""
    found = fetch(_SOURCE, [slug])
    if not found:
        return None
    row = found[0]
    counted = fetch(_COUNTS, [row["id"]])
    statuses: Counter[tuple[str, str]] = Counter()
    operations: Counter[tuple[str, str]] = Counter()
    hardware: Counter[tuple[str, str]] = Counter()
    for each in counted:
        product = " ".join(filter(None, (each["product"], each["form_factor"])))
        statuses[each["status"], each["status"]] += each["runs"]
        operations[each["operation_slug"], each["operation_name"]] += each["runs"]
        hardware[each["hardware"], product] += each["runs"]

    def ends(name: str) -> list[datetime]:
        return [as_instant(each[name]) for each in counted if each[name] is not None]

    return SourcePage(
        line=SourceLine(row["slug"], row["name"], row["url"], row["license"], row["attribution"]),
        kind=row["kind"],
        terms=row["terms"],
        known_since=as_instant(row["created_at"]),
        runs=statuses.total(),
        first_observed=min(ends("began"), default=None),
        latest_observed=max(ends("observed"), default=None),
        latest_published=max(ends("published"), default=None),
        statuses=tuple(sorted(_counts(statuses), key=lambda count: STATUSES.index(count.slug))),
        operations=_counts(operations),
        hardware=_counts(hardware),
        snapshots=tuple(
            SnapshotRow(**{**each, "retrieved_at": as_instant(each["retrieved_at"])})
            for each in fetch(_SNAPSHOTS, [row["id"]])
        ),
        latest=run_rows("r.source_id = %s", [row["id"]], limit=LATEST),
    )


def _counts(counted: Counter[tuple[str, str]]) -> tuple[Count, ...]:
    """Counts by slug and name, in the order of the names."""
    found = (Count(slug, name, runs) for (slug, name), runs in counted.items())
    return tuple(sorted(found, key=lambda count: (count.name.lower(), count.slug)))
