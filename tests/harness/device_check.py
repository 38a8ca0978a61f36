"""Everything worth knowing about the harness on a GPU host, in one run of under 8 minutes.

    python -m tests.harness.device_check OUT_FOLDER [--csv CLAIMS.csv] [--rounds 3] [--skip-recipes]

First every recipe, with every provider, is checked and timed once on its small workload. Then the rows of a benchmark
file of liger-kernel 0.8.x (rms_norm, layer_norm, softmax, swiglu, rope) are rerun and compared with what they claim.
Last, event time is compared with a plain ``triton.testing.do_bench`` call in this process. Writes recipes.jsonl,
rows.jsonl and report.json to the folder and prints the report.
"""

import argparse
import csv
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from runs.reruns.harness.batch import execute_batch
from runs.reruns.harness.limits import Limits
from runs.reruns.harness.recipes.catalog import OPERATIONS
from tests.harness.workloads import WORKLOADS, job, workload

HIDDEN, INTERMEDIATE, Q_HEADS, KV_HEADS = 4096, 14_336, 32, 8


def row_workload(kernel: str, tokens: int) -> dict[str, Any]:
    """The workload of a row of the token-length sweep over Llama 3 8B."""
    x = ([tokens, HIDDEN], "bf16")
    rows = {"rows": tokens, "hidden": HIDDEN}
    if kernel == "softmax":
        return workload(rows, {"x": x})
    if kernel == "rms_norm":
        return workload(rows, {"x": x, "weight": ([HIDDEN], "bf16")}, {"eps": 1e-6})
    if kernel == "layer_norm":
        vector = ([HIDDEN], "bf16")
        return workload(rows, {"x": x, "weight": vector, "bias": vector}, {"eps": 1e-6})
    if kernel == "swiglu":
        wide, narrow = ([INTERMEDIATE, HIDDEN], "bf16"), ([HIDDEN, INTERMEDIATE], "bf16")
        return workload(
            {"batch": 1, "seq": tokens, "hidden": HIDDEN, "intermediate": INTERMEDIATE},
            {"x": ([1, tokens, HIDDEN], "bf16"), "w_gate": wide, "w_up": wide, "w_down": narrow},
        )
    head = HIDDEN // Q_HEADS
    return workload(
        {"seq": tokens, "hidden": HIDDEN, "q_heads": Q_HEADS, "kv_heads": KV_HEADS},
        {"q": ([1, Q_HEADS, tokens, head], "bf16"), "k": ([1, KV_HEADS, tokens, head], "bf16")},
    )


def recipe_jobs() -> list[dict[str, Any]]:
    """A job in mode full for every provider of every operation."""
    return [job(slug, provider) for slug in WORKLOADS for provider in OPERATIONS[slug].providers]


def row_jobs(path: Path) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Jobs of the speed rows of a file, and each one's claimed median in ns."""
    jobs: list[dict[str, Any]] = []
    claims: dict[str, int] = {}
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            kernel, tokens = row["kernel_name"], int(float(row["x_value"]))
            if row["metric_name"] != "speed":
                continue
            name = f"{kernel}/{row['kernel_operation_mode']}/{row['kernel_provider']}/{tokens}"
            claims[name] = round(float(row["y_value_50"]) * 1e6)
            jobs.append(
                {
                    "id": name,
                    "operation": "liger-" + kernel.replace("_", "-"),
                    "provider": row["kernel_provider"],
                    "mode": row["kernel_operation_mode"],
                    "workload": row_workload(kernel, tokens),
                    "claimed": {"liger_version": row["liger_version"]},
                }
            )
    return jobs, claims


def run(jobs: list[dict[str, Any]], out: Path, limits: Limits) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Run a batch on the first GPU, keeping every document in a file."""
    with tempfile.TemporaryDirectory() as scratch, out.open("w", encoding="utf-8") as file:
        documents = []
        for document in execute_batch(jobs, salt=b"", device="cuda:0", limits=limits, scratch_parent=Path(scratch)):
            file.write(json.dumps(document) + "\n")
            documents.append(document)
    return documents[:-1], documents[-1]


def about_recipes(results: list[dict[str, Any]], batch: dict[str, Any]) -> dict[str, Any]:
    """What did not pass, with the errors that came nearest to a tolerance."""
    failed = {
        result["id"]: [result["status"], result["reason"]] for result in results if result["status"] != "measured"
    }
    nearest = []
    for result in results:
        for check in result["correctness"]["checks"]:
            for name, output in check["outputs"].items():
                if "relative_norm" in output and output["relative_norm"] is not None:
                    share = output["relative_norm"] / output["norm_tolerance"]
                    nearest.append((round(share, 3), result["id"], check["distribution"], name))
    return {"failed": failed, "nearest_to_tolerance": sorted(nearest, reverse=True)[:12], "batch": _short(batch)}


def _short(batch: dict[str, Any]) -> dict[str, Any]:
    telemetry = {name: batch["telemetry"].get(name) for name in ("available", "hertz", "summary")}
    kept = ("void", "cut", "rounds", "restarts", "phases", "sentinels", "canaries", "environment")
    return {**{name: batch[name] for name in kept}, "telemetry": telemetry}


def about_rows(results: list[dict[str, Any]], batch: dict[str, Any], claims: dict[str, int]) -> dict[str, Any]:
    """Event and device time against the claim, and how far the processes lie apart."""
    rows = []
    for result in results:
        summary = result["summary"]
        if summary is None:
            rows.append({"id": result["id"], "status": result["status"], "reason": result["reason"]})
            continue
        claim = claims[result["id"]]
        rows.append(
            {
                "id": result["id"],
                "claim_us": claim / 1000,
                "event_over_claim": round(summary["event_ns"] / claim, 4),
                "device_over_claim": round(summary["device_ns"] / claim, 4),
                "device_over_event": round(summary["device_ns"] / summary["event_ns"], 4),
                "host_us": summary["host_ns"] / 1000,
                "graph_us": None if summary["graph_ns"] is None else summary["graph_ns"] / 1000,
                "launch_bound": summary["launch_bound"],
                "event_spread": _spread(summary["event_medians_ns"]),
                "device_spread": _spread(summary["device_medians_ns"]),
                "void": sorted({reason for entry in result["rounds"] for reason in entry["void"]}),
                "activities": [entry["device_activities"] for entry in result["rounds"]],
            }
        )
    measured = [row for row in rows if "claim_us" in row]
    settled = [row for row in measured if not row["launch_bound"]]
    return {
        "rows": rows,
        "measured": len(measured),
        "launch_bound": len(measured) - len(settled),
        "not_launch_bound_within_10_percent": sum(0.9 <= row["event_over_claim"] <= 1.1 for row in settled),
        "not_launch_bound": len(settled),
        "median_device_spread": statistics.median(row["device_spread"] for row in measured) if measured else None,
        "batch": _short(batch),
    }


def _spread(values: list[int]) -> float:
    return round(max(values) / min(values) - 1, 4)


def about_agreement(results: list[dict[str, Any]], jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Our event time against a plain do_bench call in this process, for the longest job of each operation and mode."""
    import torch
    import triton

    from runs.reruns.harness.timing import CudaClock, wake
    from runs.reruns.harness.work import Prepared, bind, release_memory

    device = torch.device("cuda:0")
    clock = CudaClock()
    wake(device)
    longest = {}
    for result, document in zip(results, jobs, strict=True):
        if result["summary"] is not None:
            longest[document["operation"], document["mode"]] = (result, document)
    found = []
    for result, document in longest.values():
        prepared = Prepared.of(document, device)
        bound = bind(prepared, bytes(32), clock)
        schedule = prepared.recipe.schedule
        plain = triton.testing.do_bench(
            bound.timed.call,
            warmup=schedule.warmup_ms,
            rep=schedule.rep_ms,
            grad_to_none=list(bound.timed.grad_to_none) or None,
            quantiles=[0.5, 0.2, 0.8],
        )[0]
        here = statistics.median(clock.event_time(bound.timed, schedule.warmup_ms, schedule.rep_ms).samples) / 1e6
        batch_ms = result["summary"]["event_ns"] / 1e6
        ratios = {"same_process": round(here / plain, 4), "batch": round(batch_ms / plain, 4)}
        found.append({"id": document["id"], "plain_ms": plain, **ratios})
        del bound
        release_memory(device)
    return found


def main() -> None:
    """Run all three parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--skip-recipes", action="store_true")
    options = parser.parse_args()
    report: dict[str, Any] = {}
    if not options.skip_recipes:
        limits = Limits(batch_s=170, rounds=1)
        report["recipes"] = about_recipes(*run(recipe_jobs(), options.out / "recipes.jsonl", limits))
        _save(report, options.out)
    if options.csv is not None:
        jobs, claims = row_jobs(options.csv)
        limits = Limits(batch_s=270 if not options.skip_recipes else 420, rounds=options.rounds)
        results, batch = run(jobs, options.out / "rows.jsonl", limits)
        by_id = {result["id"]: result for result in results}
        ordered = [by_id[document["id"]] for document in jobs]
        report["rows"] = about_rows(ordered, batch, claims)
        _save(report, options.out)
        report["agreement"] = about_agreement(ordered, jobs)
    _save(report, options.out)
    print(json.dumps(report, indent=1))


def _save(report: dict[str, Any], out: Path) -> None:
    (out / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
