"""The primary measurement of a run and its metric key."""

import pytest

from runs.manifests.keys import Primary, metric_key, primary_measurement


def timing(statistic: str, **latency: object) -> dict[str, object]:
    return {"timing": {"primaryStatistic": statistic, "latencyNs": latency}}


@pytest.mark.parametrize(
    ("spec", "primary", "key"),
    [
        (timing("median", median=5, mean=6), Primary("latency", "median", "ns", 5), "latency:median:ns"),
        (timing("mean", median=5, mean=6), Primary("latency", "mean", "ns", 6), "latency:mean:ns"),
        (timing("median", mean=6), Primary("latency", "mean", "ns", 6), "latency:mean:ns"),
        (timing("mean", median=5), Primary("latency", "median", "ns", 5), "latency:median:ns"),
        (timing("p95", median=5, p95=9), Primary("latency", "p95", "ns", 9), "latency:p95:ns"),
        (timing("p95", median=5), None, "none"),
        (timing("geomean", median=5), None, "none"),
        (timing("confidence95", median=5, confidence95=[4, 6]), None, "none"),
        (
            timing("median", median=5, confidence95=[4, 6]),
            Primary("latency", "median", "ns", 5, low=4, high=6),
            "latency:median:ns",
        ),
        (
            {"timing": {"primaryStatistic": "median", "samples": 100, "latencyNs": {"median": 5}}},
            Primary("latency", "median", "ns", 5, samples=100),
            "latency:median:ns",
        ),
        (
            {
                "measurements": [
                    {"metric": "score", "statistic": "geomean", "unit": "s", "value": 2e-05, "sampleCount": 3},
                    {"metric": "latency", "statistic": "p20", "unit": "ns", "value": 4},
                ]
            },
            Primary("score", "geomean", "s", 2e-05, samples=3),
            "score:geomean:s",
        ),
        ({"measurements": []}, None, "none"),
        ({}, None, "none"),
    ],
)
def test_it_finds_the_primary_measurement(spec, primary, key):
    assert primary_measurement(spec) == primary
    assert metric_key(primary) == key


def test_timing_comes_before_measurements():
    spec = timing("median", median=5) | {
        "measurements": [{"metric": "score", "statistic": "geomean", "unit": "s", "value": 1}]
    }
    assert primary_measurement(spec) == Primary("latency", "median", "ns", 5)
