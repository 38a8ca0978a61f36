import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.rerun_charts import (
    Calibrations,
    Sentinel,
    Strip,
    StripProcess,
    Telemetry,
    digest,
    spans,
    strip_rows,
    svg,
)

STRIP = Strip(
    "Samples <of> event time",
    "Two processes & a claim.",
    100_000.0,
    (
        StripProcess(0, (99_000, 100_000, 101_000, 101_000), 95_000, void=False),
        StripProcess(1, (98_000, 99_500, 100_500), None, void=True),
    ),
)
TELEMETRY = Telemetry(
    "Telemetry",
    "Over two seconds.",
    (0.0, 0.5, 1.0, 1.5, 2.0),
    (1980.0, 1965.0, 1500.0, 1500.0, 1980.0),
    (40.0, 41.0, 42.0, 43.0, 44.0),
    (120.0, 500.0, 700.0, 690.0, 130.0),
    (False, False, True, True, False),
    (False,) * 5,
)
CALIBRATIONS = Calibrations(
    "Sentinels",
    "Two sentinels.",
    (Sentinel("copy", (1.0, 1.01, None), (0.99, 1.0, 1.02)), Sentinel("matmul", (1.0, 1.0, 1.0), (None, 1.0, 1.0))),
)
CHARTS = (STRIP, TELEMETRY, CALIBRATIONS)


def words(drawn):
    return " ".join(ElementTree.fromstring(drawn).itertext())


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: type(chart).__name__)
@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_a_chart_is_valid_svg_with_title_and_description_and_no_style_attribute(chart, width):
    drawn = svg(chart, width)
    root = ElementTree.fromstring(drawn)
    assert [root[0].text, root[1].text] == [chart.title, chart.description]
    assert b' style="' not in drawn
    assert root.get("role") == "img"
    assert root.get("width") == {"wide": "720", "narrow": "340"}[width]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: type(chart).__name__)
def test_equal_charts_have_equal_bytes_and_digests(chart):
    again = replace(chart)
    assert svg(again) == svg(chart)
    assert digest(again) == digest(chart)
    assert digest(replace(chart, title="Another")) != digest(chart)


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: type(chart).__name__)
def test_every_colour_is_a_role_so_that_light_and_dark_both_fit(chart):
    drawn = svg(chart).decode()
    body = drawn[drawn.index("</style>") :]
    # The colour after a role is what a reader without custom properties sees.
    assert re.findall(r"(?<!,)#[0-9a-fA-F]{6}", body) == []
    assert "var(--accent," in body


def test_a_strip_names_the_claim_the_samples_and_the_device_time():
    drawn = svg(STRIP)
    for label in ("claim 100 µs", "samples of event time", "samples of a void process", "device time", "µs"):
        assert label in words(drawn)
    assert b"var(--warning," in drawn


def test_a_strip_without_void_processes_or_device_time_names_neither():
    shown = words(svg(replace(STRIP, processes=(StripProcess(0, (99_000, 100_000), None, void=False),))))
    assert "void" not in shown
    assert "device time" not in shown


def test_a_claim_far_from_the_samples_is_drawn_on_a_logarithmic_axis():
    assert svg(replace(STRIP, claim=1_000.0)).count(b"<") > 0
    assert "claim 1.00 µs" in words(svg(replace(STRIP, claim=1_000.0)))


def test_many_samples_stay_a_small_picture():
    many = tuple(StripProcess(index, tuple(range(90_000, 110_000)), 80_000, void=False) for index in range(15))
    assert len(svg(replace(STRIP, processes=many))) < 700_000


def test_samples_that_are_all_equal_to_the_claim_can_be_drawn():
    assert svg(replace(STRIP, processes=(StripProcess(0, (100_000,) * 5, None, void=False),)))


@given(st.lists(st.integers(1, 10**9), min_size=2), st.booleans())
@settings(max_examples=200)
def test_a_pixel_row_is_near_the_value_that_falls_into_it(values, logarithmic):
    low, high = float(min(values)), float(max(values))
    row = strip_rows(low, high, logarithmic=logarithmic)
    for value in values:
        if logarithmic:
            assert value / row(value) < (high / low) ** (1 / 240) * 1.000001
        else:
            assert abs(row(value) - value) <= (high - low) / 240 * 0.500001


def test_spans_join_what_touches():
    assert spans((0.0, 1.0, 2.0, 3.0), (False, True, True, False)) == [(1.0, 3.0)]
    assert spans((0.0, 1.0, 2.0, 3.0), (True, False, False, True)) == [(0.0, 1.0), (3.0, 3.0)]
    assert spans((0.0, 1.0), (False, False)) == []
