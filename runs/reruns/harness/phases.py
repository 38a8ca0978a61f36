"""Where a batch's seconds on the device went."""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

PHASES = (
    "startup_s",
    "compile_s",
    "build_s",
    "check_s",
    "timing_s",
    "timing_needed_s",
    "device_time_s",
    "host_time_s",
    "sentinels_s",
    "ending_s",
)


class Phases:
    """Adds up seconds by phase. ``timing_needed_s`` is what the protocols' arguments ask for, no time of its own."""

    def __init__(self) -> None:
        self._seconds = dict.fromkeys(PHASES, 0.0)
        self._begun = time.monotonic()

    def add(self, phase: str, seconds: float) -> None:
        """Count seconds for a phase."""
        self._seconds[phase] += seconds

    @contextmanager
    def measured(self, phase: str) -> Iterator[None]:
        """Count the time of a block, whatever becomes of it."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.add(phase, time.monotonic() - begun)

    def add_first_call(self, run_s: Sequence[float]) -> None:
        """Move to compilation what a job's first check took longer than its later ones."""
        extra = max(0.0, run_s[0] - statistics.median(run_s[1:]))
        self.add("compile_s", extra)
        self.add("check_s", -extra)

    def report(self) -> dict[str, Any]:
        """Seconds by phase, the whole, and what no phase accounts for."""
        whole = time.monotonic() - self._begun
        named = sum(seconds for phase, seconds in self._seconds.items() if phase != "timing_needed_s")
        values = {phase: round(seconds, 3) for phase, seconds in self._seconds.items()}
        return {**values, "other_s": round(whole - named, 3), "whole_s": round(whole, 3)}
