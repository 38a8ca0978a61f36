"""Ratios, spreads, and which fields of two environments differ."""

from __future__ import annotations

import pytest

from attestations.comparison import Primary, compare, figures_of, spread
from attestations.environment import Difference, Environment, differences, of_run

RUN = Primary("median", "ns", 100_000.0, (90_000.0, 120_000.0), "p20 to p80")


@pytest.mark.parametrize(
    ("value", "unit", "ratio", "within", "near"),
    [
        (100_000, "ns", 1.0, True, True),
        (180, "us", 1.8, False, False),
        (0.12, "ms", 1.2, True, False),
        (0.000_05, "s", 0.5, False, False),
        (90_000, "ns", 0.9, True, True),
        (110_000, "ns", 1.1, True, True),
    ],
)
def test_a_ratio_is_taken_in_any_unit_of_time(value, unit, ratio, within, near):
    found = compare(value, unit, "median", RUN)
    assert found.ratio == pytest.approx(ratio)
    assert (found.within, found.is_near, found.spread_of) == (within, near, "p20 to p80")


def test_units_without_a_common_measure_are_not_compared():
    assert compare(1, "bytes", "median", RUN) is None
    assert compare(1, "ns", "median", Primary("mean", "bytes", 5.0)) is None
    assert compare(5, "tflops", "mean", Primary("mean", "tflops", 5.0)).ratio == 1.0


def test_a_run_without_spread_says_neither_yes_nor_no():
    assert compare(1, "ns", "mean", Primary("median", "ns", 1.0)).within is None
    assert compare(1, "ns", "mean", Primary("median", "ns", 1.0)).same_statistic is False


def test_the_widest_spread_counts_and_an_interval_only_without_any():
    assert spread({"p20": 1, "p80": 3, "p05": 0.5, "p95": 4}, None) == ((0.5, 4), "p05 to p95")
    assert spread({"p20": 1}, (1, 2)) == ((1, 2), "95 % confidence interval")
    assert spread({}, None) is None


def test_figures_are_of_one_metric_in_one_unit():
    spec = {
        "timing": {"latencyNs": {"median": 5, "confidence95": [4, 6]}},
        "measurements": [
            {"metric": "latency", "unit": "ns", "statistic": "p20", "value": 4},
            {"metric": "memory", "unit": "bytes", "statistic": "p80", "value": 9},
        ],
    }
    assert figures_of(spec, "latency", "ns") == {"median": 5.0, "p20": 4.0}
    assert figures_of(spec, "memory", "bytes") == {"p80": 9.0}


KNOWN = of_run(
    {
        "hardware": {"vendor": "nvidia", "product": "NVIDIA H100", "architecture": "sm_90", "formFactor": "PCIe"},
        "software": {
            "driver": "580.159.04",
            "framework": {"name": "pytorch", "version": "2.11"},
            "libraries": {"triton": "3.6.0"},
        },
        "settings": {"clocksLocked": True},
    }
)


@pytest.mark.parametrize(
    "same",
    [
        Environment(gpu="NVIDIA H100 PCIe"),
        Environment(gpu="nvidia-h100-pcie 80GB HBM3"),
        Environment(driver="580.159"),
        Environment(framework="torch 2.11.0+cu130"),
        Environment(libraries={"triton": "3.6"}),
        Environment(clocks="locked"),
        Environment(),
    ],
)
def test_the_same_spelled_otherwise_does_not_differ(same):
    assert differences(same, KNOWN) == ()


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (Environment(gpu="NVIDIA H100 SXM"), Difference("gpu", "NVIDIA H100 SXM", "NVIDIA H100 PCIe")),
        (Environment(driver="580.16"), Difference("driver", "580.16", "580.159.04")),
        (Environment(framework="pytorch 2.12"), Difference("framework", "pytorch 2.12", "pytorch 2.11")),
        (Environment(framework="jax 2.11"), Difference("framework", "jax 2.11", "pytorch 2.11")),
        (Environment(toolkit="CUDA 13.0"), Difference("toolkit", "CUDA 13.0", "")),
        (Environment(libraries={"triton": "3.7"}), Difference("triton", "3.7", "3.6.0")),
        (Environment(clocks="not locked"), Difference("clocks", "not locked", "locked")),
    ],
)
def test_what_differs_or_is_not_known_of_the_run_is_named(other, difference):
    assert differences(other, KNOWN) == (difference,)


def test_rocm_is_another_toolkit_than_cuda():
    assert differences(Environment(toolkit="ROCm 6.4"), Environment(toolkit="6.4")) != ()
    assert differences(Environment(toolkit="CUDA 13.0"), Environment(toolkit="13.0.88")) == ()


def test_an_environment_is_kept_as_it_was_said():
    said = Environment(gpu="a", libraries={"triton": "3"}, clocks="locked")
    assert Environment.of(said.document()) == said
    assert Environment.of(Environment().document()) == Environment()
