"""Record histories by value and by property."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.policy.ranking import Candidate, rank
from runs.policy.records import Cause, Entry, history

START = datetime(2026, 1, 1, tzinfo=UTC)


def day(number):
    return START + timedelta(days=number)


def entry(key, value, observed, *, published=100, withdrawn=None, **changes):
    return Entry(key, value, day(observed), day(published), None if withdrawn is None else day(withdrawn), **changes)


def told(entries, metric="latency", *, strict=False):
    """The history as (day, cause, first, displaced)."""
    return [
        ((step.at - START).days, step.cause.value, step.first and step.first.key, step.displaced and step.displaced.key)
        for step in history(entries, metric=metric, strict=strict)
    ]


def test_a_group_without_runs_has_no_history():
    assert history([], metric="latency") == []


def test_each_faster_run_displaces_the_first_and_a_slower_one_is_no_step():
    entries = [entry("a", 100.0, 1), entry("b", 80.0, 3), entry("slow", 90.0, 4), entry("c", 40.0, 5)]
    assert told(entries) == [(1, "observed", "a", None), (3, "observed", "b", "a"), (5, "observed", "c", "b")]


def test_it_says_by_how_much():
    first, second = history([entry("a", 100.0, 1), entry("b", 80.0, 3)], metric="latency")
    assert (first.ratio, second.ratio) == (None, 0.8)


def test_more_throughput_is_the_record():
    assert told([entry("a", 100.0, 1), entry("b", 80.0, 2), entry("c", 120.0, 3)], "throughput") == [
        (1, "observed", "a", None),
        (3, "observed", "c", "a"),
    ]


def test_a_record_is_not_broken_by_an_equal_value():
    assert told([entry("a", 100.0, 2), entry("b", 100.0, 3)]) == [(2, "observed", "a", None)]


def test_a_run_that_is_published_late_changes_the_past():
    early = [entry("a", 100.0, 1, published=2), entry("b", 80.0, 5, published=6)]
    late = entry("late", 70.0, 3, published=50)
    assert told([*early, late]) == [(1, "observed", "a", None), (3, "observed", "late", "a")]


def test_an_observation_after_its_publication_counts_as_of_that():
    assert told([entry("a", 100.0, 9, published=4), entry("b", 90.0, 6, published=7)]) == [
        (4, "observed", "a", None),
        (6, "observed", "b", "a"),
    ]


def test_what_is_observed_at_one_instant_is_one_step():
    assert told([entry("a", 100.0, 1), entry("b", 50.0, 1), entry("c", 70.0, 1)]) == [(1, "observed", "b", None)]


def test_of_equals_at_one_instant_the_one_published_first_holds_the_record():
    entries = [entry("a", 100.0, 1, published=9), entry("b", 100.0, 1, published=8), entry("c", 100.0, 1, published=8)]
    assert told(entries) == [(1, "observed", "b", None)]


def test_a_withdrawn_holder_hands_the_first_place_to_the_best_that_stands():
    entries = [entry("a", 100.0, 1), entry("b", 10.0, 2, withdrawn=200), entry("c", 90.0, 3)]
    assert told(entries) == [
        (1, "observed", "a", None),
        (2, "observed", "b", "a"),
        (200, "withdrawn", "c", "b"),
    ]
    assert history(entries, metric="latency")[-1].ratio == 9.0


def test_a_withdrawn_run_that_is_not_first_is_no_step():
    entries = [entry("a", 100.0, 1), entry("b", 110.0, 2, withdrawn=200)]
    assert told(entries) == [(1, "observed", "a", None)]


def test_the_place_may_stay_empty_and_be_taken_again():
    entries = [entry("a", 10.0, 1, withdrawn=200), entry("b", 90.0, 300, published=301)]
    assert told(entries) == [
        (1, "observed", "a", None),
        (200, "withdrawn", None, "a"),
        (300, "observed", "b", None),
    ]


def test_a_run_that_was_withdrawn_before_it_stood_never_did():
    assert told([entry("a", 10.0, 5, withdrawn=5), entry("b", 90.0, 6)]) == [(6, "observed", "b", None)]


def test_a_correction_takes_over_at_the_instant_of_the_withdrawal():
    entries = [entry("wrong", 10.0, 1, withdrawn=50), entry("right", 95.0, 50, published=50), entry("c", 99.0, 2)]
    assert told(entries) == [(1, "observed", "wrong", None), (50, "withdrawn", "right", "wrong")]


def test_in_a_strict_group_a_record_must_beat_the_interval_of_the_holder():
    holder = entry("a", 100.0, 1, low=98.0, high=102.0)
    close, clear = entry("b", 99.0, 2, low=97.0, high=101.0), entry("c", 95.0, 3, low=94.0, high=96.0)
    assert told([holder, close, clear], strict=True) == [(1, "observed", "a", None), (3, "observed", "c", "a")]
    assert len(told([holder, close, clear])) == 3


def test_a_holder_whose_interval_reaches_the_first_across_another_run_has_lost_rank_one():
    entries = [
        entry("wide", 110.0, 1, low=100.0, high=120.0),
        entry("best", 100.0, 2, low=99.0, high=101.0),
        entry("between", 103.0, 3, low=102.0, high=104.0),
    ]
    assert told(entries, strict=True) == [(1, "observed", "wide", None), (3, "observed", "best", "wide")]


@st.composite
def groups(draw):
    entries = []
    for number in range(draw(st.integers(0, 8))):
        value = draw(st.integers(1, 12))
        observed, published = draw(st.integers(0, 6)), draw(st.integers(0, 6))
        leaves = draw(st.none() | st.none() | st.integers(0, 12))
        below, above = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        stated = draw(st.booleans())
        entries.append(
            entry(
                str(number),
                float(value),
                observed,
                published=published,
                withdrawn=leaves,
                low=float(value - below) if stated else None,
                high=float(value + above) if stated else None,
            )
        )
    return entries


metrics = st.sampled_from(["latency", "throughput"])


@given(groups(), metrics, st.booleans(), st.randoms())
def test_the_order_of_entries_does_not_matter(entries, metric, strict, rng):
    shuffled = list(entries)
    rng.shuffle(shuffled)
    assert history(shuffled, metric=metric, strict=strict) == history(entries, metric=metric, strict=strict)


@given(groups(), metrics, st.booleans())
def test_steps_are_in_order_of_time_and_hand_over_from_one_to_the_next(entries, metric, strict):
    steps = history(entries, metric=metric, strict=strict)
    assert all(one.at < other.at for one, other in pairwise(steps))
    assert [step.displaced for step in steps] == [None, *(step.first for step in steps)][: len(steps)]


@given(groups(), metrics, st.booleans())
def test_after_every_step_the_holder_is_one_that_ranking_puts_first(entries, metric, strict):
    steps = history(entries, metric=metric, strict=strict)
    for moment in sorted({each.since for each in entries} | {each.withdrawn for each in entries if each.withdrawn}):
        holder = next((step.first for step in reversed(steps) if step.at <= moment), None)
        standing = [
            Candidate(each.key, "passed", metric, each.value, low=each.low, high=each.high)
            for each in entries
            if each.since <= moment and (each.withdrawn is None or each.withdrawn > moment)
        ]
        if holder is None:
            assert standing == []
        else:
            assert rank(standing, strict=strict)[holder.key].rank == 1


@given(groups(), metrics)
def test_without_withdrawals_every_step_is_an_improvement(entries, metric):
    steps = history([replace(each, withdrawn=None) for each in entries], metric=metric)
    assert all(step.cause is Cause.OBSERVED for step in steps)
    for step in steps[1:]:
        assert step.ratio > 1 if metric == "throughput" else step.ratio < 1


@pytest.mark.parametrize("withdrawn", [None, 150])
def test_a_hopeless_run_leaves_history_alone(withdrawn):
    entries = [entry("a", 100.0, 1), entry("b", 80.0, 3, withdrawn=120)]
    assert told([*entries, entry("x", 1000.0, 2, withdrawn=withdrawn)]) == told(entries)
