from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.policy.comparison import PARTS, Basis, Contender, Ratio, decide, mismatches

BASE = Basis("o", "w", "p", "e", "c", "m")


def contender(rank, value, low=None, high=None, metric="latency", **options):
    return Contender(rank, metric, value, low, high, **options)


def test_parts_are_those_of_the_comparison_key_most_fundamental_first():
    assert PARTS == ("operation", "workload", "protocol", "environment", "correctness", "metric")
    assert tuple(field.name for field in fields(Basis)) == PARTS


@given(st.sets(st.sampled_from(PARTS), min_size=1))
def test_whatever_differs_is_named_in_order_and_nothing_else(differing):
    other = replace(BASE, **dict.fromkeys(differing, "another"))
    expected = tuple(part for part in PARTS if part in differing)
    assert mismatches([BASE, other]) == expected
    assert mismatches([other, BASE, BASE]) == expected
    assert mismatches([other, other]) == ()


ANY = st.builds(
    Contender,
    st.none() | st.integers(1, 5),
    st.sampled_from(["latency", "throughput"]),
    st.none() | st.floats(1e-3, 1e9),
    st.none() | st.floats(1e-3, 1e9),
    st.none() | st.floats(1e-3, 1e9),
    st.booleans(),
)


@given(st.sampled_from(PARTS), st.lists(ANY, min_size=2, max_size=8))
def test_runs_of_different_groups_never_get_a_winner_or_a_ratio(part, contenders):
    bases = [BASE] * (len(contenders) - 1) + [replace(BASE, **{part: "another"})]
    decision = decide(bases, contenders)
    assert (decision.outcome, decision.leaders, decision.ratios, decision.mismatches) == ("no_group", (), (), (part,))


@given(st.lists(ANY.map(lambda each: replace(each, metric="latency")), min_size=2, max_size=8))
def test_inside_a_group_the_leaders_are_those_of_the_best_rank(contenders):
    decision = decide([BASE] * len(contenders), contenders)
    real = any(not each.illustrative for each in contenders)
    part = [
        place
        for place, each in enumerate(contenders)
        if each.rank and each.value is not None and not (real and each.illustrative)
    ]
    if len(part) < 2:
        assert (decision.outcome, decision.ratios) == ("alone", ())
        return
    best = min(contenders[place].rank for place in part)
    assert decision.leaders == tuple(place for place in part if contenders[place].rank == best)
    assert decision.outcome == ("ahead" if len(decision.leaders) == 1 else "shared")
    assert [place for place, ratio in enumerate(decision.ratios) if ratio] == part


def test_a_ratio_is_over_the_leaders_value():
    decision = decide([BASE] * 3, [contender(2, 150), contender(1, 100), contender(3, 250)])
    assert decision.outcome == "ahead"
    assert decision.leaders == (1,)
    assert decision.ratios == (Ratio(1.5), Ratio(1.0), Ratio(2.5))


def test_more_of_a_throughput_is_ahead():
    decision = decide([BASE] * 2, [contender(2, 50, metric="throughput"), contender(1, 100, metric="throughput")])
    assert decision.leaders == (1,)
    assert decision.ratios == (Ratio(0.5), Ratio(1.0))


def test_the_interval_of_a_ratio_follows_from_the_ends_of_both():
    decision = decide([BASE] * 2, [contender(1, 100, 80, 125), contender(2, 200, 160, 250)])
    assert decision.ratios == (Ratio(1.0), Ratio(2.0, 160 / 125, 250 / 80))
    throughput = [contender(1, 200, 160, 250, "throughput"), contender(2, 100, 80, 125, "throughput")]
    assert decide([BASE] * 2, throughput).ratios[1] == Ratio(0.5, 80 / 250, 125 / 160)


@pytest.mark.parametrize("ends", [(None, None), (160, None), (None, 250), (0, 250)])
def test_without_both_intervals_a_ratio_has_none(ends):
    decision = decide([BASE] * 2, [contender(1, 100, 80, 125), contender(2, 200, *ends)])
    assert decision.ratios[1] == Ratio(2.0)


def test_runs_that_share_the_best_rank_have_no_winner_and_the_best_value_as_reference():
    decision = decide([BASE] * 3, [contender(1, 104, 101, 106), contender(1, 100, 98, 102), contender(2, 200)])
    assert (decision.outcome, decision.leaders) == ("shared", (0, 1))
    assert decision.ratios[0].value == 1.04
    assert decision.ratios[1] == Ratio(1.0)


def test_a_run_that_does_not_rank_takes_no_part():
    decision = decide([BASE] * 3, [contender(None, 1), contender(4, 100), contender(7, 200)])
    assert decision.leaders == (1,)
    assert decision.ratios == (None, Ratio(1.0), Ratio(2.0))
    assert decide([BASE] * 2, [contender(None, 1), contender(4, 100)]).outcome == "alone"


def test_a_made_up_run_takes_no_part_beside_real_ones_and_is_compared_with_its_like():
    made_up = contender(1, 1, illustrative=True)
    assert decide([BASE] * 3, [made_up, contender(2, 100), contender(3, 200)]).leaders == (1,)
    assert decide([BASE] * 2, [made_up, contender(2, 100)]).outcome == "alone"
    assert decide([BASE] * 2, [made_up, contender(2, 2, illustrative=True)]).leaders == (0,)
