"""Ranking by the published vectors and by property."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.policy.ranking import (
    HIGHER_IS_BETTER,
    VERSION,
    VERSION_WITH_FLOOR,
    Candidate,
    Position,
    eligibility,
    rank,
)
from runs.policy.reasons import sentence

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "ranking.json").read_text())


def candidate(key="a", value=1.0, **changes):
    return Candidate(**{"key": key, "status": "passed", "metric": "latency", "value": value, **changes})


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["name"])
def test_it_ranks_as_the_published_vector_says(vector):
    metric = vector.get("metric", "latency")
    positions = rank(
        [candidate(**{"metric": metric, **run}) for run in vector["runs"]], strict=not vector.get("native", False)
    )
    version = vector.get("policy", VECTORS["policy"])
    expected = {key: Position(number, (), version) for key, number in vector["ranks"].items()}
    expected |= {key: Position(None, tuple(why), version) for key, why in vector.get("reasons", {}).items()}
    assert positions == expected


def test_without_being_told_otherwise_a_group_is_a_sources_own():
    overlapping = [candidate("a", 100.0, low=90.0, high=110.0), candidate("b", 101.0, low=90.0, high=110.0)]
    assert [position.rank for position in rank(overlapping).values()] == [1, 2]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_number_does_not_rank(value):
    assert rank([candidate(value=value)])["a"].reasons == ("NOT_POSITIVE",)


@pytest.mark.parametrize(("low", "high"), [(math.nan, math.nan), (-math.inf, math.inf)])
def test_an_interval_without_numbers_is_a_point(low, high):
    positions = rank([candidate("a", 100.0, low=low, high=high), candidate("b", 101.0)], strict=True)
    assert positions["b"].rank == 2


def test_the_rule_of_the_floor_is_the_only_difference_between_the_versions():
    group = [candidate("a", 1.0), candidate("b", 2.0), candidate("c", 3.0)]
    assert {position.version for position in rank(group).values()} == {VERSION}
    floored = rank([replace(group[0], below_floor_confirmed=True), *group[1:]])
    assert {position.version for position in floored.values()} == {VERSION_WITH_FLOOR}
    assert [floored[key].rank for key in "bc"] == [rank(group[1:])[key].rank for key in "bc"]


def test_every_reason_has_its_sentence():
    worst = candidate(status="timeout", value=-1.0, retracted=True, superseded=True, below_floor_confirmed=True)
    for code in (*eligibility(worst), *eligibility(candidate(value=None))):
        assert sentence(code).endswith(".")


numbers = st.none() | st.floats(allow_nan=True) | st.integers(-2, 9).map(float)
measured = st.tuples(st.integers(1, 30), st.integers(0, 5), st.integers(0, 5), st.booleans())


@st.composite
def groups(draw):
    metric = draw(st.sampled_from(["latency", *sorted(HIGHER_IS_BETTER)]))
    sound = [
        candidate(
            str(number),
            float(value),
            metric=metric,
            low=value - below if stated else None,
            high=value + above if stated else None,
            retracted=draw(st.booleans()) and draw(st.booleans()),
        )
        for number, (value, below, above, stated) in enumerate(draw(st.lists(measured, max_size=9)))
    ]
    broken = [
        candidate(f"odd {number}", value, metric=metric, low=low, high=high)
        for number, (value, low, high) in enumerate(draw(st.lists(st.tuples(numbers, numbers, numbers), max_size=3)))
    ]
    return sound + broken


@given(groups(), st.booleans(), st.randoms())
def test_the_order_of_runs_does_not_matter(group, strict, rng):
    shuffled = list(group)
    rng.shuffle(shuffled)
    assert rank(shuffled, strict=strict) == rank(group, strict=strict)


@given(groups(), st.booleans())
def test_every_run_has_a_dense_rank_or_reasons(group, strict):
    positions = rank(group, strict=strict)
    assert set(positions) == {each.key for each in group}
    assert all((position.rank is None) == bool(position.reasons) for position in positions.values())
    ranks = sorted({position.rank for position in positions.values() if position.rank is not None})
    assert ranks == list(range(1, len(ranks) + 1))


@given(groups(), st.booleans())
def test_a_better_value_never_ranks_behind_a_worse_one(group, strict):
    positions = rank(group, strict=strict)
    ranked = [each for each in group if positions[each.key].rank]
    for one in ranked:
        for other in ranked:
            better = one.value > other.value if one.metric in HIGHER_IS_BETTER else one.value < other.value
            if better:
                assert positions[one.key].rank <= positions[other.key].rank
            if one.value == other.value:
                assert positions[one.key].rank == positions[other.key].rank


@given(groups())
def test_a_sources_own_group_has_a_rank_for_each_value(group):
    positions = rank(group)
    values = {each.value for each in group if positions[each.key].rank}
    assert len({position.rank for position in positions.values()} - {None}) == len(values)


@given(groups(), st.booleans())
def test_a_run_that_does_not_rank_changes_no_other_position(group, strict):
    positions = rank(group, strict=strict)
    ranked = [each for each in group if positions[each.key].rank]
    assert rank(ranked, strict=strict) == {each.key: positions[each.key] for each in ranked}


@given(groups())
def test_latency_and_its_mirror_image_rank_alike(group):
    ranked = [each for each in group if not eligibility(each) and each.value < 1000 and math.isfinite(each.low or 0)]
    ranked = [each for each in ranked if math.isfinite(each.high or 0)]
    times = [replace(each, metric="latency") for each in ranked]

    def mirrored(number):
        return None if number is None else 10_000 - number

    rates = [
        replace(each, metric="throughput", value=mirrored(each.value), low=mirrored(each.high), high=mirrored(each.low))
        for each in times
        if float(each.value).is_integer()
        and all(end is None or (abs(end) < 1000 and float(end).is_integer()) for end in (each.low, each.high))
    ]
    kept = {each.key for each in rates}
    times = [each for each in times if each.key in kept]
    assert rank(times, strict=True) == rank(rates, strict=True)
