"""What the charts of reruns and runners draw, with a title and a description for those who do not see them."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable

from runs.reads.format import duration
from runs.reads.runners import CalibrationRow
from runs.rerun_charts import Calibrations, Sentinel, Strip, StripProcess, Telemetry
from runs.reruns.documents.assessment import SLOWDOWN_BITS
from runs.reruns.documents.job import Job
from runs.reruns.documents.result import Result


def strip(job: Job, result: Result) -> Strip | None:
    """All samples with the claim; None where nothing was timed."""
    if not result.processes:
        return None
    claim = float(job.claim.value)
    count = sum(len(process.event_ns) for process in result.processes)
    medians = [statistics.median(process.event_ns) for process in result.processes]
    return Strip(
        title="Samples of event time by process, with the claim",
        description=f"{count:,} samples in {len(medians)} processes. The medians of the processes lie between "
        f"{duration(min(medians), 'ns')} and {duration(max(medians), 'ns')}; the claim is {duration(claim, 'ns')}.",
        claim=claim,
        processes=tuple(
            StripProcess(process.index, tuple(process.event_ns), process.device_ns, bool(process.void))
            for process in result.processes
        ),
    )


def telemetry(_: Job, result: Result) -> Telemetry | None:
    """Clock, temperature and power over the batch; None where there is no course of them."""
    watch = result.batch.watch
    if watch is None or len(watch.telemetry.at_ms) < 2:
        return None
    seen = watch.telemetry
    return Telemetry(
        title="SM clock, temperature and power while the batch ran",
        description=f"Over {watch.seconds:.0f} s: {min(seen.sm_mhz)} to {max(seen.sm_mhz)} MHz, {min(seen.celsius)} to "
        f"{max(seen.celsius)} °C, {min(seen.watts)} to {max(seen.watts)} W. Marked where the GPU slowed down or had "
        "company.",
        seconds=tuple(at / 1000 for at in seen.at_ms),
        megahertz=tuple(seen.sm_mhz),
        celsius=tuple(seen.celsius),
        watts=tuple(seen.watts),
        throttled=tuple(bool(int(reasons) & SLOWDOWN_BITS) for reasons in seen.reasons),
        company=tuple(others > 0 for others in seen.others),
    )


def calibrations(runner: str, history: Iterable[CalibrationRow]) -> Calibrations:
    """The sentinels of a runner over their medians; `history` is the latest first."""
    rows: dict[str, dict[str, CalibrationRow]] = defaultdict(dict)
    batches: dict[str, None] = {}
    for row in history:
        rows[row.sentinel][row.batch] = row
        batches.setdefault(row.batch)
    oldest_first = list(reversed(batches))
    return Calibrations(
        title=f"Sentinel kernels of {runner}, batch by batch",
        description=f"{len(rows)} sentinel kernels before and after each of {len(oldest_first)} batches, over the "
        "median of each.",
        sentinels=tuple(_sentinel(name, found, oldest_first) for name, found in sorted(rows.items())),
    )


def _sentinel(name: str, found: dict[str, CalibrationRow], batches: list[str]) -> Sentinel:
    times = [value for row in found.values() for value in (row.before_ns, row.after_ns) if value is not None]
    median = statistics.median(times) if times else 1.0
    rows = [found.get(batch) for batch in batches]
    return Sentinel(
        name,
        tuple(row.before_ns / median if row and row.before_ns is not None else None for row in rows),
        tuple(row.after_ns / median if row and row.after_ns is not None else None for row in rows),
    )
