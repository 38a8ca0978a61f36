"""The t distribution against published tables, and intervals by value and property."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.policy.statistics import (
    Ratio,
    confidence_interval,
    incomplete_beta,
    prediction_interval,
    student_t_cdf,
    student_t_quantile,
)

# Critical values as printed in every table, such as NIST/SEMATECH e-Handbook 1.3.6.7.2.
PUBLISHED = [
    (0.90, 1, 3.078),
    (0.95, 1, 6.314),
    (0.975, 1, 12.706),
    (0.995, 1, 63.657),
    (0.95, 2, 2.920),
    (0.975, 4, 2.776),
    (0.99, 4, 3.747),
    (0.975, 14, 2.145),
    (0.99, 14, 2.624),
    (0.995, 30, 2.750),
    (0.975, 100, 1.984),
]

durations = st.lists(st.floats(min_value=1.0, max_value=1e9), min_size=2, max_size=20)


@pytest.mark.parametrize(("probability", "degrees", "value"), PUBLISHED)
def test_it_agrees_with_the_published_table(probability, degrees, value):
    assert student_t_quantile(probability, degrees) == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize("probability", [0.6, 0.9, 0.975, 0.9875, 0.999])
def test_it_agrees_with_the_closed_forms_of_one_and_two_degrees(probability):
    assert student_t_quantile(probability, 1) == pytest.approx(math.tan(math.pi * (probability - 0.5)), rel=1e-11)
    two = (2 * probability - 1) * math.sqrt(2 / (4 * probability * (1 - probability)))
    assert student_t_quantile(probability, 2) == pytest.approx(two, rel=1e-11)


@given(st.floats(min_value=0.001, max_value=0.999), st.integers(min_value=1, max_value=200))
def test_the_quantile_inverts_the_distribution(probability, degrees):
    assert student_t_cdf(student_t_quantile(probability, degrees), degrees) == pytest.approx(probability, abs=1e-10)


@given(st.floats(min_value=0.51, max_value=0.999), st.integers(min_value=1, max_value=100))
def test_the_distribution_is_symmetric(probability, degrees):
    assert student_t_quantile(1 - probability, degrees) == pytest.approx(
        -student_t_quantile(probability, degrees), rel=1e-9
    )


@pytest.mark.parametrize(("a", "b", "x"), [(0, 1, 0.5), (1, 0, 0.5), (1, 1, -0.1), (1, 1, 1.1)])
def test_the_incomplete_beta_function_refuses_what_is_outside_its_domain(a, b, x):
    with pytest.raises(ValueError, match="incomplete beta"):
        incomplete_beta(a, b, x)


def test_the_incomplete_beta_function_has_its_known_values():
    assert incomplete_beta(1, 1, 0.3) == pytest.approx(0.3)
    assert incomplete_beta(2, 2, 0.25) == pytest.approx(0.15625)
    assert (incomplete_beta(2, 3, 0.0), incomplete_beta(2, 3, 1.0)) == (0.0, 1.0)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_a_quantile_needs_a_probability_between_its_bounds(probability):
    with pytest.raises(ValueError, match="probability"):
        student_t_quantile(probability, 4)


def test_the_distribution_needs_a_degree_of_freedom():
    with pytest.raises(ValueError, match="degree of freedom"):
        student_t_cdf(1.0, 0)


def test_the_interval_is_that_of_the_textbook():
    # logs −0.1, 0, 0.1: mean 0, standard deviation 0.1; t(0.975, 2) = 4.302653
    values = [100 * math.exp(step) for step in (-0.1, 0.0, 0.1)]
    interval = confidence_interval(values, 100, 0.95)
    assert interval.estimate == pytest.approx(1.0)
    assert math.log(interval.high) == pytest.approx(4.302653 * 0.1 / math.sqrt(3), rel=1e-6)
    assert math.log(prediction_interval(values, 100, 0.95).high) == pytest.approx(
        4.302653 * 0.1 * math.sqrt(4 / 3), rel=1e-6
    )


@given(durations, st.floats(min_value=1.0, max_value=1e9))
def test_a_prediction_is_never_narrower_than_a_confidence_interval(values, reference):
    inner = confidence_interval(values, reference, 0.975)
    outer = prediction_interval(values, reference, 0.975)
    assert outer.low <= inner.low <= inner.high <= outer.high
    assert inner.estimate == outer.estimate


@given(durations, st.floats(min_value=1.0, max_value=1e6), st.floats(min_value=0.01, max_value=100))
def test_the_unit_of_the_durations_does_not_matter(values, reference, unit):
    one = confidence_interval(values, reference, 0.95)
    other = confidence_interval([value * unit for value in values], reference * unit, 0.95)
    assert math.log(other.estimate) == pytest.approx(math.log(one.estimate), abs=1e-9)
    assert math.log(other.high / other.low) == pytest.approx(math.log(one.high / one.low), rel=1e-6, abs=1e-9)


def test_within_holds_for_the_whole_interval_and_its_ends():
    assert Ratio(1.0, 0.9, 1.1).within(0.9, 1.1)
    assert not Ratio(1.0, 0.89, 1.1).within(0.9, 1.1)
    assert not Ratio(1.0, 0.9, 1.11).within(0.9, 1.1)


@pytest.mark.parametrize(("values", "reference"), [([1.0], 1.0), ([1.0, 0.0], 1.0), ([1.0, 2.0], 0.0)])
def test_an_interval_needs_two_positive_durations_and_a_positive_reference(values, reference):
    with pytest.raises(ValueError, match=r"two values|positive"):
        confidence_interval(values, reference, 0.95)
