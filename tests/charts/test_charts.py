import base64
import hashlib
import re
import threading
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs import charts
from runs.charts import WIDTHS, Bar, Bars, Scaling, Series, Steps

BARS = Bars(
    "GroupNorm by run",
    "Less is better.",
    "median latency, µs",
    (
        Bar("1  Liger-Kernel", 67.3, "67.3 µs", 66.4, 68.4, highlighted=True),
        Bar("2  Transformers", 73.7, "73.7 µs", 71.7, 73.9),
        Bar("3  eager", 90.0, "90.0 µs"),
    ),
)
SCALING = Scaling(
    "RMSNorm along hidden",
    "A hundred sizes.",
    "hidden",
    "median latency, ms",
    (
        Series("Liger-Kernel", tuple((2**power, 1.2 + power / 100) for power in range(7, 18))),
        Series("eager", tuple((2**power, 1.3 + power / 90) for power in range(7, 18))),
    ),
)
STEPS = Steps("First over time", "67.3 µs from 2026-02-28.", "first median latency, µs", ((1.77e9, 80), (1.78e9, 67.3)))
ALL = pytest.mark.parametrize("chart", [BARS, SCALING, STEPS], ids=["bars", "scaling", "steps"])
BOTH = pytest.mark.parametrize("width", ["wide", "narrow"])
SVG = "{http://www.w3.org/2000/svg}"


def drawn(chart, width="wide"):
    return ElementTree.fromstring(charts.svg(chart, width))


def texts(tree):
    return ["".join(each.itertext()) for each in tree.iter(f"{SVG}text")]


@ALL
@BOTH
def test_a_chart_is_valid_xml_of_its_size_with_title_and_description(chart, width):
    tree = drawn(chart, width)
    assert tree.tag == f"{SVG}svg"
    assert tree.get("role") == "img"
    assert (tree.find(f"{SVG}title").text, tree.find(f"{SVG}desc").text) == (chart.title, chart.description)
    assert (tree.get("width"), tree.get("height")) == (str(WIDTHS[width]), str(chart.height(width)))
    assert tree.get("viewBox") == f"0 0 {WIDTHS[width]} {chart.height(width)}"


@ALL
@BOTH
def test_equal_values_give_equal_bytes_whoever_draws_them(chart, width):
    first = charts.svg(chart, width)
    charts.svg.cache_clear()
    assert charts.svg(replace(chart), width) == first
    charts.svg.cache_clear()
    found = []
    threads = [threading.Thread(target=lambda: found.append(charts.svg.__wrapped__(chart, width))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {first}


@ALL
def test_a_digest_names_the_values(chart):
    assert charts.digest(chart) == charts.digest(replace(chart))
    assert charts.digest(chart) != charts.digest(replace(chart, title="another"))
    assert re.fullmatch("[0-9a-f]{24}", charts.digest(chart))


@ALL
@BOTH
def test_a_chart_needs_no_inline_style_script_or_other_resource(chart, width):
    tree, written = drawn(chart, width), charts.svg(chart, width).decode()
    for element in tree.iter():
        assert element.tag != f"{SVG}script"
        for name, value in element.attrib.items():
            assert name != "style"
            assert not name.startswith("on")
            assert not name.endswith("href") or value.startswith("#")
    assert "url(http" not in written
    assert written.count("<style") == 1


@ALL
def test_every_colour_is_a_role_with_a_light_and_a_dark_one(chart):
    written = charts.svg(chart).decode()
    used = set(re.findall(r'(?:fill|stroke)="([^"]*)"', written))
    assert used
    assert all(value == "none" or value.startswith("var(--") for value in used), used
    style = drawn(chart).find(f"{SVG}style").text
    for role in {re.match(r"var\(--(\w+)", value)[1] for value in used if value != "none"}:
        assert style.count(f"--{role}:") == 2


def test_the_policy_allows_the_one_style_of_a_chart():
    style = drawn(BARS).find(f"{SVG}style").text
    wanted = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{wanted}'" in charts.POLICY
    assert "default-src 'none'" in charts.POLICY


HOSTILE = [
    "</text><script>alert(1)</script>",
    '" onload="alert(1)',
    "$\\frac{broken$",
    "_private",
    "a & b < c > d",
    "two\nlines\tand more",
    "bad \x00\x0b\ud800 characters",
    "漢字 😀 without a glyph",
    "x" * 500,
    "",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_text_and_nothing_else(text):
    charts_of_it = (
        Bars(text, text, text, (Bar(text, 1.0, text, 0.9, 1.1), Bar(text, 2.0, text))),
        Scaling(text, text, text, text, (Series(text, ((1, 1.0), (2, 2.0))), Series(text, ((1, 3.0), (2, 4.0))))),
        Steps(text, text, text, ((1.77e9, 1.0), (1.78e9, 0.5))),
    )
    shown = " ".join(re.sub("[\x00\x0b\ud800]", "\ufffd", text).split())[:10].strip()
    for chart in charts_of_it:
        tree = drawn(chart, "narrow")
        assert {element.tag for element in tree.iter()} <= {
            f"{SVG}{name}"
            for name in (
                "svg",
                "title",
                "desc",
                "style",
                "defs",
                "g",
                "path",
                "text",
                "use",
                "clipPath",
                "rect",
                "tspan",
            )
        }
        assert all(not name.startswith("on") for element in tree.iter() for name in element.attrib)
        assert any(shown in written.replace("\u2060", "") for written in texts(tree)) or not shown


def test_every_series_is_named_even_where_its_name_begins_with_an_underscore():
    chart = replace(SCALING, series=(replace(SCALING.series[0], label="_one"), replace(SCALING.series[1], label="two")))
    assert {"_one", "two"} <= {text.replace("\u2060", "") for text in texts(drawn(chart))}


@BOTH
def test_bars_name_each_run_its_value_and_the_unit(width):
    shown = texts(drawn(BARS, width))
    for bar in BARS.bars:
        assert " ".join(bar.label.split()) in shown
        assert bar.text in shown
    assert BARS.unit in shown


@BOTH
def test_a_logarithmic_axis_over_less_than_a_decade_still_has_its_numbers(width):
    shown = texts(drawn(SCALING, width))
    assert sum(text in shown for text in ("1.2", "1.3", "1.4", "1.5")) >= 3
    assert "131,072" in shown


def test_a_telephone_leaves_out_labels_that_have_no_room():
    sizes = tuple((1024 * size, 1.0 + size) for size in range(1, 41))
    chart = replace(SCALING, series=(Series("one", sizes),))
    labels = {f"{size:,}" for size, _ in sizes}
    narrow, wide = (labels & set(texts(drawn(chart, width))) for width in ("narrow", "wide"))
    assert 2 <= len(narrow) < len(wide) < len(labels)
    assert "40,960" in narrow


def test_a_history_is_no_taller_than_it_has_to_be_and_dates_its_steps():
    assert STEPS.height("wide") <= 240
    assert {"2026-02-02", "2026-05-28"} <= set(texts(drawn(STEPS)))


VALUES = st.floats(1e-9, 1e15)


@settings(max_examples=6, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2**37), VALUES), min_size=1, max_size=8, unique_by=lambda point: point[0]))
def test_any_positive_values_can_be_drawn(points):
    points.sort()
    line = tuple(points)
    drawn(Scaling("t", "d", "axis", "unit", (Series("a", line),)))
    drawn(Steps("t", "d", "unit", line))
    drawn(Bars("t", "d", "unit", tuple(Bar("a", value, "v", value * 0.9, value * 1.2) for _, value in line)))
