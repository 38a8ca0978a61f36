"""The spread that a run publishes beside its primary measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runs.reads.values import Figure

INTERVAL: Final = "95 % confidence interval"
# What a run may publish of its spread, the most telling first.
_PAIRS: Final = (
    ("p20", "p80"),
    ("p25", "p75"),
    ("p10", "p90"),
    ("p05", "p95"),
    ("minimum", "maximum"),
)


@dataclass(frozen=True, slots=True)
class Spread:
    """From `low` to `high` in the primary's unit; `kind` says what that is: `p20 to p80`."""

    kind: str
    low: float
    high: float

    def ends(self, primary: Figure) -> tuple[Figure, Figure]:
        """Both ends as figures of the measurement that they belong to."""
        metric, statistic, unit = primary.metric, primary.statistic, primary.unit
        return Figure(metric, statistic, unit, self.low), Figure(metric, statistic, unit, self.high)


def spread(
    primary: Figure | None, figures: Sequence[Figure], interval: tuple[float | None, float | None]
) -> Spread | None:
    """The confidence interval where there is one, else the first pair of statistics that the run states both of."""
    if primary is None:
        return None
    low, high = interval
    if low is not None and high is not None:
        return Spread(INTERVAL, low, high)
    stated = {
        figure.statistic: figure.value
        for figure in figures
        if (figure.metric, figure.unit) == (primary.metric, primary.unit)
    }
    both = ((low, high) for low, high in _PAIRS if low in stated and high in stated)
    return next((Spread(f"{low} to {high}", stated[low], stated[high]) for low, high in both), None)
