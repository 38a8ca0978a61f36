"""A claim to try the lane with: this host's CPU, measured by the harness, written as a Liger-Kernel script would.

    python -m runs.reruns.runner.sample FOLDER

writes FOLDER/claim.csv and FOLDER/environment.json, for `manage.py import_liger --file … --environment …`.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from runs.reruns.harness.batch import execute_batch
from runs.reruns.harness.limits import Limits

RELEASE: Final = "0.7.0"
"""The release whose script's timing arguments are used: it measured for 500 ms, which steadies even a busy CPU."""
ROWS: Final = 512
HIDDEN: Final = (2048, 4096)
SALT: Final = b"a sample claim needs no secret"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m runs.reruns.runner.sample", description="Measure a CPU claim.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        *results, batch = execute_batch(
            [_job(hidden) for hidden in HIDDEN],
            salt=SALT,
            limits=Limits(batch_s=240, rounds=5),
            scratch_parent=Path(scratch),
        )
    measured = [result for result in results if result["status"] == "measured"]
    if not measured:
        reason = results[0]["reason"] if results else None
        raise SystemExit(f"nothing could be measured: {reason}")
    _write_csv(folder / "claim.csv", measured)
    (folder / "environment.json").write_text(json.dumps(_environment(batch["environment"]), indent=1) + "\n")
    return 0


def _job(hidden: int) -> dict[str, Any]:
    return {
        "id": str(hidden),
        "operation": "liger-rms-norm",
        "provider": "huggingface",
        "mode": "forward",
        "workload": {
            "axes": {"rows": ROWS, "hidden": hidden},
            "tensors": {
                "x": {"shape": [ROWS, hidden], "dtype": "fp32"},
                "weight": {"shape": [hidden], "dtype": "fp32"},
            },
            "scalars": {"eps": {"dtype": "fp32", "value": 1e-6}},
        },
        "claimed": {"liger_version": RELEASE},
    }


def _write_csv(path: Path, results: Sequence[Mapping[str, Any]]) -> None:
    """The rows of a Liger-Kernel script: milliseconds, the middle of the processes with their quantiles."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _row(results[0]))
        writer.writeheader()
        writer.writerows(map(_row, results))


def _row(result: Mapping[str, Any]) -> dict[str, object]:
    config = {"M": ROWS, "dtype": "torch.float32", "eps": 1e-6}
    return {
        "kernel_name": "rms_norm",
        "kernel_provider": "huggingface",
        "kernel_operation_mode": "forward",
        "metric_name": "speed",
        "metric_unit": "ms",
        "x_name": "H",
        "x_label": "hidden size",
        "x_value": result["id"],
        "y_value_50": _milliseconds(result, "median"),
        "y_value_20": _milliseconds(result, "p20"),
        "y_value_80": _milliseconds(result, "p80"),
        "extra_benchmark_config_str": json.dumps(config),
        "gpu_name": "CPU",
        "timestamp": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        "liger_version": RELEASE,
    }


def _milliseconds(result: Mapping[str, Any], statistic: str) -> float:
    """The geometric mean over the processes, as a rerun takes it."""
    values = [entry["event_ns"][statistic] for entry in result["rounds"]]
    return math.exp(math.fsum(map(math.log, values)) / len(values)) / 1e6


def _environment(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "kernelindex.dev/v1alpha1",
        "kind": "ExecutionEnvironment",
        "metadata": {"name": "this-host-cpu", "title": "This host's CPU"},
        "spec": dict(spec),
    }


if __name__ == "__main__":
    raise SystemExit(main())
