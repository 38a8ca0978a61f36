"""The reruns of one run, as its page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from runs.reads.reruns.documents import stored
from runs.reads.reruns.results import differences, differing
from runs.reads.reruns.rows import COLUMNS, JOINS, rerun_row
from runs.reads.reruns.values import RunRerun
from runs.reads.rows import Row, fetch
from runs.reads.values import Reason
from runs.reruns.claims import read_claim
from runs.reruns.documents.job import Job
from runs.reruns.documents.result import Result
from runs.reruns.harness.recipes.catalog import NotRerunnable

MOST_SHOWN: Final = 10
_OF_RUN: Final = f"""
SELECT {COLUMNS}, u.job, x.envelope {JOINS} WHERE u.run_id = %s ORDER BY u.id DESC LIMIT {MOST_SHOWN}
"""


def reruns_of(run: UUID) -> tuple[RunRerun, ...]:
    """The latest reruns of a run, the latest first. One statement."""
    return tuple(_shown(row) for row in fetch(_OF_RUN, [run]))


def not_rerunnable(
    operation: str, run: Mapping[str, Any], metadata: Mapping[str, Any], environment: Mapping[str, Any]
) -> Reason | None:
    """Why a claim cannot be rerun; None where it can. The specs are those of the manifests."""
    claim = read_claim(operation, run, metadata, environment)
    return Reason(claim.code, claim.reason) if isinstance(claim, NotRerunnable) else None


def _shown(row: Row) -> RunRerun:
    if not row["envelope"]:
        return RunRerun(rerun_row(row), (), 0, False)
    job, result = Job.read(stored(row["job"]).predicate), Result.read(stored(row["envelope"]).predicate)
    return RunRerun(
        row=rerun_row(row),
        differences=differing(differences(job, result)),
        samples=sum(len(process.event_ns) for process in result.processes),
        telemetry=has_telemetry(result),
    )


def has_telemetry(result: Result) -> bool:
    """Whether there is a course of telemetry to draw."""
    return result.batch.watch is not None and len(result.batch.watch.telemetry.at_ms) > 1
