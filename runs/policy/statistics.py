"""The few statistics a verdict needs: Student's t quantile and intervals for the logarithm of a ratio.

Pure standard library. The t distribution is computed through the regularised incomplete beta function (continued
fraction, modified Lentz method; Abramowitz and Stegun 26.5.8 and 26.7.1), and inverted by bisection, which is exact to
the last few bits and needs no table.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_TINY = 1e-300
_PRECISION = 1e-15
_MAX_TERMS = 500


@dataclass(frozen=True)
class Ratio:
    """A dimensionless ratio measured/claimed: its geometric mean and the interval around it."""

    estimate: float
    low: float
    high: float

    def within(self, low: float, high: float) -> bool:
        """Whether the whole interval lies in [low, high]."""
        return low <= self.low and self.high <= high


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for a, b > 0 and 0 ≤ x ≤ 1."""
    if not (a > 0 and b > 0 and 0 <= x <= 1):
        raise ValueError("the incomplete beta function needs a, b > 0 and 0 ≤ x ≤ 1")
    if x in (0.0, 1.0):
        return x
    # The continued fraction converges fast on this side only; the other follows by symmetry.
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    return front * _beta_fraction(a, b, x)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of I_x(a, b), by the modified Lentz method."""
    d = 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    c, value = 1.0, d
    for m in range(1, _MAX_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + term / c
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            return value
    return value


def student_t_cdf(t: float, degrees: int) -> float:
    """P(T ≤ t) for Student's t with `degrees` ≥ 1 degrees of freedom."""
    if degrees < 1:
        raise ValueError("Student's t needs at least one degree of freedom")
    tail = 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))
    return 1.0 - tail if t > 0 else tail


@lru_cache(maxsize=256)
def student_t_quantile(probability: float, degrees: int) -> float:
    """The t for which P(T ≤ t) = `probability` (0 < probability < 1), to about 1e-12."""
    if not 0 < probability < 1:
        raise ValueError("a quantile needs a probability between 0 and 1")
    if probability < 0.5:
        return -student_t_quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while student_t_cdf(high, degrees) < probability:
        low, high = high, high * 2
    while high - low > 1e-13 * max(1.0, high):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if student_t_cdf(middle, degrees) < probability else (low, middle)
    return (low + high) / 2


def confidence_interval(values: Sequence[float], reference: float, confidence: float) -> Ratio:
    """Where the geometric mean of `values` over `reference` lies, with the given confidence (two-sided).

    `values` are at least two positive durations in the unit of `reference`. Process medians scatter by a factor, not by
    an amount, so the interval is that of the mean of their logarithms.
    """
    return _log_interval(values, reference, confidence, extra_draw=False)


def prediction_interval(values: Sequence[float], reference: float, confidence: float) -> Ratio:
    """Where one more value like `values`, over `reference`, would lie with the given confidence (two-sided).

    Wider than the confidence interval: the reference is itself one measurement of one process, and may be as far from
    the mean as any other.
    """
    return _log_interval(values, reference, confidence, extra_draw=True)


def _log_interval(values: Sequence[float], reference: float, confidence: float, *, extra_draw: bool) -> Ratio:
    count = len(values)
    if count < 2:
        raise ValueError("an interval needs at least two values")
    if reference <= 0 or min(values) <= 0:
        raise ValueError("durations are positive")
    logs = [math.log(value / reference) for value in values]
    mean = math.fsum(logs) / count
    variance = math.fsum((value - mean) ** 2 for value in logs) / (count - 1)
    spread = variance * (1 / count + (1 if extra_draw else 0))
    half = student_t_quantile((1 + confidence) / 2, count - 1) * math.sqrt(spread)
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half))
