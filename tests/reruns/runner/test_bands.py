"""Sentinel kernels are compared with the runner's own history."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runs.reruns.runner.bands import FEWEST_BATCHES, LAST_BATCHES, append_history, bands, is_inside, read_history


def reading(copy, launch=3000):
    return {"before": {"copy_ns": copy, "launch_ns": launch}, "after": {"copy_ns": copy, "launch_ns": launch}}


def test_a_short_history_has_no_bands():
    assert bands([reading(1000)] * (FEWEST_BATCHES - 1)) == {}


def test_a_quiet_history_allows_what_a_verdict_allows():
    assert bands([reading(1000)] * FEWEST_BATCHES)["copy"] == (900, 1100)


def test_a_noisy_sentinel_has_a_wider_band():
    history = [reading(1000, launch) for launch in (2000, 3000, 4000, 3000, 2500, 3500)]
    low, high = bands(history)["launch"]
    assert low < 2000
    assert high > 4000


@given(st.lists(st.integers(900, 1100), min_size=FEWEST_BATCHES, max_size=60))
def test_a_band_holds_its_own_middle(values):
    history = [reading(value) for value in values]
    low, high = bands(history)["copy"]
    assert low <= sorted(values)[len(values) // 2] <= high


def test_one_reading_outside_is_outside():
    limits = {"copy": (900, 1100), "launch": (2700, 3300)}
    assert is_inside(reading(1000), limits)
    assert not is_inside(reading(1101), limits)
    assert not is_inside(reading(1000, launch=2699), limits)


def test_a_batch_without_its_last_sentinels_does_not_count():
    assert not is_inside({"before": {"copy_ns": 1000}}, {})


def test_each_device_has_a_history_of_its_own_that_does_not_grow_for_ever(tmp_path):
    path = tmp_path / "sentinels.jsonl"
    for number in range(LAST_BATCHES + 3):
        append_history(path, "GPU-1", reading(number), {"batch": str(number)})
    append_history(path, "GPU-2", reading(7), {"batch": "x"})
    assert read_history(path, "GPU-2") == [reading(7)]
    assert read_history(path, "GPU-1")[0]["before"]["copy_ns"] == 3
    assert len(read_history(path, "GPU-1")) == LAST_BATCHES
    assert read_history(tmp_path / "none", "GPU-1") == []
