"""How many runs there are of each kind: the counts beside filters and on the home page.

Counting reads the whole table of runs, so a process keeps its counts and counts anew when a run was published since, or
after half a minute: a level may rise without a new run, and two importers may finish in another order than they began.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from runs.manifests.kinds.run import STATUSES
from runs.policy.level import CONCLUSIVE, EvidenceLevel
from runs.reads.rows import fetch, fetch_tuple
from runs.reads.values import Count

_MAX_AGE: Final = 30.0  # seconds
_COUNTS: Final = """
SELECT 'operation' AS kind, o.slug, o.name, count(*) AS runs
    FROM runs_run r JOIN runs_operation o ON o.id = r.operation_id GROUP BY o.slug, o.name
UNION ALL SELECT 'family', o.family, o.family, count(*)
    FROM runs_run r JOIN runs_operation o ON o.id = r.operation_id GROUP BY o.family
UNION ALL SELECT 'hardware', h.hardware, (
    SELECT v.product || CASE WHEN v.form_factor = '' THEN '' ELSE ' ' || v.form_factor END
    FROM runs_environment v WHERE v.hardware = h.hardware ORDER BY v.id LIMIT 1), h.runs
    FROM (SELECT hardware, count(*) AS runs FROM runs_run GROUP BY hardware) h
UNION ALL SELECT 'source', q.slug, q.name, (SELECT count(*) FROM runs_run r WHERE r.source_id = q.id)
    FROM runs_source q
UNION ALL SELECT 'status', r.status, r.status, count(*) FROM runs_run r GROUP BY r.status
UNION ALL SELECT 'level', e.level, e.level, count(*) FROM runs_evidencelevel e GROUP BY e.level
UNION ALL SELECT 'reruns', 'own', '', count(*) FROM runs_rerunrun
UNION ALL SELECT 'reruns', 'disputed', '', count(*) FROM runs_evidencelevel e WHERE e.disputed
UNION ALL SELECT 'reruns', 'checked', '', count(DISTINCT x.run_id) FROM runs_rerunresult x WHERE x.verdict IN ({})
""".format(", ".join(f"'{verdict}'" for verdict in sorted(CONCLUSIVE)))  # noqa: S608 — words of our own


@dataclass(frozen=True, slots=True)
class Tallies:
    """Counts of runs: all of them, and by filter."""

    runs: int
    claims: int  # the runs that a source claims: all but those that reruns published of their own
    checked: int  # claims with a controlled rerun that says something about them
    disputed: int
    of: Mapping[str, tuple[Count, ...]]


_kept: dict[str, tuple[Any, float, Tallies]] = {}
_lock = Lock()


def tallies() -> Tallies:
    """The counts as they are now. One statement where they are known, two where they are not."""
    newest = fetch_tuple("SELECT id FROM runs_run ORDER BY id DESC LIMIT 1")
    now = time.monotonic()
    kept = _kept.get("tallies")
    if kept and kept[0] == newest and now - kept[1] < _MAX_AGE:
        return kept[2]
    counted = _count()
    with _lock:
        _kept["tallies"] = (newest, now, counted)
    return counted


def forget() -> None:
    """Drop the counts, as a test does that begins with another database."""
    with _lock:
        _kept.clear()


def _count() -> Tallies:
    counts: dict[str, list[Count]] = defaultdict(list)
    for row in fetch(_COUNTS):
        counts[row["kind"]].append(Count(row["slug"], row["name"], row["runs"]))
    runs = sum(count.count for count in counts["status"])
    above = {count.slug: count.count for count in counts["level"]}
    reported = EvidenceLevel.REPORTED.slug
    reruns = {count.slug: count.count for count in counts["reruns"]}
    return Tallies(
        runs,
        runs - reruns["own"],
        reruns["checked"],
        reruns["disputed"],
        {
            **{
                kind: tuple(sorted(counts[kind], key=lambda count: (count.name.lower(), count.slug)))
                for kind in ("operation", "family", "hardware", "source")
            },
            "status": tuple(sorted(counts["status"], key=lambda count: STATUSES.index(count.slug))),
            "level": tuple(
                Count(
                    level.slug,
                    level.slug,
                    runs - sum(above.values()) if level.slug == reported else above.get(level.slug, 0),
                )
                for level in EvidenceLevel
            ),
        },
    )
