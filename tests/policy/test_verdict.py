"""Verdicts by value: every rule, their order, the two looks."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.policy.verdict import (
    REQUIRED_CANARIES,
    Agreement,
    Batch,
    Calibration,
    Correctness,
    Facts,
    ProcessTimes,
    Stated,
    Telemetry,
    Verdict,
    decide,
)
from runs.policy.verdict_reasons import VERDICT_REASONS

TELEMETRY = Telemetry(samples=200, seconds=20.0, throttled=False, power_capped=False, other_processes=False)
BATCH = Batch(TELEMETRY, has_gpu=True, calibration=Calibration.INSIDE, canaries_caught=REQUIRED_CANARIES)
STEADY = (0.99, 1.0, 1.01, 1.0, 1.0)


def processes(event, device=None, pattern=STEADY, count=5):
    """Medians around `event` and `device` ns that scatter by the pattern."""
    factors = (pattern * 3)[:count]
    return tuple(ProcessTimes(event * factor, None if device is None else device * factor) for factor in factors)


def facts(event=1000.0, device=900.0, claim=1000.0, **changes):
    values = {
        "claim_ns": claim,
        "processes": processes(event, device),
        "product": Stated("product", "NVIDIA H200", "NVIDIA H200"),
        "implementation": Stated("liger-kernel", "0.8.5", "0.8.5"),
        "torch": Stated("torch", "2.11.0+cu130", "2.11.0+cu130"),
        "triton": Stated("triton", "3.6.0", "3.6.0"),
        "correctness": Correctness.PASSED,
        "batch": BATCH,
    }
    return Facts(**{**values, **changes})


def codes(decision):
    return [reason.code for reason in decision.reasons]


def test_a_claim_that_the_event_time_meets_is_reproduced():
    decision = decide(facts())
    assert (decision.verdict, codes(decision)) == (Verdict.REPRODUCED, ["WITHIN_TOLERANCE"])
    assert decision.event.low < 1.0 < decision.event.high
    assert decision.device.estimate == pytest.approx(0.9, rel=1e-3)
    assert (decision.launch_bound, decision.needs_more_processes, decision.processes) == (False, False, 5)
    assert (decision.hardware_equal, decision.version) == (True, "verdict-v1")


@pytest.mark.parametrize(
    ("event", "device", "verdict"),
    [
        (1000, 900, Verdict.REPRODUCED),
        (1050, 900, Verdict.REPRODUCED),
        (950, 900, Verdict.REPRODUCED),
        (800, 700, Verdict.FASTER),
        (1300, 1250, Verdict.CONTRADICTED),
        (1300, 1000, Verdict.HOST_BOUND),
        (1300, 200, Verdict.HOST_BOUND),
        (1300, 1100, Verdict.INCONCLUSIVE),
        (1100, 900, Verdict.INCONCLUSIVE),
        (900, 800, Verdict.INCONCLUSIVE),
        (1000, None, Verdict.REPRODUCED),
        (800, None, Verdict.FASTER),
        (1300, None, Verdict.INCONCLUSIVE),
    ],
)
def test_times_alone_decide_between_the_last_six(event, device, verdict):
    assert decide(facts(event, device)).verdict is verdict


@pytest.mark.parametrize("claim", [500.0, 800.0, 1300.0, 2000.0, 1.0])
def test_a_claim_far_from_a_steady_truth_is_never_reproduced(claim):
    assert decide(facts(1000.0, 980.0, claim)).verdict in {Verdict.CONTRADICTED, Verdict.FASTER}


@pytest.mark.parametrize("claim", [950.0, 1000.0, 1050.0])
def test_a_claim_within_tolerance_is_reproduced(claim):
    assert decide(facts(1000.0, 980.0, claim)).verdict is Verdict.REPRODUCED


@pytest.mark.parametrize("field", ["product", "implementation", "torch", "triton"])
def test_a_claim_that_leaves_something_unstated_is_not_contradicted(field):
    decision = decide(facts(1300, 1250, **{field: Stated(field, None, "3.6.0")}))
    assert (decision.verdict, codes(decision)) == (Verdict.SLOWER_HERE, ["DEVICE_TIME_ABOVE_CLAIM", "CLAIM_UNSTATED"])


@pytest.mark.parametrize("field", ["torch", "triton"])
def test_another_torch_or_triton_refutes_nothing_and_is_no_mismatch(field):
    other = Stated(field, "2.10.0", "2.11.0")
    decision = decide(facts(1300, 1250, **{field: other}))
    assert decision.verdict is Verdict.SLOWER_HERE
    assert codes(decision) == ["DEVICE_TIME_ABOVE_CLAIM", "ENVIRONMENT_DIFFERS"]
    assert decide(facts(**{field: other})).verdict is Verdict.REPRODUCED


def test_a_version_stated_without_its_build_matches_but_cannot_contradict():
    release = Stated("torch", "2.11.0", "2.11.0+cu130")
    assert release.agreement is Agreement.SAME_RELEASE
    assert decide(facts(1300, 1250, torch=release)).verdict is Verdict.SLOWER_HERE
    assert decide(facts(implementation=release)).verdict is Verdict.REPRODUCED
    assert Stated("torch", "2.11.0+cu128", "2.11.0+cu130").agreement is Agreement.DIFFERENT
    assert Stated("torch", "2.1", "2.11.0").agreement is Agreement.DIFFERENT


def test_another_product_is_a_mismatch():
    decision = decide(facts(product=Stated("product", "NVIDIA H100 80GB HBM3", "NVIDIA H200")))
    assert (decision.verdict, codes(decision)) == (Verdict.MISMATCH, ["OTHER_PRODUCT"])
    assert not decision.hardware_equal


def test_a_product_with_a_suffix_is_another_product():
    assert decide(facts(product=Stated("product", "NVIDIA H200", "NVIDIA H200+x"))).verdict is Verdict.MISMATCH


def test_another_version_of_the_implementation_is_a_mismatch():
    decision = decide(facts(implementation=Stated("liger-kernel", "0.7.0", "0.8.5")))
    assert (decision.verdict, codes(decision)) == (Verdict.MISMATCH, ["OTHER_VERSION"])


def test_an_unstated_product_is_no_mismatch_but_not_the_claims_hardware():
    decision = decide(facts(product=Stated("product", None, "NVIDIA H200")))
    assert (decision.verdict, decision.hardware_equal) == (Verdict.REPRODUCED, False)


@pytest.mark.parametrize(
    ("batch", "code"),
    [
        (replace(BATCH, telemetry=None), "TELEMETRY_MISSING"),
        (replace(BATCH, telemetry=replace(TELEMETRY, samples=199)), "TELEMETRY_SPARSE"),
        (replace(BATCH, telemetry=replace(TELEMETRY, seconds=0.0)), "TELEMETRY_SPARSE"),
        (replace(BATCH, telemetry=replace(TELEMETRY, throttled=True)), "THROTTLED"),
        (replace(BATCH, telemetry=replace(TELEMETRY, other_processes=True)), "OTHER_PROCESSES"),
        (replace(BATCH, calibration=Calibration.OUTSIDE), "OUT_OF_CALIBRATION"),
        (replace(BATCH, calibration=Calibration.MISSING), "SENTINELS_MISSING"),
        (replace(BATCH, canaries_caught=REQUIRED_CANARIES - {"late"}), "CANARIES_NOT_RUN"),
        (replace(BATCH, canaries_passed=frozenset({"zeros"})), "CANARY_PASSED"),
    ],
)
def test_a_faulty_batch_is_void_whatever_it_measured(batch, code):
    decision = decide(facts(batch=batch))
    assert (decision.verdict, codes(decision), decision.needs_more_processes) == (Verdict.VOID, [code], False)


def test_what_was_executed_has_to_be_known():
    decision = decide(facts(implementation=Stated("liger-kernel", "0.8.5", None)))
    assert (decision.verdict, codes(decision)) == (Verdict.VOID, ["EXECUTED_UNKNOWN"])


def test_unchecked_output_is_void():
    assert codes(decide(facts(correctness=Correctness.UNCHECKED))) == ["CORRECTNESS_UNCHECKED"]


def test_a_cpu_needs_no_telemetry():
    assert decide(facts(batch=replace(BATCH, telemetry=None, has_gpu=False))).verdict is Verdict.REPRODUCED


def test_a_power_cap_and_a_missing_history_are_noted_without_deciding():
    batch = replace(BATCH, telemetry=replace(TELEMETRY, power_capped=True), calibration=Calibration.NO_HISTORY)
    decision = decide(facts(batch=batch))
    assert decision.verdict is Verdict.REPRODUCED
    assert codes(decision) == ["WITHIN_TOLERANCE", "POWER_CAPPED", "NO_CALIBRATION_HISTORY"]


def test_wrong_output_needs_no_times():
    decision = decide(facts(correctness=Correctness.FAILED, processes=()))
    assert (decision.verdict, decision.event, decision.device) == (Verdict.INCORRECT, None, None)


def test_wrong_output_is_believed_where_nothing_was_left_to_guard_or_to_time():
    bare = replace(BATCH, calibration=Calibration.MISSING, canaries_caught=frozenset())
    assert decide(facts(correctness=Correctness.FAILED, processes=(), batch=bare)).verdict is Verdict.INCORRECT
    fooled = replace(bare, canaries_passed=frozenset({"zeros"}))
    assert decide(facts(correctness=Correctness.FAILED, processes=(), batch=fooled)).verdict is Verdict.VOID


def test_the_rules_are_tried_in_their_order():
    everything = facts(
        1300,
        1250,
        batch=replace(BATCH, canaries_passed=frozenset({"zeros"})),
        product=Stated("product", "NVIDIA H100", "NVIDIA H200"),
        correctness=Correctness.FAILED,
    )
    mended = replace(everything, batch=BATCH)
    same_product = replace(mended, product=facts().product)
    correct = replace(same_product, correctness=Correctness.PASSED)
    unstated = replace(correct, triton=Stated("triton", None, "3.6.0"))
    verdicts = [decide(item).verdict for item in (everything, mended, same_product, correct, unstated)]
    assert verdicts == [
        Verdict.VOID,
        Verdict.MISMATCH,
        Verdict.INCORRECT,
        Verdict.CONTRADICTED,
        Verdict.SLOWER_HERE,
    ]
    assert list(Verdict)[:5] == verdicts


def test_an_undecided_first_look_asks_for_the_second_and_the_second_for_nothing():
    first = decide(facts(processes=processes(1000, 900, (0.5, 2.0, 1.0, 0.7, 1.4))))
    second = decide(facts(processes=processes(1000, 900, (0.5, 2.0, 1.0, 0.7, 1.4), count=15)))
    assert (first.verdict, first.needs_more_processes) == (Verdict.INCONCLUSIVE, True)
    assert (second.verdict, second.needs_more_processes, second.processes) == (Verdict.INCONCLUSIVE, False, 15)


@pytest.mark.parametrize("count", [0, 1, 4, 6, 10, 14])
def test_nobody_may_look_at_another_count(count):
    decision = decide(facts(processes=processes(1000, 900, count=count)))
    assert (decision.verdict, codes(decision)[0]) == (Verdict.VOID, "PROCESS_COUNT")


def test_the_second_look_decides_what_the_first_could_not():
    pattern = (0.95, 1.07, 0.93, 1.06, 1.0)
    assert decide(facts(processes=processes(1000, 900, pattern))).needs_more_processes
    assert decide(facts(processes=processes(1000, 900, pattern, count=15))).verdict is Verdict.REPRODUCED


def with_faults(faults, count):
    good = processes(1000, 900, count=count)
    return (ProcessTimes(1000, 1040),) * faults + good[faults:]


@pytest.mark.parametrize(
    "process", [ProcessTimes(1000, 900, faulty=True), ProcessTimes(0.0, 900), ProcessTimes(1000, 0.0)]
)
def test_a_process_with_a_fault_or_a_time_of_zero_is_left_out(process):
    decision = decide(facts(processes=(process, *processes(1000, 900, count=14))))
    assert (decision.verdict, decision.processes) == (Verdict.REPRODUCED, 14)


def test_a_process_whose_kernels_outlast_their_call_is_left_out():
    assert ProcessTimes(1000, 1031).is_void
    assert not ProcessTimes(1000, 1030).is_void
    first = decide(facts(processes=with_faults(1, 5)))
    assert (first.verdict, first.needs_more_processes) == (Verdict.INCONCLUSIVE, True)
    assert codes(first) == ["MEASURING_FAULT", "PROCESSES_VOID"]
    second = decide(facts(processes=with_faults(3, 15)))
    assert (second.verdict, second.processes) == (Verdict.REPRODUCED, 12)
    assert codes(second) == ["WITHIN_TOLERANCE", "PROCESSES_VOID"]
    void = decide(facts(processes=with_faults(4, 15)))
    assert (void.verdict, codes(void)[0], void.needs_more_processes) == (Verdict.VOID, "MEASURING_FAULT", False)


def test_device_time_that_scatters_as_far_as_the_claim_contradicts_nothing():
    pattern = (1.28, 1.4, 1.33, 1.5, 1.22)
    first = decide(facts(processes=processes(1000, 990, pattern)))
    assert (first.verdict, first.needs_more_processes) == (Verdict.INCONCLUSIVE, True)
    assert codes(first) == ["DEVICE_TIME_SCATTERS"]
    wide = tuple(factor * 1.0 for factor in (1.05, 1.6, 1.2, 1.5, 1.1))
    second = decide(facts(processes=processes(1000, 990, wide, count=15)))
    assert (second.verdict, codes(second)) == (
        Verdict.SLOWER_HERE,
        ["DEVICE_TIME_ABOVE_CLAIM", "DEVICE_TIME_SCATTERS"],
    )


@pytest.mark.parametrize(("device", "launch_bound"), [(600, True), (700, False), (None, None)])
def test_launch_bound_is_event_time_above_one_and_a_half_times_device_time(device, launch_bound):
    decision = decide(facts(1000, device))
    assert decision.launch_bound is launch_bound
    assert ("LAUNCH_BOUND" in codes(decision)) is bool(launch_bound)


def test_device_time_of_some_processes_alone_is_not_used():
    mixed = (ProcessTimes(1300.0), *processes(1300, 1250)[1:])
    decision = decide(facts(processes=mixed))
    assert (decision.device, decision.launch_bound) == (None, None)
    assert codes(decision) == ["INTERVAL_TOO_WIDE", "NO_DEVICE_TIME"]


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_times_are_numbers(value):
    with pytest.raises(ValueError, match="process median"):
        ProcessTimes(value)
    with pytest.raises(ValueError, match="process median"):
        ProcessTimes(1.0, value)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_claim_is_a_positive_number(value):
    with pytest.raises(ValueError, match="positive"):
        facts(claim=value)


times = st.builds(
    ProcessTimes,
    st.floats(min_value=1.0, max_value=1e9),
    st.none() | st.floats(min_value=1.0, max_value=1e9),
)
stated = st.builds(
    Stated,
    st.just("x"),
    st.none() | st.sampled_from(["1", "2", "1+a"]),
    st.none() | st.sampled_from(["1", "2", "1+a"]),
)


@given(
    claim=st.floats(min_value=1.0, max_value=1e9),
    measured=st.lists(times, min_size=5, max_size=5) | st.lists(times, max_size=16),
    product=stated,
    implementation=stated,
    torch=stated,
    correctness=st.sampled_from(Correctness),
)
def test_every_verdict_has_a_reason_and_keeps_its_promise(
    *, claim, measured, product, implementation, torch, correctness
):
    decision = decide(
        facts(
            claim=claim,
            processes=tuple(measured),
            product=product,
            implementation=implementation,
            torch=torch,
            correctness=correctness,
        )
    )
    assert decision.reasons
    assert all(reason.sentence for reason in decision.reasons)
    assert not decision.needs_more_processes or decision.verdict is Verdict.INCONCLUSIVE
    if decision.verdict is Verdict.REPRODUCED:
        assert correctness is Correctness.PASSED
        assert decision.event.low >= 0.9
        assert decision.event.high <= 1.1
    if decision.verdict is Verdict.CONTRADICTED:
        assert decision.device.low > 1.1
        assert {item.agreement for item in (product, implementation, torch)} == {Agreement.EQUAL}
    if decision.verdict is Verdict.HOST_BOUND:
        assert decision.event.low > 1.1 > decision.device.high


def test_every_sentence_is_a_sentence():
    assert all(text[0].isalnum() and text.endswith(".") for text in VERDICT_REASONS.values())
