"""What makes runs comparable: primary measurement, correctness key, metric key, comparison key."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from runs.manifests.canonical import object_digest

NO_METRIC = "none"
"""The metric key of a run without a primary measurement."""

_FALLBACK = {"median": "mean", "mean": "median"}


@dataclass(frozen=True, slots=True)
class Primary:
    """The one measurement that stands for a run: `value` in `unit`, with the bounds of its 95 % confidence interval."""

    metric: str
    statistic: str
    unit: str
    value: float
    low: float | None = None
    high: float | None = None
    samples: int | None = None


def primary_measurement(run_spec: Mapping[str, Any]) -> Primary | None:
    """The primary measurement of a valid run's spec, given as plain JSON in normal form.

    `timing.latencyNs[timing.primaryStatistic]` in ns, where median and mean stand in for each other (and the statistic
    is then the one that the value has); without timing the first of `measurements`; without either, None.
    """
    timing = run_spec.get("timing")
    if timing is None:
        measurements = run_spec.get("measurements")
        if not measurements:
            return None
        first = measurements[0]
        return Primary(
            first["metric"], first["statistic"], first["unit"], first["value"], samples=first.get("sampleCount")
        )
    latency = timing["latencyNs"]
    statistic = timing["primaryStatistic"]
    if statistic not in latency:
        statistic = _FALLBACK.get(statistic)
    value = latency.get(statistic)
    if not isinstance(value, int | float):
        return None
    low, high = latency.get("confidence95", (None, None))
    return Primary("latency", statistic, "ns", value, low, high, timing.get("samples"))


def metric_key(primary: Primary | None) -> str:
    """`metric:statistic:unit`, such as `latency:median:ns`; `none` without a primary measurement."""
    return f"{primary.metric}:{primary.statistic}:{primary.unit}" if primary else NO_METRIC


def correctness_key(workload_spec: Mapping[str, Any]) -> str:
    """The digest of the correctness rule of a workload's spec."""
    return object_digest({"correctness": workload_spec["correctness"]})


@lru_cache(maxsize=4096)
def comparison_key(
    *, operation: str, workload: str, protocol: str, environment: str, correctness: str, metric: str
) -> str:
    """The digest that runs of one comparison group share.

    The first four are digests of manifests, `correctness` is a correctness key and `metric` a metric key. The
    implementation is left out: implementations are what a group compares.
    """
    return object_digest(
        {
            "v": 1,
            "operation": operation,
            "workload": workload,
            "protocol": protocol,
            "environment": environment,
            "correctness": correctness,
            "metric": metric,
        }
    )
