"""Between the documents and the harness, which knows plain values only: a job going in, its measurements coming out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final

from runs.policy.verdict import REQUIRED_CANARIES, Batch, Calibration, Correctness, decide
from runs.reruns.documents.assessment import assemble, process_times
from runs.reruns.documents.device import DeviceOpening, draw_opening
from runs.reruns.documents.exchange import VerifiedJob
from runs.reruns.documents.job import Job
from runs.reruns.documents.result import Process, Result

CHART_ROWS: Final = 600
"""How many rows of telemetry a result keeps: a chart has no more pixels, and a batch has many results."""
# A metric of the harness, the field of its value and that of its tolerance.
_METRICS: Final = (
    ("scaled_error", "scaled_error", "element_tolerance"),
    ("relative_norm", "relative_norm", "norm_tolerance"),
)
_LAST_OF_A_STRETCH: Final = (
    ("at_ms", "atMs"),
    ("sm_mhz", "smMhz"),
    ("memory_mhz", "memoryMhz"),
    ("celsius", "celsius"),
    ("watts", "watts"),
)
_UNDISTURBED: Final = Batch(None, has_gpu=False, calibration=Calibration.INSIDE, canaries_caught=REQUIRED_CANARIES)


@dataclass(frozen=True, slots=True)
class BatchContext:
    """What the runner knows of a batch and the harness does not."""

    batch_id: str
    jobs: int
    runner: str
    """The runner's name, as its key has it."""
    product: str
    """The runner's product."""
    accepted_at: str
    """When it accepted the jobs."""
    bands_ns: Mapping[str, tuple[int, int]]
    """Each sentinel's lowest and highest time in the runner's history, by name; empty without one."""


def harness_job(verified: VerifiedJob) -> dict[str, Any]:
    """A job as `execute_batch` takes it. Jobs of one batch have to share their site salt."""
    job = verified.job
    operation, provider, mode = job.recipe.id.split("/")
    release = job.claimed_version("liger-kernel")
    return {
        "id": job.job_id,
        "digest": verified.digest,
        "operation": operation,
        "provider": provider,
        "mode": mode,
        "workload": job.manifests.parsed["workload"].document()["spec"],
        "claimed": {} if release is None else {"liger_version": release},
        "recipe": {"id": job.recipe.id, "version": job.recipe.version},
    }


def wants_second_look(job: Job, measured: Mapping[str, Any]) -> bool:
    """Whether the harness's result after the first processes leaves the verdict open.

    Judged on times and versions alone: what else could be wrong with the batch is known only when it has ended.
    """
    processes = [Process.read(process) for process in _processes(measured)]
    facts = assemble(
        job,
        packages=measured["executed"],
        product=job.product,
        processes=tuple(process_times(process, job.claim.statistic) for process in processes),
        correctness=Correctness.PASSED,
        batch=_UNDISTURBED,
    )
    return decide(facts).needs_more_processes


def result_document(
    verified: VerifiedJob, measured: Mapping[str, Any], batch: Mapping[str, Any], context: BatchContext
) -> tuple[Result, DeviceOpening | None]:
    """The result of one job, to be signed, and what opens its device to the site (None without a device identity).

    `measured` and `batch` are the documents that `execute_batch` yields. Raises `Refusal` MALFORMED where they do not
    fit a result, and KeyError where a field is missing.
    """
    job = verified.job
    opening = None if batch["gpu_uuid"] is None else draw_opening(batch["gpu_uuid"])
    fields: dict[str, Any] = {
        "jobDigest": verified.digest,
        "jobId": job.job_id,
        "nonce": job.nonce,
        "runner": context.runner,
        "product": context.product,
        "acceptedAt": context.accepted_at,
        "finishedAt": batch["ended_at"],
        "executed": _executed(job, measured, batch),
        "environment": _environment(batch["environment"], context.product),
        "deviceCommitment": None if opening is None else opening.commitment,
        "processes": _processes(measured),
        "correctness": _correctness(measured["correctness"]["checks"], batch["runner_bytes"]),
        "batch": _batch(batch, context),
        "failure": _failure(measured),
        "log": _log(measured["log"], job.limits.log_characters),
    }
    return Result.read(_present(fields)), opening


def _executed(job: Job, measured: Mapping[str, Any], batch: Mapping[str, Any]) -> dict[str, Any]:
    recipe = measured["recipe"] or {"id": job.recipe.id, "version": job.recipe.version, "schedule": {}}
    return {
        "recipe": {"id": recipe["id"], "version": recipe["version"]},
        "schedule": _present(recipe["schedule"]),
        "harnessVersion": batch["harness_version"],
        "packages": measured["executed"],
    }


def _environment(spec: Mapping[str, Any] | None, product: str) -> dict[str, Any] | None:
    if spec is None:
        return None
    return {
        "apiVersion": "kernelindex.dev/v1alpha1",
        "kind": "ExecutionEnvironment",
        "metadata": {"name": product},
        "spec": dict(spec),
    }


def _processes(measured: Mapping[str, Any]) -> list[dict[str, Any]]:
    graphs = {graph["round"]: graph for graph in measured["graphs"]}
    return [_process(entry, graphs.get(entry["round"], {})) for entry in measured["rounds"]]


def _process(entry: Mapping[str, Any], graph: Mapping[str, Any]) -> dict[str, Any]:
    reason = graph.get("reason")
    return _present(
        {
            "index": entry["round"],
            "eventNs": entry["event_ns"]["samples"],
            "deviceNs": entry["device_ns"],
            "deviceCalls": entry["device_calls"],
            "deviceActivities": entry["device_activities"],
            "graphNs": graph.get("ns"),
            "graphReason": None if reason is None else _phrase(reason),
            "hostNs": entry["host_ns"],
            "void": entry["void"],
        }
    )


def _correctness(checks: Sequence[Mapping[str, Any]], runner_bytes: str) -> dict[str, Any] | None:
    if not checks:
        return None
    return {"runnerBytes": runner_bytes, "checks": [_check(check) for check in checks]}


def _check(check: Mapping[str, Any]) -> dict[str, Any]:
    differences = [item for name, output in check["outputs"].items() for item in _differences(name, output)]
    faults = list(_faults(check))
    # What the harness refused stays refused, whatever its reason.
    if not check["passed"] and not faults and all(item.get("value", 1) <= item["tolerance"] for item in differences):
        faults.append("refused")
    return {
        "purpose": check["purpose"],
        "seed": check["seed"],
        "distribution": check["distribution"],
        "differences": differences,
        "faults": faults,
    }


def _differences(name: str, output: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if "dtype" not in output:
        return
    for metric, value, tolerance in _METRICS:
        yield _present(
            {
                "output": _phrase(name),
                "dtype": output["dtype"],
                "metric": metric,
                "value": output[value],
                "tolerance": output[tolerance],
                "checked": output["checked"],
                "elements": output["elements"],
            }
        )


def _faults(check: Mapping[str, Any]) -> Iterator[str]:
    if check["late"]:
        yield "late"
    if check["changed_inputs"]:
        yield "changed_inputs"
    for name, output in check["outputs"].items():
        if output["matched"]:
            continue
        if output.get("absent"):
            yield _phrase(f"missing:{name}")
        elif "expected_shape" in output:
            yield _phrase(f"shape:{name}")
        elif output["not_finite"]:
            yield _phrase(f"not_finite:{name}")


def _batch(batch: Mapping[str, Any], context: BatchContext) -> dict[str, Any]:
    return _present(
        {
            "batchId": context.batch_id,
            "jobs": context.jobs,
            "canaries": [{"name": name, "caught": found["caught"]} for name, found in batch["canaries"].items()],
            "sentinels": [_sentinel(name, batch["sentinels"], context) for name in _sentinel_names(batch["sentinels"])],
            "watch": _watch(batch["telemetry"]),
        }
    )


def _sentinel_names(sentinels: Mapping[str, Mapping[str, int]]) -> list[str]:
    return sorted({name.removesuffix("_ns") for values in sentinels.values() for name in values})


def _sentinel(name: str, sentinels: Mapping[str, Mapping[str, int]], context: BatchContext) -> dict[str, Any]:
    band = context.bands_ns.get(name)
    return _present(
        {
            "name": name,
            "beforeNs": sentinels.get("before", {}).get(f"{name}_ns"),
            "afterNs": sentinels.get("after", {}).get(f"{name}_ns"),
            "bandNs": None if band is None else list(band),
        }
    )


def _watch(telemetry: Mapping[str, Any]) -> dict[str, Any] | None:
    if not telemetry["available"]:
        return None
    columns = dict(zip(telemetry["columns"], telemetry["samples"], strict=True))
    times = columns["at_ms"]
    return {
        "samples": len(times),
        "seconds": (times[-1] - times[0]) / 1000,
        "throttleReasons": reduce(or_, columns["reasons"], 0),
        "samplesWithCompany": sum(value > 0 for value in columns["others"]),
        "telemetry": _thinned(columns),
    }


def _thinned(columns: Mapping[str, Sequence[int | float]]) -> dict[str, list[int | float]]:
    """The last row of each stretch, with the reasons and the company of the whole stretch."""
    count = len(columns["at_ms"])
    step = -(-count // CHART_ROWS)
    stretches = [(start, min(start + step, count)) for start in range(0, count, step)]
    thinned: dict[str, list[int | float]] = {
        camel: [columns[name][end - 1] for _, end in stretches] for name, camel in _LAST_OF_A_STRETCH
    }
    reasons = [int(value) for value in columns["reasons"]]
    thinned["reasons"] = [reduce(or_, reasons[start:end]) for start, end in stretches]
    thinned["others"] = [max(columns["others"][start:end]) for start, end in stretches]
    return thinned


def _failure(measured: Mapping[str, Any]) -> dict[str, str] | None:
    reason = measured["reason"]
    # Wrong output is a finding, not a failure to measure; the checks say all about it.
    if measured["status"] == "incorrect":
        return None
    return None if reason is None else {"code": reason["code"], "message": _phrase(reason["message"])}


def _log(text: str, limit: int) -> str:
    """The end of the log, where a failure says why."""
    clean = text.replace("\0", "")
    return clean[max(0, len(clean) - limit) :]


def _phrase(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f]+", " ", text)[:200] or "unknown"


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
