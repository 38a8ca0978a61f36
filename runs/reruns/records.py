"""The runs that a rerun publishes of its own: event time in the claim's terms, and device time. Pure.

They are measured by KernelIndex's harness under protocols of its own, so their comparison groups are strict: runs with
intervals, from several fresh processes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from runs.manifests.bundle import Bundle, Record, Source
from runs.manifests.canonical import manifest_digest
from runs.policy.statistics import Ratio
from runs.policy.verdict import Decision
from runs.reruns.documents.assessment import CPU
from runs.reruns.documents.exchange import VerifiedResult
from runs.reruns.documents.job import Job
from runs.reruns.documents.result import Correctness

API_VERSION = "kernelindex.dev/v1alpha1"
SOURCE = Source(
    slug="kernelindex",
    name="KernelIndex controlled reruns",
    kind="rerun",
    license="CC0-1.0",
    attribution="KernelIndex",
)
KINDS = ("event", "device")
_TIMERS = {"event": "cuda_events", "device": "cupti_device_time"}
_CPU_TIMERS = {"event": "wall_clock", "device": "profiler_device_time"}
_TITLES = {"event": "event time under the claim's protocol", "device": "device time"}
_NOTES = {
    "event": "Timed: {mode} by the arguments of the claim's own script; the median of fresh processes, caches cleared.",
    "device": "Timed: {mode}; the union of the busy intervals of what a call runs on the device, in fresh processes.",
}


def own_runs(verified: VerifiedResult, decision: Decision, *, project: str | None, rerun: str) -> Bundle | None:
    """The bundle of the runs that a result publishes, or None where it measured nothing that holds.

    `project` is the slug of the project whose implementation was executed, `rerun` the rerun's id.
    """
    job, result = verified.job.job, verified.result
    ratios = {"event": decision.event, "device": decision.device}
    if result.environment is None or decision.verdict in _NOTHING_MEASURED:
        return None
    environment = result.environment
    implementation = _implementation(job, result.executed.packages)
    name = str(implementation["metadata"]["name"])
    records = [Record(implementation, project=project), Record(environment)]
    for kind in KINDS:
        ratio = ratios[kind]
        if ratio is None:
            continue
        protocol = _protocol(job, kind, result.executed.harness_version)
        spec = _run(
            verified,
            kind,
            ratio,
            decision,
            implementation=implementation,
            protocol=protocol,
            environment=environment,
            rerun=rerun,
        )
        title = f"{job.recipe.id.split('/')[0]} · {job.recipe.id.split('/')[1]} · {_TITLES[kind]}"
        records.append(Record(protocol))
        records.append(Record(_manifest("BenchmarkRun", f"rerun-{rerun}-{kind}", title, spec), implementation=name))
    return Bundle(SOURCE, None, records) if len(records) > 2 else None


_NOTHING_MEASURED = frozenset({"void", "incorrect"})


def _manifest(kind: str, name: str, title: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name, "title": title}, "spec": dict(spec)}


def _implementation(job: Job, packages: Mapping[str, str]) -> dict[str, Any]:
    """The implementation as it was executed: the claimed one, with the version that was installed."""
    claimed = job.manifests.implementation
    version = packages.get(job.implementation_package)
    spec = {**claimed["spec"], "projectRevision": {"version": version} if version else {}}
    metadata = claimed["metadata"]
    suffix = f"-{version}" if version else ""
    name = f"{metadata['name'][:150]}{suffix}".lower().replace("+", "-")
    return _manifest("ImplementationRevision", name, str(metadata.get("title", metadata["name"])), spec)


def _protocol(job: Job, kind: str, harness: str) -> dict[str, Any]:
    _, _, mode = job.recipe.id.split("/")
    timers = _CPU_TIMERS if job.product == CPU else _TIMERS
    spec = {
        "harness": {"name": "KernelIndex rerun harness", "version": harness},
        "measurement": {"timer": timers[kind], "primaryStatistic": "median"},
        "correctness": {"reference": "float64", "comparator": "scaled_error"},
        "comparability": {
            "family": f"kernelindex_rerun_{kind}",
            "notes": f"{_NOTES[kind].format(mode=mode)} The claim's: {job.manifests.parsed['protocol'].digest}.",
        },
    }
    return _manifest(
        "BenchmarkProtocol", f"kernelindex-rerun-{kind}-{mode}", f"Controlled rerun · {_TITLES[kind]} · {mode}", spec
    )


def _run(
    verified: VerifiedResult,
    kind: str,
    ratio: Ratio,
    decision: Decision,
    *,
    implementation: Mapping[str, Any],
    protocol: Mapping[str, Any],
    environment: Mapping[str, Any],
    rerun: str,
) -> dict[str, Any]:
    job, result = verified.job.job, verified.result
    claim = float(job.claim.value)
    low, estimate, high = (round(claim * value) for value in (ratio.low, ratio.estimate, ratio.high))
    return {
        "implementationDigest": manifest_digest(implementation),
        "workloadDigest": job.manifests.parsed["workload"].digest,
        "protocolDigest": manifest_digest(protocol),
        "environmentDigest": manifest_digest(environment),
        "status": "passed",
        "correctness": _correctness(result.correctness),
        "timing": {
            "primaryStatistic": "median",
            "samples": decision.processes,
            "latencyNs": {"median": estimate, "confidence95": [low, max(high, estimate)]},
        },
        "evidence": {"rawSamples": {"uri": f"kernelindex:rerun/{rerun}/result", "digest": verified.digest}},
        "observedAt": result.finished_at,
    }


def _correctness(correctness: Correctness | None) -> dict[str, Any]:
    stated: dict[str, Any] = {"comparator": "scaled_error"}
    values = [
        difference.value
        for check in (correctness.checks if correctness else ())
        for difference in check.differences
        if difference.metric == "scaled_error" and difference.value is not None
    ]
    worst = _largest(values)
    return stated if worst is None else {**stated, "maximumRelativeError": worst}


def _largest(values: Sequence[float]) -> float | None:
    finite = [float(value) for value in values if math.isfinite(value)]
    return max(finite) if finite else None
