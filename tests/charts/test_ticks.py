from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs import ticks

POSITIVE = st.floats(1e-6, 1e12, allow_nan=False)
STRETCH = st.floats(1.02, 1e9)


@given(POSITIVE, STRETCH)
def test_a_logarithmic_axis_has_enough_marks_and_none_too_many(low, stretch):
    high = low * stretch
    marks = ticks.logarithmic(low, high)
    assert 3 <= len(marks) <= ticks.MOST
    assert all(low * (1 - 1e-6) <= mark <= high * (1 + 1e-6) for mark in marks)
    assert all(one < other for one, other in pairwise(marks))


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [
        (0.9, 110, (1, 2, 5, 10, 20, 50, 100)),
        (1, 1e12, (1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12)),
        (95, 320, (100, 150, 200, 300)),
        (1.21, 1.39, (1.22, 1.24, 1.26, 1.28, 1.3, 1.32, 1.34, 1.36, 1.38)),
    ],
)
def test_marks_are_the_round_numbers_of_the_range(low, high, marks):
    assert ticks.logarithmic(low, high) == marks


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9), st.integers(3, 12))
def test_a_linear_axis_has_even_marks_within_it(low, span, most):
    high = low + span
    marks = ticks.linear(low, high, most)
    slack = max(abs(low), abs(high)) * 1e-9 + span * 1e-6
    assert 2 <= len(marks) <= most
    assert all(low - slack <= mark <= high + slack for mark in marks)
    steps = [other - one for one, other in pairwise(marks)]
    assert max(steps) - min(steps) <= slack


@given(st.lists(st.tuples(st.floats(0, 700), st.text("0123456789,", min_size=1, max_size=9)), min_size=1, max_size=40))
def test_labels_that_are_written_never_touch_and_the_last_is_among_them(labels):
    labels.sort(key=lambda label: label[0])
    places, texts = [place for place, _ in labels], [text for _, text in labels]
    kept = ticks.with_room(places, texts)
    assert kept[-1] == len(labels) - 1
    for one, other in pairwise(kept):
        assert places[one] + ticks.width(texts[one]) / 2 < places[other] - ticks.width(texts[other]) / 2


@pytest.mark.parametrize(
    ("value", "label"), [(131072, "131,072"), (0.05, "0.05"), (0, "0"), (1.5, "1.5"), (2e12, "2e+12"), (3e-7, "3e-07")]
)
def test_a_label_spells_its_number(value, label):
    assert ticks.shown(value) == label
