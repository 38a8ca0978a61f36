"""A runner's own history of its sentinel kernels, and the bands that follow from it.

Pure but for its file. A batch outside its bands is void and does not enter the history, so that a host that slowly gets
worse cannot move its own bands along. After a change that is meant to last (a driver, a board) the operator removes
the file and a new history begins.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

FEWEST_BATCHES: Final = 5
LAST_BATCHES: Final = 50
NARROWEST: Final = 0.10
"""A band is never narrower than this share of its middle, the tolerance of a verdict."""
_ROBUST_SIGMAS: Final = 5 * 1.4826
"""Five standard deviations, as the median absolute deviation estimates them in normal noise."""

Readings = Mapping[str, Mapping[str, int]]


def read_history(path: Path, device: str) -> list[Readings]:
    """The readings of a device's last batches, oldest first: {before: {copy_ns: …}, after: …} each."""
    if not path.exists():
        return []
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [record["sentinels"] for record in records if record["device"] == device][-LAST_BATCHES:]


def bands(history: Sequence[Readings]) -> dict[str, tuple[int, int]]:
    """Lowest and highest ns of each sentinel by name; empty before there are enough batches."""
    if len(history) < FEWEST_BATCHES:
        return {}
    values: dict[str, list[int]] = {}
    for readings in history:
        for moment in readings.values():
            for name, value in moment.items():
                values.setdefault(name.removesuffix("_ns"), []).append(value)
    return {name: _band(found) for name, found in values.items()}


def is_inside(readings: Readings, limits: Mapping[str, tuple[int, int]]) -> bool:
    """Whether a batch belongs into the history: both readings of every sentinel, within the bands there are."""
    if set(readings) != {"before", "after"}:
        return False
    return all(
        low <= moment.get(f"{name}_ns", -1) <= high
        for moment in readings.values()
        for name, (low, high) in limits.items()
    )


def append_history(path: Path, device: str, readings: Readings, batch: Mapping[str, Any]) -> None:
    """Add a batch to the history. `batch` is whatever tells it apart for a person."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"device": device, "sentinels": readings, **batch}) + "\n")


def _band(values: Sequence[int]) -> tuple[int, int]:
    middle = statistics.median(values)
    scatter = statistics.median(abs(value - middle) for value in values)
    width = max(NARROWEST * middle, _ROBUST_SIGMAS * scatter)
    return max(0, round(middle - width)), round(middle + width)
