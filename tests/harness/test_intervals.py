import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.reruns.harness.intervals import union_length

INTERVALS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)).map(lambda pair: (pair[0], sum(pair))))


@pytest.mark.parametrize(
    ("intervals", "length"),
    [
        ([], 0),
        ([(3, 3)], 0),
        ([(0, 10)], 10),
        ([(0, 10), (10, 15)], 15),
        ([(0, 10), (20, 25)], 15),
        ([(0, 10), (5, 15)], 15),
        ([(0, 100), (5, 15), (20, 30)], 100),
        ([(20, 25), (0, 10)], 15),
        ([(1_796_097_615_529_252_543, 1_796_097_615_529_252_550)], 7),
    ],
)
def test_it_counts_what_at_least_one_interval_covers(intervals: list[tuple[int, int]], length: int):
    assert union_length(intervals) == length


def test_it_refuses_an_interval_that_ends_before_it_starts():
    with pytest.raises(ValueError, match="before it starts"):
        union_length([(5, 4)])


@given(INTERVALS)
def test_it_equals_counting_every_nanosecond(intervals: list[tuple[int, int]]):
    assert union_length(intervals) == len({at for start, end in intervals for at in range(start, end)})


@given(INTERVALS)
def test_it_is_at_most_the_sum_of_the_durations(intervals: list[tuple[int, int]]):
    assert union_length(intervals) <= sum(end - start for start, end in intervals)
