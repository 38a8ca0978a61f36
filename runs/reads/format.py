"""How values are spelled for people. Pure functions; templates use them as filters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

from runs.reads.values import Figure

_DURATIONS: Final = {"ns": Decimal(1), "us": Decimal(10) ** 3, "ms": Decimal(10) ** 6, "s": Decimal(10) ** 9}
_SYMBOLS: Final = {"ns": "ns", "us": "µs", "ms": "ms", "s": "s"}
_SIZES: Final = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_UNITS: Final = {"bytes", "byte", "b"}
_MULTIPLES: Final = ("", "k", "M", "G", "T", "P", "E")


def _significant(value: Decimal, digits: int = 3) -> Decimal:
    """`value` rounded to so many significant digits; digits before the decimal point are never dropped."""
    if not value:
        return Decimal(0)
    exponent = min(value.adjusted() - digits + 1, 0)
    return value.quantize(Decimal(1).scaleb(exponent), rounding=ROUND_HALF_EVEN)


def number(value: float) -> str:
    """A number with 3 significant digits, thousands set apart, and an exponent only where it is very small."""
    exact = Decimal(repr(value))
    if exact and exact.adjusted() < -4:
        return f"{exact:.2e}".replace("e", "e")
    return f"{_significant(exact):,f}"


def duration(value: float, unit: str) -> str:
    """A duration given in `unit` (ns, us, ms, s), in the unit that keeps 3 significant digits: `73.7 µs`."""
    nanoseconds = Decimal(repr(value)) * _DURATIONS[unit]
    # Round before the unit is chosen, so that 999,960 ns reads 1.00 ms and not 1000 µs.
    if nanoseconds:
        nanoseconds = nanoseconds.quantize(Decimal(1).scaleb(nanoseconds.adjusted() - 2), rounding=ROUND_HALF_EVEN)
    chosen = "ns"
    for name, size in _DURATIONS.items():
        if abs(nanoseconds) >= size:
            chosen = name
    shown = nanoseconds / _DURATIONS[chosen]
    if chosen == "ns" and shown == shown.to_integral_value():
        return f"{shown:,.0f} ns"
    return f"{_significant(shown):,f} {_SYMBOLS[chosen]}"


def size(value: float) -> str:
    """A number of bytes with 3 significant digits in a binary unit: `1.50 GiB`."""
    amount = Decimal(repr(value))
    step = 0
    while step < len(_SIZES) - 1 and abs(_significant(amount)) >= 1024:
        amount /= 1024
        step += 1
    return f"{amount:,.0f} {_SIZES[0]}" if step == 0 else f"{_significant(amount):,f} {_SIZES[step]}"


def figure(value: Figure) -> str:
    """A measured figure in a unit that reads well."""
    if value.unit in _DURATIONS:
        return duration(value.value, value.unit)
    if value.unit in _UNITS:
        return size(value.value)
    return f"{number(value.value)} {value.unit}"


def common_unit(values: Iterable[float], unit: str) -> tuple[str, float]:
    """The unit in which the larger of these values read well, and what to multiply them with: `("µs", 0.001)`."""
    largest = max((abs(value) for value in values), default=0.0)
    if unit in _DURATIONS:
        nanoseconds = largest * float(_DURATIONS[unit])
        fitting = [name for name, length in _DURATIONS.items() if nanoseconds >= float(length)]
        chosen = fitting[-1] if fitting else "ns"
        return _SYMBOLS.get(chosen, chosen), float(_DURATIONS[unit] / _DURATIONS[chosen])
    if unit in _UNITS:
        step = min(int(math.log2(largest) // 10), len(_SIZES) - 1) if largest >= 1 else 0
        return _SIZES[step], 1024.0**-step
    return unit, 1.0


def rate(value: float, unit: str) -> str:
    """A rate in decimal multiples, as data sheets print them: `4.80 TB/s`, `989 TFLOP/s`."""
    amount = Decimal(repr(value))
    step = min(max(amount.adjusted() // 3, 0), len(_MULTIPLES) - 1) if amount else 0
    return f"{_significant(amount.scaleb(-3 * step)):,f} {_MULTIPLES[step]}{unit}/s"


def percent(share: float) -> str:
    """A share in per cent, with 3 significant digits: `41.2 %`."""
    return f"{number(100 * share)} %"


def exact(value: Figure) -> str:
    """A measured figure exactly as its manifest has it."""
    return f"{value.value} {value.unit}"


def instant(value: datetime) -> str:
    """`2026-02-28 00:23:31 UTC`."""
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def date(value: datetime) -> str:
    """`2026-02-28`, in UTC."""
    return value.astimezone(UTC).strftime("%Y-%m-%d")


def short_digest(digest: str, digits: int = 16) -> str:
    """The beginning of a digest, enough to tell it from any other: `sha256:632687a0a3d057a5…`."""
    algorithm, _, digits_given = digest.partition(":")
    return f"{algorithm}:{digits_given[:digits]}…" if len(digits_given) > digits else digest
