"""From a signed job and result to what a page shows of them."""

from __future__ import annotations

import statistics
from typing import Any, Final

from runs.policy.verdict import Agreement, Stated
from runs.reads import facts
from runs.reads.reruns import values
from runs.reads.values import Fact, Reason
from runs.reruns.documents import result as documents
from runs.reruns.documents.assessment import telemetry_of
from runs.reruns.documents.base import moment
from runs.reruns.documents.job import KINDS, Job

_COLUMNS: Final = (
    ("SM clock", "MHz", "sm_mhz"),
    ("memory clock", "MHz", "memory_mhz"),
    ("temperature", "°C", "celsius"),
    ("power", "W", "watts"),
)
_ALWAYS: Final = ("torch", "triton")


def measured(job: Job, result: documents.Result) -> values.Measured:
    """All of a result but its samples, beside the job that it answers."""
    batch, correctness = result.batch, result.correctness
    return values.Measured(
        statistic=job.claim.statistic,
        processes=tuple(_process(process, job.claim.statistic) for process in result.processes),
        checks=tuple(_check(check) for check in correctness.checks) if correctness else (),
        runner_bytes=correctness.runner_bytes if correctness else None,
        batch=batch.batch_id,
        batch_jobs=batch.jobs,
        canaries=tuple(
            Fact(canary.name.replace("_", " "), "caught" if canary.caught else "passed the checks")
            for canary in batch.canaries
        ),
        sentinels=tuple(
            values.Sentinel(each.name, each.before_ns, each.after_ns, _pair(each.band_ns)) for each in batch.sentinels
        ),
        watch=_watch(batch.watch) if batch.watch else None,
        differences=differences(job, result),
        environment=facts.environment(result.environment["spec"]) if result.environment else (),
        executed=_executed(result.executed),
        failure=Reason(result.failure.code, result.failure.message) if result.failure else None,
        accepted_at=moment(result.accepted_at),
        log=result.log,
    )


def job_facts(job: Job) -> values.Job:
    """What the job asks for."""
    limits = job.limits
    return values.Job(
        facts=(
            Fact("job id", job.job_id),
            Fact("recipe", f"{job.recipe.id} · version {job.recipe.version}"),
            Fact("harness", job.harness_version),
            Fact("product", job.product),
            Fact("implementation package", job.implementation_package),
            Fact("issued", job.issued_at),
            Fact("expires", job.expires_at),
            Fact(
                "limits", f"{limits.seconds} s · {limits.memory_bytes} bytes · {limits.log_characters} log characters"
            ),
            Fact("nonce", job.nonce),
            Fact("site salt", job.site_salt),
        ),
        claimed_versions=tuple(
            values.ClaimedVersion(each.package, each.version, each.read_from) for each in job.claimed_versions
        ),
        manifests=tuple(Fact(role, job.manifests.parsed[role].digest) for role in KINDS),
    )


def differences(job: Job, result: documents.Result) -> tuple[values.Difference, ...]:
    """Claim and rerun side by side: product, versions, then all that either environment states.

    What both leave out has no line.
    """
    claimed = {
        fact.name: fact.value
        for fact in facts.environment(job.manifests.parsed["environment"].document()["spec"])
        if fact.name not in _VERSIONED
    }
    executed = {
        fact.name: fact.value
        for fact in (facts.environment(result.environment["spec"]) if result.environment else ())
        if fact.name not in _VERSIONED
    }
    packages = dict.fromkeys(
        (job.implementation_package, *_ALWAYS, *(each.package for each in job.claimed_versions)), None
    )
    stated = [
        *(Stated(package, job.claimed_version(package), result.executed.packages.get(package)) for package in packages),
        *(Stated(name, claimed.get(name), executed.get(name)) for name in dict.fromkeys((*claimed, *executed))),
    ]
    return tuple(
        values.Difference(each.name, each.claimed, each.executed, str(each.agreement))
        for each in stated
        if each.claimed is not None or each.executed is not None
    )


_VERSIONED: Final = frozenset({"framework", "libraries"})
"""Said package by package instead."""


def differing(found: tuple[values.Difference, ...]) -> tuple[values.Difference, ...]:
    """Only what is not equal."""
    return tuple(each for each in found if each.agreement != Agreement.EQUAL)


def samples(job: Job, result: documents.Result) -> dict[str, Any]:
    """Every sample with the claim, for programs. Times are ns a call."""
    return {
        "unit": "ns",
        "claim": job.claim.value,
        "statistic": job.claim.statistic,
        "processes": [
            {
                "index": process.index,
                "event": process.event_ns,
                "device": process.device_ns,
                "deviceCalls": process.device_calls,
                "graph": process.graph_ns,
                "host": process.host_ns,
                "void": process.void,
            }
            for process in result.processes
        ],
    }


def _process(process: documents.Process, statistic: str) -> values.Process:
    event = statistics.median(process.event_ns) if statistic == "median" else statistics.fmean(process.event_ns)
    return values.Process(
        index=process.index,
        samples=len(process.event_ns),
        event_ns=event,
        least_ns=min(process.event_ns),
        most_ns=max(process.event_ns),
        device_ns=process.device_ns,
        graph_ns=process.graph_ns,
        host_ns=process.host_ns,
        faults=tuple(process.void),
        graph_reason=process.graph_reason,
    )


def _check(check: documents.Check) -> values.Check:
    return values.Check(
        purpose=check.purpose,
        distribution=check.distribution,
        seed=check.seed,
        passed=check.passed,
        faults=tuple(check.faults),
        outputs=tuple(
            values.Output(each.output, each.dtype, each.metric, each.value, each.tolerance, each.checked, each.elements)
            for each in check.differences
        ),
    )


def _pair(band: Any) -> tuple[int, int] | None:
    return None if band is None else (band[0], band[1])


def _watch(watch: documents.Watch) -> values.Watch:
    seen = telemetry_of(watch)
    columns = ((name, unit, getattr(watch.telemetry, column)) for name, unit, column in _COLUMNS)
    return values.Watch(
        samples=watch.samples,
        seconds=watch.seconds,
        hertz=seen.hertz,
        throttled=seen.throttled,
        power_capped=seen.power_capped,
        company=seen.other_processes,
        spans=tuple(values.Span(name, unit, min(column), max(column)) for name, unit, column in columns if column),
    )


def _executed(executed: documents.Executed) -> tuple[Fact, ...]:
    schedule = " · ".join(
        f"{name} {', '.join(value) if isinstance(value, tuple | list) else value}"
        for name, value in executed.schedule.items()
    )
    return (
        Fact("recipe", f"{executed.recipe.id} · version {executed.recipe.version}"),
        Fact("harness", executed.harness_version),
        *((Fact("schedule", schedule),) if schedule else ()),
    )
