import pytest

from runs.manifests.kinds.run import STATUSES
from runs.reads import correctness, facts
from runs.reads.values import Fact, Figure

NOT_ASSERTED = {"correctness": {"comparator": "not_asserted"}}


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_a_sentence_that_says_who_reports_it(status):
    by_source = correctness.note({"status": status, "sourceNative": {}}, NOT_ASSERTED)
    by_person = correctness.note({"status": status}, NOT_ASSERTED)
    assert "source" in by_source.lower()
    assert "contributor" in by_person.lower()
    assert by_source.endswith(".")


def test_the_limits_of_a_policy_are_shown():
    policy = {"correctness": {"comparator": "allclose", "maxAbsoluteError": 0.001, "nanPolicy": "reject"}}
    assert correctness.facts({"status": "passed"}, policy) == (
        Fact("absolute error allowed", "0.001"),
        Fact("NaN", "reject"),
    )


def test_a_protocol_shows_what_it_states_and_nothing_else():
    assert facts.protocol(
        {
            "harness": {"name": "bench", "version": "1.2", "repository": "https://example.org/r"},
            "measurement": {
                "timer": "wall_clock",
                "compileIncluded": True,
                "setupIncluded": False,
                "warmupDuration": 8000000,
                "primaryStatistic": "mean",
            },
            "correctness": {"reference": "eager", "comparator": "allclose"},
            "devicePolicy": {"clocksLocked": True},
        }
    ) == (
        Fact("harness", "bench"),
        Fact("harnessVersion", "1.2"),
        Fact("timer", "wall_clock"),
        Fact("compileIncluded", "true"),
        Fact("setupIncluded", "false"),
        Fact("warmupDurationNs", "8000000"),
        Fact("primaryStatistic", "mean"),
        Fact("reference", "eager"),
        Fact("comparator", "allclose"),
        Fact("clocksLocked", "true"),
        Fact("harnessRepository", "https://example.org/r"),
    )


@pytest.mark.parametrize(
    ("install", "shown"),
    [
        ({"kind": "pip", "package": "liger-kernel"}, "pip install liger-kernel"),
        ({"kind": "pip", "package": "liger-kernel", "version": "0.8.5"}, "pip install liger-kernel==0.8.5"),
        ({"kind": "source", "command": "make install"}, "make install"),
        ({"kind": "git", "repository": "https://example.org/r", "commit": "abc"}, "git https://example.org/r abc"),
    ],
)
def test_an_implementation_shows_how_it_is_installed(install, shown):
    spec = {
        "projectRevision": {"version": "0.8.5"},
        "callable": {"language": "triton", "symbol": "liger_rms_norm"},
        "support": {"hardwareArchitectures": ["sm_100", "sm_90"], "dtypes": []},
        "source": {"fileName": "a.py", "sizeBytes": 10, "contentDigest": "sha256:x"},
        "licensing": {"declared": "MIT"},
        "buildVariants": [{"name": "default", "install": install}],
    }
    assert facts.implementation(spec) == (
        Fact("language", "triton"),
        Fact("symbol", "liger_rms_norm"),
        Fact("version", "0.8.5"),
        Fact("sourceFile", "a.py"),
        Fact("sourceBytes", "10"),
        Fact("sourceDigest", "sha256:x"),
        Fact("licenseDeclared", "MIT"),
        Fact("hardwareArchitectures", "sm_100, sm_90"),
        Fact("install (default)", shown),
    )


def test_the_primary_is_listed_once_wherever_the_manifest_has_it():
    listed = Figure("score", "geomean", "s", 2.0)
    spec = {"measurements": [{"metric": "score", "statistic": "geomean", "unit": "s", "value": 2.0}]}
    assert facts.measured(spec, listed) == (listed,)
    assert facts.measured(spec, None) == (listed,)
    timed = {"timing": {"samples": 9, "latencyNs": {"mean": 5, "median": 4, "confidence95": [3, 5]}}, **spec}
    assert facts.measured(timed, Figure("latency", "median", "ns", 4, 9)) == (
        Figure("latency", "median", "ns", 4, 9),
        Figure("latency", "mean", "ns", 5, 9),
        listed,
    )
