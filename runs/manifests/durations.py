"""Durations: integer nanoseconds in a manifest, a number and a unit when a person writes one."""

import math
import re
from decimal import Decimal, localcontext

from runs.manifests.canonical import MAX_INTEGER
from runs.manifests.errors import ManifestError

_WRITTEN = re.compile(r"([0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?) ?(ns|us|µs|μs|ms|s)")
# The micro sign and the Greek letter mu look alike and both are typed.
_NANOSECONDS = {"ns": 0, "us": 3, "µs": 3, "μs": 3, "ms": 6, "s": 9}


def milliseconds_to_ns(milliseconds: float) -> int:
    """Milliseconds as whole nanoseconds: `milliseconds * 1e6` in IEEE doubles, then halves away from zero.

    `0.0739263966679573` ms is 73926 ns. Raises `ManifestError` for NaN, an infinity, or a result beyond ±(2^53 − 1).
    """
    product = milliseconds * 1e6
    if not math.isfinite(product) or abs(product) > MAX_INTEGER:
        raise ManifestError.of("", "duration", f"{milliseconds} ms is not a time that nanoseconds can hold")
    whole = math.trunc(product)
    # The difference of a double and its own integral part is exact, while adding 0.5 first would round.
    if abs(product - whole) >= 0.5:
        whole += 1 if product > 0 else -1
    return whole


def parse_duration(duration: str | int) -> int:
    """Nanoseconds of a duration given as an integer (ns) or written with a unit: "0.008 ms" is 8000.

    Units: ns, us, µs, ms, s. Raises `ManifestError` for a negative duration, another unit or none, one that is not a
    whole number of nanoseconds, and one beyond 2^53 − 1 ns.
    """
    if isinstance(duration, bool) or not isinstance(duration, int | str):
        raise ManifestError.of("", "duration", 'give integer nanoseconds, or text with a unit such as "0.008 ms"')
    if isinstance(duration, int):
        nanoseconds = duration
    else:
        written = _WRITTEN.fullmatch(duration.strip())
        if written is None:
            raise ManifestError.of(
                "", "duration", f'{duration[:60]!r} is no duration; write a number and ns, us, µs, ms or s: "0.008 ms"'
            )
        with localcontext() as context:
            context.prec = 200
            exact = Decimal(written[1]).scaleb(_NANOSECONDS[written[2]])
        if exact > MAX_INTEGER:
            raise ManifestError.of("", "duration", f"{duration[:60]!r} is more than 2^53 − 1 ns")
        if exact != exact.to_integral_value():
            raise ManifestError.of(
                "", "duration", f"{duration[:60]!r} is not a whole number of nanoseconds; round it to one"
            )
        nanoseconds = int(exact)
    if not 0 <= nanoseconds <= MAX_INTEGER:
        raise ManifestError.of("", "duration", "a duration lies between 0 and 2^53 − 1 ns")
    return nanoseconds
