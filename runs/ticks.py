"""Where the axes of charts are marked, and which marks have room for their labels. Pure: numbers and pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

MOST: Final = 9
_FEWEST: Final = 3
_CHARACTER: Final = 6.9  # pixels of an average character at the charts' size, in the widest face that may stand in
_GAP: Final = 10.0  # pixels between two labels
# Mantissas of the marks of a logarithmic axis, the coarsest set first.
_MANTISSAS: Final = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)


def logarithmic(low: float, high: float) -> tuple[float, ...]:
    """Marks of a logarithmic axis from `low` to `high`, both positive: at least three, at most nine.

    Whole decades where the axis is long; else the 1-2-5 series or a denser one; where even that leaves too few, even
    steps.
    """
    sets = [_decades(low, high, mantissas) for mantissas in _MANTISSAS]
    fitting = [marks for marks in sets if _FEWEST <= len(marks) <= MOST]
    if fitting:
        return fitting[-1]
    if len(sets[0]) > MOST:
        return sets[0][:: math.ceil(len(sets[0]) / MOST)]
    return linear(low, high)


def _decades(low: float, high: float, mantissas: Sequence[float]) -> tuple[float, ...]:
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks = (float(f"{mantissa}e{exponent}") for exponent in exponents for mantissa in mantissas)
    return tuple(mark for mark in marks if low <= mark <= high)


def linear(low: float, high: float, most: int = MOST) -> tuple[float, ...]:
    """Marks in even round steps from `low` to `high`: as many as there may be. `low` < `high`."""
    span = high - low
    exponent = math.floor(math.log10(span)) - 1
    for scale in range(exponent, exponent + 4):
        for step in _STEPS[:-1]:
            size = float(f"{step}e{scale}")
            first, last = math.ceil(low / size - 1e-9), math.floor(high / size + 1e-9)
            if last - first + 1 <= most:
                return tuple(float(f"{place * size:.12g}") for place in range(first, last + 1))
    raise ValueError("an axis runs from a lesser to a greater number")


def width(text: str) -> float:
    """Pixels that a label takes, rather too many than too few."""
    return len(text) * _CHARACTER


def with_room(places: Sequence[float], labels: Sequence[str]) -> tuple[int, ...]:
    """Which labels, centred at ascending `places` in pixels, can be written without touching one another.

    The last is always written, and then from there down whatever has room: of an axis the far end matters most.
    """
    kept: list[int] = []
    edge = math.inf
    for place in range(len(places) - 1, -1, -1):
        half = width(labels[place]) / 2
        if places[place] + half + _GAP <= edge:
            kept.append(place)
            edge = places[place] - half
    return tuple(reversed(kept))


def shown(value: float) -> str:
    """A mark's label: digits and thousands apart; an exponent only for what is very small or very large."""
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.3g}"
    return f"{value:,.10g}"
