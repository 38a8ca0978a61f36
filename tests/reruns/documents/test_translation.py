"""What the harness yields becomes a result that the site accepts, and loses nothing that matters."""

from copy import deepcopy

import pytest

from runs.policy.verdict import REQUIRED_CANARIES, Correctness, Verdict, decide
from runs.reruns.documents.assessment import facts_of
from runs.reruns.documents.device import device_hmac
from runs.reruns.documents.exchange import sign_result, verify_job, verify_result
from runs.reruns.documents.translation import (
    CHART_ROWS,
    BatchContext,
    harness_job,
    result_document,
    wants_second_look,
)
from runs.reruns.harness.canary_names import CANARIES
from runs.reruns.harness.limits import CHECK_DISTRIBUTIONS
from runs.reruns.harness.rounds import round_record
from runs.reruns.harness.seeds import derive_seed
from runs.reruns.harness.telemetry import COLUMNS
from tests.reruns.examples import KEYS, NOW, RUNNER, environment, instant, signed_job

ENVELOPE = signed_job()
JOB = verify_job(ENVELOPE, KEYS, NOW)
CONTEXT = BatchContext(
    batch_id="batch-1",
    jobs=1,
    runner="h200-a",
    product="nvidia-h200",
    accepted_at=instant(-5),
    bands_ns={"copy": (900, 1100)},
)
RUNNER_BYTES = "ef" * 32


def output(**changes):
    return {
        "matched": True,
        "dtype": "bf16",
        "scaled_error": 0.01,
        "set_aside": 0,
        "max_scaled_error": 0.01,
        "relative_norm": 0.001,
        "max_absolute_error": 0.02,
        "matched_ratio": 1.0,
        "element_tolerance": 0.0625,
        "norm_tolerance": 0.0195,
        "checked": 10,
        "elements": 10,
        "not_finite": 0,
        **changes,
    }


def check(index):
    purpose = f"check/{index}"
    seed = derive_seed(
        bytes.fromhex(RUNNER_BYTES), site_salt=bytes.fromhex("cd" * 32), job_digest=JOB.digest, purpose=purpose
    )
    return {
        "purpose": purpose,
        "distribution": CHECK_DISTRIBUTIONS[index],
        "seed": seed.hex(),
        "passed": True,
        "late": False,
        "missing": [],
        "changed_inputs": [],
        "outputs": {"y": output(), "grad.x": output(), "grad.bias": {"matched": True, "absent": True}},
        "run_s": 0.1,
    }


def entry(number, event=100_000, device=95_000):
    samples = [event - 200 + 100 * number, event + 100 * number, event + 300 + 100 * number]
    return round_record(
        number,
        4711,
        {"samples": samples, "tampered": False, "host_ns": 40_000},
        {
            "device_ns": device,
            "activities": 3.0,
            "calls": 50,
            "tampered": False,
        },
    )


def measured(**changes):
    return {
        "kind": "result",
        "id": "rerun-1",
        "job_digest": JOB.digest,
        "status": "measured",
        "reason": None,
        "recipe": {
            "id": "liger-rms-norm/liger/forward",
            "version": 1,
            "schedule": {"warmup_ms": 25, "rep_ms": 500, "grad_to_none": ["x"], "fixed": True, "nothing": None},
        },
        "claimed": {"liger_version": "0.8.5"},
        "executed": {"python": "3.12.3", "liger-kernel": "0.8.5", "torch": "2.11.0+cu130", "triton": "3.6.0"},
        "implementation": {"package": "liger-kernel", "version": "0.8.5"},
        "correctness": {"passed": True, "wanted": 4, "checks": [check(index) for index in range(4)]},
        "rounds": [entry(number) for number in range(5)],
        "graphs": [{"round": 0, "ns": None, "reason": "no\ngraph"}, {"round": 3, "ns": 96_000, "reason": None}],
        "complete": True,
        "summary": None,
        "log": "a\0b",
        **changes,
    }


def telemetry(rows=800, **columns):
    """Twenty rows a second; `columns` gives {row: value} for a column."""
    quiet = {"at_ms": 0, "sm_mhz": 1980, "memory_mhz": 3201, "celsius": 40, "watts": 300.5, "reasons": 0, "others": 0}
    samples = [[quiet[name]] * rows for name in COLUMNS]
    samples[0] = [50 * row for row in range(rows)]
    for name, values in columns.items():
        for row, value in values.items():
            samples[COLUMNS.index(name)][row] = value
    return {"available": True, "hertz": 20.0, "columns": list(COLUMNS), "samples": samples, "summary": {}}


def batch(**changes):
    sentinel = {"copy_ns": 1000, "matmul_ns": 2000, "launch_ns": 3}
    return {
        "kind": "batch",
        "harness_version": "1.0",
        "device": "cuda:0",
        "gpu_uuid": "GPU-1234",
        "environment": environment()["spec"],
        "runner_bytes": RUNNER_BYTES,
        "started_at": instant(-4),
        "ended_at": instant(-1),
        "void": [],
        "cut": False,
        "rounds": 5,
        "sentinels": {"before": sentinel, "after": sentinel},
        "canaries": {name: {"caught": True, "by": ["late"], "job": "rerun-1"} for name in CANARIES},
        "telemetry": telemetry(),
        "phases": {},
        "restarts": 0,
        **changes,
    }


def accepted(measured_, batch_=None):
    result, opening = result_document(JOB, measured_, batch_ or batch(), CONTEXT)
    verified = verify_result(sign_result(result, RUNNER), ENVELOPE, KEYS, NOW)
    return verified, opening


def decision(measured_, batch_=None):
    verified, _ = accepted(measured_, batch_)
    return decide(facts_of(JOB.job, verified.result))


def test_the_harness_gets_what_it_needs_and_nothing_else():
    assert harness_job(JOB) == {
        "id": "rerun-1",
        "digest": JOB.digest,
        "operation": "liger-rms-norm",
        "provider": "liger",
        "mode": "forward",
        "workload": JOB.job.manifests.workload["spec"],
        "claimed": {"liger_version": "0.8.5"},
        "recipe": {"id": "liger-rms-norm/liger/forward", "version": 1},
    }
    unknown = verify_job(signed_job(claimedVersions=[]), KEYS, NOW)
    assert harness_job(unknown)["claimed"] == {}


def test_the_harness_and_the_rules_know_the_same_canaries():
    assert set(CANARIES) == REQUIRED_CANARIES


def test_a_measured_job_becomes_a_result_that_the_site_accepts():
    verified, opening = accepted(measured())
    result = verified.result
    assert result.processes[1].event_ns == (99_900, 100_100, 100_400)
    assert (result.processes[0].device_ns, result.processes[0].device_activities) == (95_000, 3)
    graphs = [(process.graph_ns, process.graph_reason) for process in result.processes]
    assert graphs == [(None, "no graph"), (None, None), (None, None), (96_000, None), (None, None)]
    assert result.executed.schedule["grad_to_none"] == ("x",)
    assert "nothing" not in result.executed.schedule
    assert {item.output for item in result.correctness.checks[0].differences} == {"y", "grad.x"}
    assert (result.failure, result.log) == (None, "ab")
    assert device_hmac(opening, result.device_commitment, site_key=b"site") is not None
    assert "GPU-1234" not in str(result)
    found = decide(facts_of(JOB.job, result))
    assert (found.verdict, [reason.code for reason in found.reasons]) == (
        Verdict.REPRODUCED,
        ["WITHIN_TOLERANCE", "NO_CALIBRATION_HISTORY"],
    )


def test_a_host_without_a_device_identity_commits_to_none():
    verified, opening = accepted(measured(), batch(gpu_uuid=None))
    assert (verified.result.device_commitment, opening) == (None, None)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda found: found.update(late=True), "late"),
        (lambda found: found.update(changed_inputs=["x"]), "changed_inputs"),
        (lambda found: found["outputs"].update(y={"matched": False, "absent": True}), "missing:y"),
        (lambda found: found["outputs"].update(y={"matched": False, "shape": [1], "expected_shape": [2]}), "shape:y"),
        (
            lambda found: found["outputs"].update(y=output(matched=False, scaled_error=None, not_finite=1)),
            "not_finite:y",
        ),
        (lambda found: found["outputs"].update(y=output(matched=False)), "refused"),
    ],
)
def test_whatever_the_harness_refuses_is_incorrect(change, fault):
    found = measured(status="incorrect", reason={"code": "check_failed", "message": "x"}, rounds=[])
    found["correctness"]["checks"] = found["correctness"]["checks"][:1]
    found["correctness"]["checks"][0]["passed"] = False
    change(found["correctness"]["checks"][0])
    verified, _ = accepted(found)
    assert verified.result.correctness.checks[0].faults == (fault,)
    assert verified.result.failure is None
    assert decision(found).verdict is Verdict.INCORRECT


def test_a_difference_above_its_tolerance_is_incorrect_without_further_words():
    found = measured(status="incorrect", reason={"code": "check_failed", "message": "mismatch:y"}, rounds=[])
    found["correctness"]["checks"][0].update(passed=False)
    found["correctness"]["checks"][0]["outputs"]["y"].update(matched=False, relative_norm=0.5)
    verified, _ = accepted(found)
    assert verified.result.correctness.checks[0].faults == ()
    assert decision(found, batch(canaries={}, sentinels={})).verdict is Verdict.INCORRECT


def test_a_job_that_failed_says_why_and_has_no_verdict_on_the_claim():
    reason = {"code": "out_of_memory", "message": "The device\nhas no memory left."}
    found = measured(status="out_of_memory", reason=reason, rounds=[], correctness={"checks": []}, recipe=None)
    verified, _ = accepted(found)
    assert verified.result.failure.message == "The device has no memory left."
    assert verified.result.correctness is None
    assert facts_of(JOB.job, verified.result).correctness is Correctness.UNCHECKED
    assert decision(found).verdict is Verdict.VOID


def test_a_batch_that_could_start_nothing_still_answers():
    reason = {"code": "operation_without_recipe", "message": "No recipe has been written for this operation."}
    found = measured(
        status="not_rerunnable", reason=reason, rounds=[], correctness={"checks": []}, recipe=None, executed={}, log=""
    )
    bare = batch(environment=None, gpu_uuid=None, sentinels={}, canaries={}, telemetry={"available": False})
    verified, _ = accepted(found, bare)
    assert (verified.result.environment, verified.result.batch.watch) == (None, None)
    assert decision(found, bare).verdict is Verdict.VOID


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"telemetry": telemetry(reasons={400: 0x40})}, "THROTTLED"),
        ({"telemetry": telemetry(others={5: 1, 6: 2})}, "OTHER_PROCESSES"),
        ({"telemetry": telemetry(rows=1)}, "TELEMETRY_SPARSE"),
        ({"telemetry": {"available": False}}, "TELEMETRY_MISSING"),
        ({"sentinels": {"before": {"copy_ns": 1000}}}, "SENTINELS_MISSING"),
        ({"sentinels": {"before": {"copy_ns": 1000}, "after": {"copy_ns": 1200}}}, "OUT_OF_CALIBRATION"),
        ({"canaries": {}}, "CANARIES_NOT_RUN"),
        ({"canaries": {name: {"caught": name != "late"} for name in CANARIES}}, "CANARY_PASSED"),
    ],
)
def test_whatever_voids_a_batch_voids_its_results(changes, code):
    found = decision(measured(), batch(**changes))
    assert (found.verdict, found.reasons[0].code) == (Verdict.VOID, code)


def test_a_void_round_is_left_out():
    found = measured()
    found["rounds"][2]["void"].append("company")
    assert decision(found).needs_more_processes


@pytest.mark.parametrize("rows", [1, 599, 600, 601, 9_601])
def test_telemetry_is_thinned_without_losing_a_throttle_or_a_neighbour(rows):
    columns = {"reasons": {rows // 3: 0x20}, "others": {rows // 2: 3}}
    verified, _ = accepted(measured(), batch(telemetry=telemetry(rows, **columns)))
    watch = verified.result.batch.watch
    assert watch.samples == rows
    assert len(watch.telemetry.at_ms) <= CHART_ROWS
    assert watch.telemetry.at_ms[-1] == 50 * (rows - 1)
    assert (max(watch.telemetry.others), watch.samples_with_company) == (3, 1)
    assert watch.throttle_reasons == 0x20
    assert 0x20 in watch.telemetry.reasons


def test_a_long_log_keeps_its_end():
    verified, _ = accepted(measured(log="x" * 5_000 + "the end"))
    assert len(verified.result.log) == JOB.job.limits.log_characters
    assert verified.result.log.endswith("xthe end")


def test_a_second_look_is_asked_for_while_the_times_leave_it_open():
    assert not wants_second_look(JOB.job, measured())
    scattered = measured(rounds=[entry(number, event=60_000 + 25_000 * number, device=20_000) for number in range(5)])
    assert wants_second_look(JOB.job, scattered)
    other_version = deepcopy(scattered)
    other_version["executed"]["liger-kernel"] = "0.7.0"
    assert not wants_second_look(JOB.job, other_version)
