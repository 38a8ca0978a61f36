"""Milliseconds and written durations as whole nanoseconds."""

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.manifests.canonical import MAX_INTEGER
from runs.manifests.durations import milliseconds_to_ns, parse_duration
from runs.manifests.errors import ManifestError


@pytest.mark.parametrize(
    ("milliseconds", "nanoseconds"),
    [
        (0.0739263966679573, 73926),
        (0.5324159860610962, 532416),
        (0.0000005, 1),
        (0.0000015, 2),
        (0.0000025, 3),
        (-0.0000005, -1),
        (-0.0000025, -3),
        (4.999999999999999e-07, 0),
        (0.0, 0),
        (1, 1_000_000),
        (9007199254.74099, MAX_INTEGER - 1),
    ],
)
def test_milliseconds_round_to_the_nearest_nanosecond_and_halves_away_from_zero(milliseconds, nanoseconds):
    assert milliseconds_to_ns(milliseconds) == nanoseconds


@given(st.floats(min_value=-9e9, max_value=9e9))
def test_rounding_agrees_with_exact_decimals_of_the_double_product(milliseconds):
    expected = Decimal(milliseconds * 1e6).quantize(Decimal(1), rounding=ROUND_HALF_UP)
    assert milliseconds_to_ns(milliseconds) == int(expected)


@pytest.mark.parametrize("milliseconds", [float("nan"), float("inf"), float("-inf"), 1e300, 9007199254.741])
def test_it_refuses_milliseconds_that_nanoseconds_cannot_hold(milliseconds):
    with pytest.raises(ManifestError, match="is not a time that nanoseconds can hold"):
        milliseconds_to_ns(milliseconds)


@pytest.mark.parametrize(
    ("written", "nanoseconds"),
    [
        ("0.008 ms", 8000),
        ("8us", 8000),
        ("8 µs", 8000),
        ("8 μs", 8000),
        ("1.5e3 ns", 1500),
        (" 2 s ", 2_000_000_000),
        ("0.000000001 s", 1),
        ("9007199254740991 ns", MAX_INTEGER),
        (73926, 73926),
        (0, 0),
    ],
)
def test_it_reads_a_duration_as_people_write_it(written, nanoseconds):
    assert parse_duration(written) == nanoseconds


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("0.0000001 ms", "not a whole number of nanoseconds"),
        ("1.5 ns", "not a whole number of nanoseconds"),
        ("5", "is no duration"),
        ("5 minutes", "is no duration"),
        ("ms", "is no duration"),
        ("-1 ms", "is no duration"),
        ("1,5 ms", "is no duration"),
        ("1e99 s", "more than 2^53"),
        ("9007199254740992 ns", "more than 2^53"),
        (-1, "between 0 and 2^53"),
        (2**53, "between 0 and 2^53"),
        (True, "give integer nanoseconds"),
        (1.5, "give integer nanoseconds"),
        (None, "give integer nanoseconds"),
    ],
)
def test_it_refuses_what_is_no_duration(written, reason):
    with pytest.raises(ManifestError, match=reason.replace("^", r"\^")):
        parse_duration(written)


@given(st.integers(0, MAX_INTEGER), st.sampled_from([("ns", 0), ("us", 3), ("µs", 3), ("ms", 6), ("s", 9)]))
def test_every_duration_can_be_written_in_every_unit(nanoseconds, unit):
    name, exponent = unit
    assert parse_duration(f"{Decimal(nanoseconds).scaleb(-exponent):f} {name}") == nanoseconds
