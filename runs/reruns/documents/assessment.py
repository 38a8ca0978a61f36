"""From a verified job and result to the facts of a verdict: nothing that a runner concluded is believed.

Times are taken from the samples, correctness from the differences and tolerances, throttling from NVML's bits.
"""

import statistics
from collections.abc import Mapping, Sequence
from typing import Final

from runs.policy import verdict
from runs.policy.verdict import Calibration, Facts, ProcessTimes, Stated
from runs.reruns.documents.base import product_slug
from runs.reruns.documents.job import Job
from runs.reruns.documents.result import Correctness, Process, Result, Sentinel, Watch

CPU: Final = "cpu"
FEWEST_SEEDS: Final = 3
# NVML, clocks event reasons: HW slowdown, SW thermal slowdown, HW thermal slowdown, HW power brake.
SLOWDOWN_BITS: Final = 0x08 | 0x20 | 0x40 | 0x80
# SW power cap: the board at its own limit, which a claim on the same product met as well; noted, not a fault.
POWER_CAP_BIT: Final = 0x04


def facts_of(job: Job, result: Result) -> Facts:
    """What the verdict depends on. Both documents are verified, and the result answers the job."""
    return assemble(
        job,
        packages=result.executed.packages,
        product=None if result.environment is None else product_slug(result.environment["spec"]["hardware"]),
        processes=tuple(process_times(process, job.claim.statistic) for process in result.processes),
        correctness=correctness_of(result.correctness),
        batch=batch_of(result),
    )


def assemble(
    job: Job,
    *,
    packages: Mapping[str, str],
    product: str | None,
    processes: tuple[ProcessTimes, ...],
    correctness: verdict.Correctness,
    batch: verdict.Batch,
) -> Facts:
    """The claim of a job beside what was executed: `packages` with their versions, on a `product`."""

    def stated(package: str) -> Stated:
        return Stated(package, job.claimed_version(package), packages.get(package))

    return Facts(
        claim_ns=float(job.claim.value),
        processes=processes,
        product=Stated("product", job.claimed_product, product),
        implementation=stated(job.implementation_package),
        torch=stated("torch"),
        triton=stated("triton"),
        correctness=correctness,
        batch=batch,
    )


def process_times(process: Process, statistic: str) -> ProcessTimes:
    """One process by the statistic that the claim states (median or mean), in ns."""
    event = statistics.median(process.event_ns) if statistic == "median" else statistics.fmean(process.event_ns)
    device = None if process.device_ns is None else float(process.device_ns)
    return ProcessTimes(float(event), device, faulty=bool(process.void))


def correctness_of(correctness: Correctness | None) -> verdict.Correctness:
    """Failed where anything is wrong; unchecked where too little was compared to call it right."""
    if correctness is None or not correctness.checks:
        return verdict.Correctness.UNCHECKED
    checks = correctness.checks
    if not all(check.passed for check in checks):
        return verdict.Correctness.FAILED
    enough = len({check.seed for check in checks}) >= FEWEST_SEEDS
    both = {check.distribution for check in checks} == {"normal", "hard"}
    return verdict.Correctness.PASSED if enough and both else verdict.Correctness.UNCHECKED


def batch_of(result: Result) -> verdict.Batch:
    """The outcome of what was checked for the whole batch."""
    batch = result.batch
    return verdict.Batch(
        telemetry=None if batch.watch is None else telemetry_of(batch.watch),
        has_gpu=result.product != CPU,
        calibration=calibration_of(batch.sentinels),
        canaries_caught=frozenset(canary.name for canary in batch.canaries if canary.caught),
        canaries_passed=frozenset(canary.name for canary in batch.canaries if not canary.caught),
    )


def telemetry_of(watch: Watch) -> verdict.Telemetry:
    """What telemetry means. A single sample with company is a process list caught in between; two are company."""
    return verdict.Telemetry(
        samples=watch.samples,
        seconds=watch.seconds,
        throttled=bool(watch.throttle_reasons & SLOWDOWN_BITS),
        power_capped=bool(watch.throttle_reasons & POWER_CAP_BIT),
        other_processes=watch.samples_with_company > 1,
    )


def calibration_of(sentinels: Sequence[Sentinel]) -> Calibration:
    """The worst of what the sentinels say."""
    found = {_calibration(sentinel) for sentinel in sentinels} or {Calibration.MISSING}
    worst_first = (Calibration.MISSING, Calibration.OUTSIDE, Calibration.NO_HISTORY, Calibration.INSIDE)
    return next(outcome for outcome in worst_first if outcome in found)


def _calibration(sentinel: Sentinel) -> Calibration:
    if sentinel.before_ns is None or sentinel.after_ns is None:
        return Calibration.MISSING
    if sentinel.band_ns is None:
        return Calibration.NO_HISTORY
    low, high = sentinel.band_ns
    inside = low <= sentinel.before_ns <= high and low <= sentinel.after_ns <= high
    return Calibration.INSIDE if inside else Calibration.OUTSIDE
