"""Facts come from samples, differences and bits, never from what a runner concluded."""

import pytest

from runs.policy.verdict import Calibration, Correctness, Verdict, decide
from runs.reruns.documents.assessment import facts_of, process_times
from runs.reruns.documents.base import product_slug
from runs.reruns.documents.exchange import audit_result
from runs.reruns.documents.job import Job
from runs.reruns.documents.result import Process, Result
from tests.reruns.examples import (
    KEYS,
    NOW,
    correctness,
    envelope_digest,
    exchange,
    job_document,
    process,
    result_document,
    signed_job,
    watch,
)

JOB = signed_job()
DIGEST = envelope_digest(JOB)


def facts(job=JOB, **changes):
    pair = exchange(job=job, **changes)
    verified = audit_result(pair.result, pair.job, KEYS, NOW)
    return facts_of(verified.job.job, verified.result)


def batch(**changes):
    return {"batch": {**result_document(DIGEST)["batch"], **changes}}


def watched(**changes):
    return batch(watch=watch(**changes))


def test_times_are_medians_of_the_samples():
    found = facts()
    assert found.claim_ns == 100_000
    assert [item.event_ns for item in found.processes] == [100_000, 100_100, 100_200, 100_300, 100_400]
    assert [item.device_ns for item in found.processes] == [95_000, 95_050, 95_100, 95_150, 95_200]
    assert decide(found).verdict is Verdict.REPRODUCED


def test_a_claimed_mean_is_compared_with_means():
    samples = process_times(Process.read({"index": 0, "eventNs": [1, 2, 6], "deviceNs": 2, "void": []}), "mean")
    assert (samples.event_ns, samples.device_ns, samples.is_void) == (3.0, 2.0, False)


def test_device_time_that_is_absent_stays_absent():
    bare = [{name: value for name, value in process(index).items() if name != "deviceNs"} for index in range(5)]
    assert decide(facts(processes=bare)).device is None


def test_versions_are_those_of_claim_and_host():
    found = facts()
    assert (found.implementation.name, found.implementation.claimed) == ("liger-kernel", "0.8.5")
    assert (found.product.claimed, found.product.executed) == ("nvidia-h200", "nvidia-h200")
    assert found.torch.executed == "2.11.0+cu130"


def test_a_claim_that_names_no_versions_leaves_them_unstated():
    job = signed_job(claimedVersions=[])
    found = facts(job=job, correctness=correctness(envelope_digest(job)))
    assert (found.implementation.claimed, found.torch.claimed, found.triton.claimed) == (None, None, None)


def test_a_process_that_the_harness_found_faulty_is_void():
    assert process_times(Process.read({**process(0), "void": ["timer_tampered"]}), "median").is_void
    assert process_times(Process.read({**process(0), "eventNs": [0, 0, 5]}), "median").is_void


def difference(found, index=0):
    return found["checks"][index]["differences"][0]


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (lambda found: None, Correctness.PASSED),
        (lambda found: difference(found).update(value=0.01), Correctness.PASSED),
        (lambda found: difference(found).update(value=0.0101), Correctness.FAILED),
        (lambda found: difference(found).pop("value"), Correctness.FAILED),
        (lambda found: found["checks"][0]["faults"].append("late"), Correctness.FAILED),
        (lambda found: found["checks"][0]["differences"].clear(), Correctness.FAILED),
        (lambda found: found["checks"].pop(), Correctness.UNCHECKED),
        (lambda found: found["checks"].clear(), Correctness.UNCHECKED),
        (lambda found: found["checks"][1].update(distribution="normal"), Correctness.UNCHECKED),
    ],
)
def test_correctness_is_judged_by_the_differences(change, outcome):
    found = correctness(DIGEST)
    change(found)
    assert facts(correctness=found).correctness is outcome


def test_a_result_without_a_check_is_unchecked():
    document = result_document(DIGEST)
    del document["correctness"]
    assert facts_of(Job.read(job_document()), Result.read(document)).correctness is Correctness.UNCHECKED


@pytest.mark.parametrize("bit", [0x08, 0x20, 0x40, 0x80])
def test_a_slowdown_is_throttling(bit):
    assert facts(**watched(throttleReasons=bit | 1)).batch.telemetry.throttled


def test_a_power_cap_is_noted_and_an_idle_clock_is_nothing():
    assert facts(**watched(throttleReasons=4)).batch.telemetry.power_capped
    quiet = facts(**watched(throttleReasons=0x1 | 0x2 | 0x10 | 0x100)).batch.telemetry
    assert (quiet.throttled, quiet.power_capped) == (False, False)


@pytest.mark.parametrize(("samples", "company"), [(0, False), (1, False), (2, True)])
def test_company_is_what_more_than_one_sample_saw(samples, company):
    assert facts(**watched(samplesWithCompany=samples)).batch.telemetry.other_processes is company


def test_a_gpu_without_telemetry_is_void():
    without = {name: value for name, value in result_document(DIGEST)["batch"].items() if name != "watch"}
    assert decide(facts(batch=without)).reasons[0].code == "TELEMETRY_MISSING"


@pytest.mark.parametrize(
    ("sentinels", "calibration"),
    [
        ([(1000, 1000, [900, 1100])], Calibration.INSIDE),
        ([(900, 1100, [900, 1100])], Calibration.INSIDE),
        ([(899, 1000, [900, 1100])], Calibration.OUTSIDE),
        ([(1000, 1101, [900, 1100])], Calibration.OUTSIDE),
        ([(1000, 1000, None)], Calibration.NO_HISTORY),
        ([(1000, 1000, None), (1000, 1200, [900, 1100])], Calibration.OUTSIDE),
        ([(1000, 1000, None), (1000, 1000, [900, 1100])], Calibration.NO_HISTORY),
        ([(1000, None, [900, 1100])], Calibration.MISSING),
        ([(None, 1000, None), (1000, 1200, [900, 1100])], Calibration.MISSING),
        ([], Calibration.MISSING),
    ],
)
def test_sentinels_are_compared_with_their_band(sentinels, calibration):
    plain = [
        {
            name: value
            for name, value in (("name", f"s{index}"), ("beforeNs", before), ("afterNs", after), ("bandNs", band))
            if value is not None
        }
        for index, (before, after, band) in enumerate(sentinels)
    ]
    assert facts(**batch(sentinels=plain)).batch.calibration is calibration


def test_a_canary_that_was_not_caught_has_passed():
    canaries = [{"name": "zeros", "caught": True}, {"name": "cached", "caught": False}]
    found = facts(**batch(canaries=canaries)).batch
    assert (found.canaries_caught, found.canaries_passed) == ({"zeros"}, {"cached"})
    assert found.canaries_missing == {"constant", "ignores_input", "late"}


@pytest.mark.parametrize(
    ("hardware", "slug"),
    [
        ({"product": "NVIDIA H200"}, "nvidia-h200"),
        ({"product": "NVIDIA H100", "formFactor": "80GB HBM3"}, "nvidia-h100-80gb-hbm3"),
        ({"product": "NVIDIA H100", "formFactor": "PCIe"}, "nvidia-h100-pcie"),
        ({"product": "NVIDIA A100", "formFactor": "SXM4-80GB"}, "nvidia-a100-sxm4-80gb"),
        ({"product": "NVIDIA A100-SXM4-80GB"}, "nvidia-a100-sxm4-80gb"),
        ({"product": "CPU"}, "cpu"),
        ({"product": "unknown"}, None),
        ({"product": "?"}, None),
    ],
)
def test_a_product_is_named_as_its_queue(hardware, slug):
    assert product_slug(hardware) == slug
