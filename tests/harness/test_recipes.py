import base64

import pytest

torch = pytest.importorskip("torch")

from runs.reruns.harness.checker import Checker  # noqa: E402
from runs.reruns.harness.executor import Executor  # noqa: E402
from runs.reruns.harness.frames import Frame  # noqa: E402
from runs.reruns.harness.recipes.catalog import LIGER, OPERATIONS, TRANSFORMERS  # noqa: E402
from runs.reruns.harness.recipes.kit import Case, Draw  # noqa: E402
from runs.reruns.harness.sampling import choose_blocks  # noqa: E402
from runs.reruns.harness.timing import CpuClock  # noqa: E402
from runs.reruns.harness.work import Prepared, bind, measure_device_time, measure_event_time, measure_graph_time  # noqa: E402
from tests.harness.workloads import WORKLOADS, job  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread():
    """Small tensors are slower on many threads, and other tests run beside these."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _runnable():
    """Every operation with each provider that runs on a CPU: triton kernels do not."""
    for slug, entry in OPERATIONS.items():
        for provider, package in entry.providers.items():
            if package == LIGER or provider == "torch_compile":
                continue
            needs = [pytest.mark.skipif(_absent(package), reason=f"{package} is not installed")]
            yield pytest.param(slug, provider, marks=needs, id=f"{slug}-{provider}")


def _absent(package: str) -> bool:
    if package != TRANSFORMERS:
        return False
    try:
        import transformers  # noqa: F401
    except ImportError:
        return True
    return False


def check(document, distribution: str = "normal", seed: bytes = bytes(32)):
    """One check of a job with executor and checker in this process."""
    executor, checker = Executor(CPU), Checker(CPU)
    common = {"job": document, "seed": base64.b16encode(seed).decode(), "distribution": distribution}
    ran, _ = executor.check(Frame(common))
    blocks = {}
    for name, output in ran["outputs"].items():
        blocks[name] = choose_blocks(torch.Size(output["shape"]).numel(), 7)
    fetched, chunks = executor.fetch(Frame({"blocks": blocks}))
    header = {**common, **ran, "blocks": blocks, "tensors": fetched["tensors"]}
    compared, _ = checker.compare(Frame(header, b"".join(chunks)))
    return ran, compared


@pytest.mark.parametrize("distribution", ["normal", "hard"])
@pytest.mark.parametrize(("slug", "provider"), list(_runnable()))
def test_outputs_and_gradients_agree_with_the_float64_reference(slug: str, provider: str, distribution: str):
    ran, compared = check(job(slug, provider), distribution)
    assert not ran["late"]
    assert not compared["changed_inputs"]
    assert any(name.startswith("grad.") for name in compared["outputs"])
    wrong = {name: found for name, found in compared["outputs"].items() if not found["matched"]}
    assert not wrong


@pytest.mark.parametrize("mode", ["forward", "backward", "full", "no-grad-forward"])
@pytest.mark.parametrize("release", ["0.7.0", "0.8.5"])
@pytest.mark.parametrize(("slug", "provider"), list(_runnable()))
def test_every_mode_of_every_generation_of_scripts_can_be_timed(slug, provider, release, mode, monkeypatch):
    monkeypatch.setattr("runs.reruns.harness.timing._CPU_CACHE_BYTES", 1024)
    prepared = Prepared.of(job(slug, provider, mode, release), CPU)
    clock = CpuClock()
    bound = bind(prepared, bytes(32), clock)
    event = clock.event_time(bound.timed, 0, 0)
    assert len(event.samples) == 1
    assert event.samples[0] > 0


def test_a_forward_without_gradients_gives_none():
    ran, compared = check(job("liger-rms-norm", "huggingface", "no-grad-forward"))
    assert set(compared["outputs"]) == {"y"}
    assert ran["missing"] == []


def test_the_same_seed_draws_the_same_inputs_and_another_others():
    prepared = Prepared.of(job("liger-rope", "huggingface"), CPU)
    first = prepared.draw(b"a" * 32, "normal")[1]
    again = prepared.draw(b"a" * 32, "normal")[1]
    other = prepared.draw(b"b" * 32, "normal")[1]
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["q"], other["q"])
    assert not torch.equal(first["q"][..., :2, :], first["k"])


def test_hard_inputs_have_rows_of_different_scale():
    draw = Draw(bytes(32), "hard", CPU)
    deviations = draw.activation("x", (64, 256), torch.float32).std(dim=-1)
    assert deviations.max() / deviations.min() > 10


def test_timing_uses_parameters_as_initialised():
    prepared = Prepared.of(job("liger-layer-norm", "torch"), CPU)
    inputs = prepared.draw(bytes(32), "timing")[1]
    assert torch.equal(inputs["weight"], torch.ones_like(inputs["weight"]))
    assert torch.equal(inputs["bias"], torch.zeros_like(inputs["bias"]))


def test_layer_norm_weights_follow_the_release():
    for release, dtype in (("0.7.0", torch.float32), ("0.8.5", torch.bfloat16)):
        inputs = Prepared.of(job("liger-layer-norm", "torch", release=release), CPU).draw(bytes(32), "timing")[1]
        assert inputs["weight"].dtype == dtype


def test_a_workload_that_lacks_a_tensor_is_refused():
    from runs.reruns.harness.errors import HarnessError

    spec = {**WORKLOADS["liger-softmax"], "tensors": {"x": {"shape": [2, 2], "dtype": "fp4"}}}
    with pytest.raises(HarnessError, match="fp4") as caught:
        Case.from_workload(spec, CPU, (0, 8, 5))
    assert caught.value.code == "workload_not_understood"


def test_cleared_gradients_are_cleared_and_others_accumulate():
    prepared = Prepared.of(job("liger-rms-norm", "huggingface", "backward"), CPU)
    clock = CpuClock()
    bound = bind(prepared, bytes(32), clock)
    (x,) = bound.timed.grad_to_none
    once = x.grad.clone()
    clock.device_time(bound.timed, 1)
    assert torch.equal(x.grad, once)


def test_a_measurement_on_the_cpu_has_all_its_parts():
    prepared = Prepared.of(job("liger-softmax", "torch", "forward"), CPU)
    clock = CpuClock()
    bound = bind(prepared, bytes(32), clock)
    event = measure_event_time(bound, clock)
    assert event["samples"]
    assert min(event["samples"]) > 0
    assert event["host_ns"] > 0
    assert event["needed_s"] > 0.03
    device = measure_device_time(bound, clock, event["samples"])
    assert 0 < device["device_ns"] <= max(event["samples"])
    graph = measure_graph_time(bound, clock, device["device_ns"])
    assert graph["ns"] is None
    assert graph["reason"] == "this device has no graphs"
