"""What of a run statements are compared with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from attestations.comparison import Comparison, Primary, compare, figures_of, spread
from attestations.environment import Environment, of_run
from runs.models import Run


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run's primary measurement with its spread, and its environment."""

    primary: Primary | None
    environment: Environment

    def compare(self, value: float | None, unit: str, statistic: str) -> Comparison | None:
        """A stated value beside the run's; None where there is nothing to compare."""
        if value is None or self.primary is None:
            return None
        return compare(value, unit, statistic, self.primary)


# A run never changes, so what was read once stays true.
@lru_cache(maxsize=256)
def run_facts(run_id: UUID) -> RunFacts:
    """The facts of a run. Raises Run.DoesNotExist."""
    run = Run.objects.select_related("environment").get(pk=run_id)
    environment = of_run(json.loads(run.environment.canonical)["spec"])
    if run.value is None:  # it has no primary measurement, or was removed by law
        return RunFacts(None, environment)
    figures = figures_of(json.loads(run.canonical)["spec"], run.metric, run.unit)
    interval = None if run.low is None or run.high is None else (run.low, run.high)
    found = spread(figures, interval)
    bounds, name = found or (None, "")
    return RunFacts(Primary(run.statistic, run.unit, run.value, bounds, name), environment)
