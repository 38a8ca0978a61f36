"""The home page and the page of sources."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from runs.reads.rows import as_instant, fetch
from runs.reads.run_list import run_rows
from runs.reads.tallies import tallies
from runs.reads.values import HomePage, SnapshotRow, SourceLine, SourceRow

LATEST: Final = 10

_SOURCES: Final = """
SELECT q.id, q.slug, q.name, q.url, q.license, q.attribution, q.terms, count(r.id) AS runs,
    max(r.observed_at) AS observed, max(r.published_at) AS published
FROM runs_source q LEFT JOIN runs_run r ON r.source_id = q.id
GROUP BY q.id, q.slug, q.name, q.url, q.license, q.attribution, q.terms
ORDER BY lower(q.name), q.slug
"""
_SNAPSHOTS: Final = """
SELECT source_id, name, version, digest, size, license, url, retrieved_at
FROM runs_sourcesnapshot ORDER BY retrieved_at DESC, id DESC
"""


def home_page() -> HomePage:
    """Counts, and the runs that came in last."""
    counts = tallies()
    return HomePage(
        runs=counts.runs,
        claims=counts.claims,
        checked=counts.checked,
        disputed=counts.disputed,
        sources=counts.of["source"],
        levels=counts.of["level"],
        operations=counts.of["operation"],
        hardware=counts.of["hardware"],
        latest=run_rows("1 = 1", [], limit=LATEST),
    )


def source_rows() -> tuple[SourceRow, ...]:
    """Every source with what it gave, and the files that were read, the latest first."""
    snapshots: dict[str, list[SnapshotRow]] = defaultdict(list)
    for row in fetch(_SNAPSHOTS):
        snapshots[row.pop("source_id")].append(SnapshotRow(**{**row, "retrieved_at": as_instant(row["retrieved_at"])}))
    return tuple(
        SourceRow(
            line=SourceLine(row["slug"], row["name"], row["url"], row["license"], row["attribution"]),
            terms=row["terms"],
            runs=row["runs"],
            latest_observed=as_instant(row["observed"]) if row["observed"] else None,
            latest_published=as_instant(row["published"]) if row["published"] else None,
            snapshots=tuple(snapshots[row["id"]]),
        )
        for row in fetch(_SOURCES)
    )
