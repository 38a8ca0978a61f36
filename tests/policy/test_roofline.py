"""The physical floor by value, against the operations it is declared for, and against measurements."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.derivation import hardware_slug
from runs.policy.hardware import FIGURES, slug
from runs.policy.reasons import sentence
from runs.policy.roofline import (
    BANDWIDTH_HEADROOM,
    CLOCK_HEADROOM,
    FLUSH_BYTES,
    Floor,
    NoClaim,
    floor,
    flushes_cache,
    timed_pass,
)
from runs.policy.traffic import PASSES, TRAFFIC, signature
from runs.sources.liger.operations import OPERATIONS
from runs.sources.liger.subjects import GPUS, latency_protocol, memory_protocol
from runs.sources.liger.subjects import PASSES as LIGER_PASSES

H200 = {"hardware": {"vendor": "nvidia", "product": "NVIDIA H200", "architecture": "sm_90"}, "software": {}}
MIB = 2**20
# Whether a row counts depends on values that a workload does not state: ignored targets, an attention mask.
VALUES_DECIDE = {
    "kto_loss",
    "fused_linear_grpo_hidden_states_token",
    "fused_linear_grpo_hidden_states_sequence",
}


def workload(operation, dtype="bf16", **axes):
    lengths = dict(axes)
    for axis, expression in operation.derived.items():
        lengths[axis] = expression.evaluate(lengths)
    tensors = {
        tensor.name: {
            "shape": [lengths[size] if isinstance(size, str) else size for size in tensor.shape],
            "dtype": dtype if tensor.dtype == "float" else tensor.dtype,
        }
        for tensor in operation.inputs
    }
    return {"axes": axes, "tensors": tensors, "correctness": {"comparator": "not_asserted"}}


def claim(key, timed="forward", environment=H200, dtype="bf16", **axes):
    operation = OPERATIONS[key]
    return floor(operation.spec, workload(operation, dtype, **axes), latency_protocol(timed), environment)


def kept(figures):
    return math.ceil(figures.cache * math.exp(-FLUSH_BYTES / figures.cache))


def test_a_norm_moves_its_input_in_and_what_the_cache_cannot_hold_out():
    figures = FIGURES["nvidia-h200"]
    found = claim("rms_norm", rows=32768, hidden=4096)
    size = 32768 * 4096 * 2
    assert found.traffic == size + 4096 * 2 - kept(figures) + size - 60 * MIB
    assert found.ns == pytest.approx(found.traffic / 4800)
    assert (found.binding, found.timed_pass, found.hardware) == ("bandwidth", "forward", "nvidia-h200")


def test_each_pass_moves_what_it_has_to():
    size = 32768 * 4096 * 2
    saved = kept(FIGURES["nvidia-h200"]) + 60 * MIB
    moved = {timed: claim("softmax", timed, rows=32768, hidden=4096).traffic for timed in PASSES}
    assert moved == {
        "forward": 2 * size - saved,
        "no-grad-forward": 2 * size - saved,
        "backward": 3 * size - saved,
        "full": 3 * size - saved,
    }


def test_outputs_that_the_cache_holds_cost_nothing():
    found = claim("softmax", rows=1024, hidden=4096)
    assert found.traffic == 1024 * 4096 * 2 - kept(FIGURES["nvidia-h200"])


def test_a_product_is_bound_by_arithmetic():
    found = claim("fused_linear_cross_entropy", tokens=4096, hidden=4096, vocab=128256)
    assert found.operations == 2 * 4096 * 4096 * 128256
    assert (found.binding, found.ns) == ("arithmetic", pytest.approx(found.operations / 989.4e3))
    full = claim("fused_linear_cross_entropy", "full", tokens=4096, hidden=4096, vocab=128256)
    assert full.operations == 3 * found.operations


def test_products_in_fp32_are_bounded_by_the_peak_of_fp16():
    axes = {"batch": 4, "seq": 4096, "hidden": 4096, "heads": 32}
    assert claim("fused_neighborhood_attention", dtype="fp32", **axes).ns == pytest.approx(
        8 * 4 * 4096 * 4096**2 / 989.4e3
    )


def test_a_dtype_without_a_known_peak_leaves_the_bytes():
    found = claim("swiglu", dtype="fp64", batch=4, seq=8192, hidden=4096, intermediate=11008)
    assert (found.operations, found.binding) == (0, "bandwidth")


def test_without_a_flush_the_cache_may_hold_inputs_too():
    operation = OPERATIONS["softmax"]
    protocol = latency_protocol("forward")
    protocol["comparability"]["notes"] = "Timed: the module forward pass, via CUDA graph replay."
    warm = floor(operation.spec, workload(operation, rows=32768, hidden=4096), protocol, H200)
    assert warm.traffic == 2 * (32768 * 4096 * 2 - 60 * MIB)
    assert warm.traffic < claim("softmax", rows=32768, hidden=4096).traffic


def test_a_script_that_repeats_over_a_warm_cache_gets_no_credit_for_the_flush():
    cold = claim("cross_entropy", tokens=8192, vocab=32768)
    warm = claim("megatron_cross_entropy", seq=2048, batch=4, vocab=32768)
    assert cold.traffic - warm.traffic == 60 * MIB - kept(FIGURES["nvidia-h200"])


def test_the_share_is_by_the_data_sheet_and_the_verdict_has_headroom():
    found = claim("softmax", rows=32768, hidden=4096)
    assert found.share(2 * found.ns) == 0.5
    assert not found.is_above(found.ns / 1.02)
    assert not found.is_above(found.impossible_ns)
    assert found.is_above(found.ns / (BANDWIDTH_HEADROOM + 0.01))
    product = claim("fused_linear_cross_entropy", tokens=4096, hidden=4096, vocab=128256)
    assert not product.is_above(product.ns / (CLOCK_HEADROOM - 0.01))
    assert product.is_above(product.ns / (CLOCK_HEADROOM + 0.01))


def test_a_floor_names_the_sheets_it_rests_on():
    sheets = claim("softmax", rows=32768, hidden=4096).sheets
    assert "NVIDIA H200 Tensor Core GPU data sheet" in [sheet.title for sheet in sheets]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"product": "Example GPU M1"}, "FLOOR_HARDWARE_UNKNOWN"),
        ({"product": "NVIDIA H100"}, "FLOOR_HARDWARE_UNKNOWN"),
        ({"product": "NVIDIA H200 MIG 1g.18gb"}, "FLOOR_HARDWARE_UNKNOWN"),
        ({"count": 8}, "FLOOR_SEVERAL_DEVICES"),
    ],
)
def test_hardware_that_is_not_one_known_device_gets_no_claim(change, reason):
    environment = {"hardware": {**H200["hardware"], **change}, "software": {}}
    assert claim("softmax", environment=environment, rows=32768, hidden=4096) == NoClaim(reason)


def test_one_device_may_be_said_to_be_one():
    environment = {"hardware": {**H200["hardware"], "count": 1}, "software": {}}
    assert isinstance(claim("softmax", environment=environment, rows=32768, hidden=4096), Floor)


def test_a_loss_makes_no_claim_about_a_backward_pass_that_forward_may_have_done():
    assert claim("cross_entropy", "backward", tokens=8192, vocab=32768) == NoClaim("FLOOR_PASS_UNBOUNDED")


def test_what_fits_into_the_cache_gets_no_claim():
    found = claim("embedding", batch=1, seq=1, vocab=32, hidden=64)
    assert found == NoClaim("FLOOR_NEGLIGIBLE")


def test_a_protocol_without_a_pass_gets_no_claim():
    operation = OPERATIONS["softmax"]
    case = workload(operation, rows=32768, hidden=4096)
    for protocol in ({"harness": {"name": "other"}}, memory_protocol("forward")):
        assert floor(operation.spec, case, protocol, H200) == NoClaim("FLOOR_PASS_UNKNOWN")


def test_an_operation_is_known_by_its_tensors_and_not_by_its_family():
    operation = OPERATIONS["softmax"]
    case = workload(operation, rows=32768, hidden=4096)
    masked = {**operation.spec, "inputs": [*operation.spec["inputs"], {"name": "scale", "scalar": {"dtype": "fp32"}}]}
    assert floor(masked, case, latency_protocol("forward"), H200) == NoClaim("FLOOR_TRAFFIC_UNKNOWN")


@pytest.mark.parametrize(
    "change",
    [
        {"tensors": {"x": {"shape": [32768, 4096], "dtype": "mxfp4"}}},
        {"tensors": {}},
        {"tensors": None},
    ],
)
def test_a_workload_that_is_not_of_the_operation_gets_no_claim(change):
    operation = OPERATIONS["softmax"]
    case = {**workload(operation, rows=32768, hidden=4096), **change}
    if case["tensors"] is None:
        case = {"cases": [{"externalId": "1", "axes": case["axes"]}]}
    assert floor(operation.spec, case, latency_protocol("forward"), H200) == NoClaim("FLOOR_TRAFFIC_UNKNOWN")


def test_without_a_known_cache_only_arithmetic_is_claimed():
    b300 = GPUS["NVIDIA B300 SXM6 PC"].spec
    assert claim("softmax", environment=b300, rows=32768, hidden=4096) == NoClaim("FLOOR_NEGLIGIBLE")
    found = claim("fused_linear_scaled_cross_entropy", "backward", b300, tokens=4096, hidden=4096, vocab=131072)
    assert (found.binding, found.traffic) == ("arithmetic", 0)


@pytest.mark.parametrize("mode", LIGER_PASSES)
def test_it_reads_the_pass_and_the_flush_from_the_protocol(mode):
    protocol = latency_protocol(mode)
    assert (timed_pass(protocol), flushes_cache(protocol)) == (mode, True)


@pytest.mark.parametrize("notes", ["", "Timed: something else, via triton.testing.do_bench_cudagraph with quantiles."])
def test_replay_of_a_graph_is_no_flush_and_an_unknown_sentence_no_pass(notes):
    protocol = {"comparability": {"notes": notes}}
    assert (timed_pass(protocol), flushes_cache(protocol)) == (None, False)


def test_every_operation_is_declared_or_known_to_depend_on_values():
    undeclared = {key for key, each in OPERATIONS.items() if signature(each.spec) not in TRAFFIC}
    assert undeclared == VALUES_DECIDE
    assert set(TRAFFIC) <= {signature(each.spec) for each in OPERATIONS.values()}


@pytest.mark.parametrize("declared", TRAFFIC)
def test_a_declared_entry_names_only_what_its_operation_has(declared):
    operation = next(each for each in OPERATIONS.values() if signature(each.spec) == declared)
    axes = set(operation.spec["axes"])
    tensors = {tensor.name for tensor in operation.inputs}
    for work in TRAFFIC[declared].passes.values():
        amounts = (*work.reads, *work.writes, *([work.operations] if work.operations else []))
        assert {each.tensor for each in amounts} <= tensors
        assert {axis for each in amounts if each.count for axis in each.count.axes} <= axes - set(operation.derived)


@pytest.mark.parametrize("declared", TRAFFIC)
def test_a_full_pass_does_no_less_than_its_parts(declared):
    operation = next(each for each in OPERATIONS.values() if signature(each.spec) == declared)
    axes = {axis: 4096 for axis, role in operation.spec["axes"].items() if role["role"] == "variable"}
    axes |= {axis: size for axis, size in {"batch": 8, "q_heads": 32, "kv_heads": 8, "k": 3}.items() if axis in axes}
    # What derived axes are computed from is not always an axis of the operation.
    axes |= {"hidden": 4096, "heads": 32, "channels_per_group": 4}
    found = {
        timed: floor(operation.spec, workload(operation, **axes), latency_protocol(timed), H200) for timed in PASSES
    }
    assert isinstance(found["full"], Floor)
    for timed in ("forward", "no-grad-forward"):
        assert found[timed].ns <= found["full"].ns
    if isinstance(found["backward"], Floor):
        assert found["backward"].operations + found["forward"].operations <= found["full"].operations
        assert found["backward"].traffic <= found["forward"].traffic + found["full"].traffic


@given(st.integers(1, 2**18), st.integers(1, 2**15), st.sampled_from(PASSES), st.sampled_from(sorted(FIGURES)))
def test_more_rows_never_take_less_time_and_headroom_never_raises_a_floor(rows, hidden, timed, hardware):
    environment = {"hardware": {"product": hardware, "vendor": "any"}}
    less, more = (claim("rms_norm", timed, environment, rows=count, hidden=hidden) for count in (rows, 2 * rows))
    if isinstance(less, Floor):
        assert less.ns <= more.ns
        assert less.impossible_ns < less.ns


@pytest.mark.parametrize("gpu", GPUS)
def test_every_gpu_that_the_source_names_has_figures(gpu):
    assert slug(GPUS[gpu].spec) in FIGURES
    # The driver's own name for the device, without a form factor beside it, is the same hardware.
    assert gpu == "NVIDIA B300 SXM6 PC" or slug({"hardware": {"product": gpu}}) in FIGURES


@pytest.mark.parametrize("environment", [H200, *(gpu.spec for gpu in GPUS.values())], ids=slug)
def test_the_table_goes_by_the_slug_that_hardware_pages_have(environment):
    assert slug(environment) == hardware_slug(environment)


@pytest.mark.parametrize("hardware", FIGURES)
def test_figures_are_in_range_and_have_an_address(hardware):
    figures = FIGURES[hardware]
    assert 1e11 < figures.bandwidth < 1e13
    assert figures.cache is None or MIB < figures.cache < 1024 * MIB
    assert all(1e13 < peak < 1e16 for peak in figures.peak.values())
    assert figures.sheets
    assert all(sheet.url.startswith("https://") for sheet in figures.sheets)


@pytest.mark.parametrize(
    "code",
    [
        "FLOOR_HARDWARE_UNKNOWN",
        "FLOOR_SEVERAL_DEVICES",
        "FLOOR_PASS_UNKNOWN",
        "FLOOR_TRAFFIC_UNKNOWN",
        "FLOOR_PASS_UNBOUNDED",
        "FLOOR_NEGLIGIBLE",
        "BELOW_PHYSICAL_FLOOR",
    ],
)
def test_every_reason_has_its_sentence(code):
    assert sentence(code).endswith(".")
