from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.reads import format as spelled
from runs.reads.values import Figure


@pytest.mark.parametrize(
    ("nanoseconds", "shown"),
    [
        (0, "0 ns"),
        (1, "1 ns"),
        (512, "512 ns"),
        (999, "999 ns"),
        (1000, "1.00 µs"),
        (71712, "71.7 µs"),
        (73728, "73.7 µs"),
        (73926, "73.9 µs"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),
        (1_234_567, "1.23 ms"),
        (20_000_000_000, "20.0 s"),
        (1_234_000_000_000, "1,230 s"),
        (0.5, "0.500 ns"),
        (12.345, "12.3 ns"),
        (-73728, "-73.7 µs"),
    ],
)
def test_it_spells_a_duration_with_three_significant_digits(nanoseconds, shown):
    assert spelled.duration(nanoseconds, "ns") == shown


def test_it_spells_a_score_in_seconds_in_the_unit_that_suits_it():
    assert spelled.duration(2.184426697471969e-05, "s") == "21.8 µs"
    assert spelled.duration(0.07372800260782242, "ms") == "73.7 µs"
    assert spelled.duration(1500, "us") == "1.50 ms"


@given(st.integers(1, 10**15))
def test_a_spelled_duration_is_within_half_a_digit_of_the_exact_one(nanoseconds):
    number, unit = spelled.duration(nanoseconds, "ns").replace(",", "").split()
    shown = Decimal(number) * {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}[unit]
    assert abs(shown - nanoseconds) <= Decimal(nanoseconds) / 200
    if unit != "s":
        assert abs(Decimal(number)) < 1000


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 bytes"), (512, "512 bytes"), (1024, "1.00 KiB"), (1536, "1.50 KiB"), (143_771 * 2**20, "140 GiB")],
)
def test_it_spells_a_size_in_binary_units(count, shown):
    assert spelled.size(count) == shown


def test_it_spells_figures_of_every_unit():
    assert spelled.figure(Figure("latency", "median", "ns", 73728)) == "73.7 µs"
    assert spelled.figure(Figure("peak_memory", "median", "bytes", 3 * 2**30)) == "3.00 GiB"
    assert spelled.figure(Figure("throughput", "mean", "tokens_s", 8840.42)) == "8,840 tokens_s"
    assert spelled.figure(Figure("error", "max", "ratio", 0.00000123)) == "1.23e-6 ratio"


def test_the_exact_figure_is_the_manifests_own():
    assert spelled.exact(Figure("latency", "median", "ns", 73728)) == "73728 ns"
    assert spelled.exact(Figure("score", "geomean", "s", 2.184426697471969e-05)) == "2.184426697471969e-05 s"


def test_times_are_shown_in_utc_with_the_date_written_out():
    east = datetime(2026, 2, 28, 1, 23, 31, tzinfo=timezone(timedelta(hours=2)))
    assert spelled.instant(east) == "2026-02-27 23:23:31 UTC"
    assert spelled.date(east) == "2026-02-27"
    assert spelled.date(datetime(2026, 2, 28, tzinfo=UTC)) == "2026-02-28"


def test_a_digest_is_shortened_to_what_tells_it_apart():
    assert spelled.short_digest("sha256:" + "a" * 64) == "sha256:" + "a" * 16 + "…"
    assert spelled.short_digest("sha256:" + "a" * 64, 12) == "sha256:" + "a" * 12 + "…"
    assert spelled.short_digest("sha256:abc") == "sha256:abc"
