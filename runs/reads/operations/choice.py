"""What a reader chose on an operation's page, as the query string of its address says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

_AT: Final = "at."  # at.hidden=4096 holds an axis; the prefix keeps axes apart from the other names
_AXIS: Final = re.compile(r"[a-z][a-z0-9_]{0,99}")
_NAMES: Final = ("measured", "environment", "along", "dtype", "after")


class UnknownChoice(ValueError):
    """Nothing of the operation was measured so."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Empty where a reader left the choice to the page."""

    measured: str = ""  # the beginning of a protocol's digest and the metric key: a79eaf4df66c:latency:median:ns
    environment: str = ""  # the beginning of an environment's digest
    along: str = ""  # the axis of the chart
    dtype: str = ""
    after: str = ""  # the workload after which the table begins, by the beginning of its digest
    at: tuple[tuple[str, int], ...] = ()

    @property
    def held(self) -> dict[str, int]:
        """The axes that are held at a size."""
        return dict(self.at)

    def query(self, **changes: str) -> str:
        """The query string of this choice, with changes; empty for the page as it is by itself."""
        changed = replace(self, **changes)  # type: ignore[arg-type]
        values = {name: value for name in _NAMES if (value := getattr(changed, name))}
        return urlencode(values | {f"{_AT}{name}": str(size) for name, size in changed.at})


def parse_choice(parameters: Mapping[str, str]) -> Choice:
    """The choice of a request's parameters; other parameters mean nothing. Raises UnknownChoice."""
    given = {name: parameters.get(name, "").strip()[:200] for name in _NAMES}
    at = []
    for name, value in parameters.items():
        axis = name.removeprefix(_AT)
        if axis == name or not value.strip():
            continue
        if not _AXIS.fullmatch(axis) or not re.fullmatch(r"\d{1,18}", value.strip()):
            raise UnknownChoice(f"{name}={value}")
        at.append((axis, int(value)))
    return Choice(**given, at=tuple(sorted(at)))
