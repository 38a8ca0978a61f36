"""How a stated value compares with a run's: the ratio, and whether it lies within the run's own spread. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

DURATIONS: Final = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
NEAR: Final = (0.9, 1.1)  # a ratio outside is asked about before "reproduced" is posted

# What a run may publish of its spread, the widest first.
_PAIRS: Final = (
    ("minimum", "maximum"),
    ("p05", "p95"),
    ("p10", "p90"),
    ("p20", "p80"),
    ("p25", "p75"),
)


@dataclass(frozen=True, slots=True)
class Primary:
    """A run's primary measurement, and its spread in the same unit where it publishes one."""

    statistic: str
    unit: str
    value: float
    spread: tuple[float, float] | None = None
    spread_of: str = ""  # "p20 to p80", "95 % confidence interval"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A stated value beside the run's."""

    ratio: float
    within: bool | None  # of the run's spread; None where the run publishes none
    spread_of: str
    same_statistic: bool

    @property
    def is_near(self) -> bool:
        """Whether it is near enough to be called reproduced without being asked about."""
        return NEAR[0] <= self.ratio <= NEAR[1]


def spread(
    figures: Mapping[str, float], interval: tuple[float, float] | None
) -> tuple[tuple[float, float], str] | None:
    """The widest spread that a run publishes, and what it is. `figures` are by statistic, in the primary's unit."""
    for low, high in _PAIRS:
        if low in figures and high in figures:
            return (figures[low], figures[high]), f"{low} to {high}"
    return (interval, "95 % confidence interval") if interval else None


def figures_of(spec: Mapping[str, Any], metric: str, unit: str) -> dict[str, float]:
    """A run's figures of one metric in one unit, by statistic."""
    latency = spec.get("timing", {}).get("latencyNs", {}) if (metric, unit) == ("latency", "ns") else {}
    figures = {name: float(value) for name, value in latency.items() if isinstance(value, int | float)}
    for entry in spec.get("measurements", ()):
        if (entry["metric"], entry["unit"]) == (metric, unit):
            figures.setdefault(entry["statistic"], float(entry["value"]))
    return figures


def compare(value: float, unit: str, statistic: str, run: Primary) -> Comparison | None:
    """The stated value beside the run's; None where the units have no common measure."""
    if unit != run.unit:
        if unit not in DURATIONS or run.unit not in DURATIONS:
            return None
        value = value * DURATIONS[unit] / DURATIONS[run.unit]
    if run.value <= 0 or not math.isfinite(value / run.value):
        return None
    within = run.spread[0] <= value <= run.spread[1] if run.spread else None
    return Comparison(value / run.value, within, run.spread_of, statistic == run.statistic)
