"""Lines of benchmark CSV files, for the tests of the Liger source."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

HEADER = (
    "kernel_name,kernel_provider,kernel_operation_mode,metric_name,metric_unit,x_name,x_label,x_value,y_value_50,"
    "y_value_20,y_value_80,extra_benchmark_config_str,gpu_name,timestamp,liger_version"
)

ROW = {
    "kernel_name": "rms_norm",
    "kernel_provider": "liger",
    "kernel_operation_mode": "forward",
    "metric_name": "speed",
    "metric_unit": "ms",
    "x_name": "H",
    "x_label": "hidden size",
    "x_value": "1024",
    "y_value_50": "0.0136",
    "y_value_20": "0.0135",
    "y_value_80": "0.0138",
    "extra_benchmark_config_str": '{"M": 2048, "dtype": "torch.bfloat16", "eps": 1e-06}',
    "gpu_name": "NVIDIA H200",
    "timestamp": "2026-02-28 00:23:31",
    "liger_version": "0.8.5",
}


def line(config: dict[str, Any] | None = None, **changes: str) -> str:
    """A row with some fields changed; `config` stands for the JSON of its config."""
    row = ROW | changes
    if config is not None:
        row["extra_benchmark_config_str"] = json.dumps(config)
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(row.values())
    return text.getvalue()


def document(*lines: str, end: str = "\n") -> bytes:
    """A file of these lines below the header."""
    return "".join(each + end for each in (HEADER, *lines)).encode()
