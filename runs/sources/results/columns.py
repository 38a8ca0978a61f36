"""The columns of a table of results: what each means, what it must look like, and what is wrong where it does not.

`docs/exchange.md` lists them for people; a test compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from runs.manifests.kinds.run import STATUSES
from runs.sources.text import instant, token

LONGEST: Final = 500  # characters of a cell
UNITS: Final = {"ns": 0, "us": 3, "µs": 3, "ms": 6, "s": 9}
LATENCIES: Final = ("median", "mean", "minimum", "maximum", "p05", "p95")
REQUIRED: Final = ("operation", "implementation", "hardware", "harness", "observed_at")
_MAX_NS: Final = 2**53 - 1
_DIMENSIONS: Final = re.compile(r"(?P<shape>\w+(?:\s*x\s*\w+)*)\s+(?P<dtype>[a-z][a-z0-9_]*)", re.ASCII)


@dataclass(slots=True)
class Entry:
    """A row that is right: its texts, and its numbers by column; `latencies` in nanoseconds."""

    place: str
    text: dict[str, str] = field(default_factory=dict)
    axes: dict[str, int] = field(default_factory=dict)
    tensors: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    latencies: dict[str, int] = field(default_factory=dict)
    as_written: dict[str, float] = field(default_factory=dict)
    samples: int | None = None
    value: float | None = None


class Wrong(ValueError):
    """What is wrong with one cell, and how to mend it."""


def _text(value: str) -> str:
    if len(value) > LONGEST:
        raise Wrong(f"is longer than {LONGEST} characters")
    if not value.isprintable():
        raise Wrong("holds characters that cannot be shown")
    return value


def _one_of(*allowed: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if value not in allowed:
            raise Wrong(f"{value[:60]!r} is none of {', '.join(allowed)}")
        return value

    return check


def _token(value: str) -> str:
    if token(value) != value:
        raise Wrong(f"{value[:60]!r} is no token; write {token(value)[:60]!r}")
    return value


def _instant(value: str) -> str:
    try:
        return instant(value)
    except ValueError:
        raise Wrong(f"{value[:60]!r} is no time; write it as 2026-02-28T00:23:31Z") from None


COLUMNS: Final[Mapping[str, Callable[[str], str]]] = {
    "operation": _text,
    "implementation": _text,
    "hardware": _text,
    "harness": _text,
    "observed_at": _instant,
    "language": _token,
    "version": _text,
    "project": _text,
    "vendor": _token,
    "architecture": _token,
    "driver": _text,
    "cuda": _text,
    "framework": _token,
    "framework_version": _text,
    "harness_version": _text,
    "timer": _token,
    "comparator": _token,
    "status": _one_of(*STATUSES),
    "unit": _text,
    "metric": _token,
    "statistic": _token,
    "external_id": _text,
}
"""The columns that hold text. Beside them: `samples`, `value`, the latencies, `axis:NAME` and `tensor:NAME`."""

NUMBERS: Final = ("samples", "value", *LATENCIES)


def unknown(names: Mapping[str, Any]) -> list[str]:
    """The columns that mean nothing here."""
    return [name for name in names if not _known(name)]


def _known(name: str) -> bool:
    prefix, colon, rest = name.partition(":")
    return name in COLUMNS or name in NUMBERS or (bool(colon) and prefix in ("axis", "tensor") and bool(rest))


def read(place: str, cells: Mapping[str, str]) -> tuple[Entry, list[tuple[str, str]]]:
    """A row as an entry, and what is wrong with it by column. Empty cells are as if they were not there."""
    filled = {name: value.strip() for name, value in cells.items() if value and value.strip()}
    entry, wrong = Entry(place), list[tuple[str, str]]()
    wrong += [(name, "is needed; fill it in") for name in REQUIRED if name not in filled]
    for name, value in filled.items():
        try:
            _read(entry, name, value, filled)
        except Wrong as error:
            wrong.append((name, str(error)))
    if not wrong:
        wrong += _as_a_whole(entry)
    return entry, wrong


def _read(entry: Entry, name: str, value: str, cells: Mapping[str, str]) -> None:
    prefix, colon, rest = name.partition(":")
    if name in COLUMNS:
        entry.text[name] = COLUMNS[name](value)
    elif name in LATENCIES:
        entry.as_written[name] = float(number(value))
        entry.latencies[name] = nanoseconds(number(value), cells.get("unit", ""))
    elif name == "samples":
        entry.samples = whole(value)
    elif name == "value":
        entry.value = float(number(value))
    elif colon and prefix == "axis":
        entry.axes[_token(rest)] = whole(value)
    elif colon and prefix == "tensor":
        entry.tensors[_token(rest)] = dimensions(value)


def number(value: str) -> Decimal:
    """A finite number. Raises Wrong."""
    try:
        found = Decimal(value)
    except InvalidOperation:
        raise Wrong(f"{value[:60]!r} is no number; write digits and a point, no unit and no commas") from None
    if not found.is_finite() or abs(found.adjusted()) > 300:
        raise Wrong(f"{value[:60]!r} is no number that can be kept")
    return found


def whole(value: str) -> int:
    """A whole number that is not negative. Raises Wrong."""
    found = number(value)
    if found != found.to_integral_value() or not 0 <= found <= _MAX_NS:
        raise Wrong(f"{value[:60]!r} is no whole number of at least 0")
    return int(found)


def nanoseconds(value: Decimal, unit: str) -> int:
    """A duration in whole nanoseconds, halves rounded away from zero. Raises Wrong."""
    if unit not in UNITS:
        raise Wrong(f"the column unit says {unit[:20]!r}; a latency is in {', '.join(UNITS)}")
    scaled = value.scaleb(UNITS[unit])
    if not 0 <= scaled <= _MAX_NS:
        raise Wrong("is no duration that nanoseconds can hold")
    return int(scaled.to_integral_value(rounding="ROUND_HALF_UP"))


def dimensions(value: str) -> tuple[tuple[str, ...], str]:
    """`rows x hidden bf16`: the dimensions of a tensor, each a number or an axis, and its dtype. Raises Wrong."""
    found = _DIMENSIONS.fullmatch(value)
    if found is None:
        raise Wrong(f"{value[:60]!r} is no tensor; write its dimensions and its dtype, such as 128 x hidden bf16")
    return tuple(part.strip() for part in re.split(r"\s+x\s+|(?<=\d)x(?=\d)", found["shape"])), found["dtype"]


def _as_a_whole(entry: Entry) -> Iterator[tuple[str, str]]:
    status = entry.text.get("status", "passed")
    further = [name for name in ("metric", "statistic") if name in entry.text]
    if entry.latencies and not ({"median", "mean"} & entry.latencies.keys()):
        yield "median", "is needed, or mean: one of the two stands for the run"
    if entry.value is not None and not (len(further) == 2 and "unit" in entry.text):
        yield "value", "needs the columns metric, statistic and unit beside it"
    if entry.value is not None and entry.latencies:
        yield "value", "stands beside a latency, whose unit would be its own; give it a row of its own"
    if entry.value is not None and "unit" in entry.text and token(entry.text["unit"]) != entry.text["unit"]:
        yield "unit", f"is no token; write {token(entry.text['unit'])!r}"
    if status == "passed" and not entry.latencies and entry.value is None:
        yield "median", "is needed, or mean, or metric, statistic, unit and value: a passed run has a measurement"
    for name, (shape, _) in entry.tensors.items():
        for part in shape:
            if not part.isdigit() and part not in entry.axes:
                yield f"tensor:{name}", f"{part!r} is neither a number nor an axis with a value in this row"
