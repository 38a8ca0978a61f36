import statistics

from hypothesis import given
from hypothesis import strategies as st

from runs.reruns.harness.rounds import quantile_ns, round_record, summarise_rounds


def _round(samples, device_ns: int = 100, **changes):
    event = {"samples": samples, "host_ns": 50, "tampered": False}
    device = {"device_ns": device_ns, "activities": 1.0, "calls": 5, "tampered": False}
    return round_record(0, 42, event | changes, device)


@given(st.lists(st.integers(0, 10**12), min_size=1))
def test_the_median_is_the_statistics_modules(samples: list[int]):
    assert abs(quantile_ns(samples, 0.5) - statistics.median(samples)) <= 0.5


def test_quantiles_interpolate_linearly():
    assert quantile_ns([10, 20, 30, 40, 50, 60], 0.2) == 20
    assert quantile_ns([10, 20], 0.2) == 12
    assert quantile_ns([7], 0.8) == 7


def test_a_round_with_device_time_below_event_time_is_valid():
    assert _round([100, 110, 120], 113)["void"] == []


def test_device_time_over_event_time_voids_a_round():
    assert _round([100, 110, 120], 114)["void"] == ["device_time_exceeds_event_time"]


def test_times_of_zero_void_a_round():
    assert _round([0, 0, 5], 0)["void"] == ["event_time_zero", "device_time_zero"]


def test_a_replaced_timer_voids_a_round():
    assert _round([100], tampered=True)["void"] == ["timer_tampered"]


def test_void_rounds_do_not_count():
    summary = summarise_rounds([_round([100]), _round([1000], 5000), _round([120])], [])
    assert summary is not None
    assert summary["rounds"] == 2
    assert summary["event_ns"] == 110
    assert summary["event_medians_ns"] == [100, 120]
    assert summarise_rounds([_round([1000], 5000)], []) is None


def test_a_run_is_launch_bound_above_one_and_a_half_times_device_time():
    bound = {ns: summarise_rounds([_round([ns])], []) for ns in (150, 151)}
    assert [summary["launch_bound"] for summary in bound.values() if summary] == [False, True]


def test_graph_replays_that_failed_are_left_out():
    graphs = [{"round": 0, "ns": 90, "reason": None}, {"round": 1, "ns": None, "reason": "crashed"}]
    summary = summarise_rounds([_round([100])], graphs)
    assert summary is not None
    assert summary["graph_ns"] == 90
