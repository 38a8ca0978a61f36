import pytest

torch = pytest.importorskip("torch")

from runs.reruns.harness.canary_names import CANARIES  # noqa: E402
from runs.reruns.harness.timing import busy_intervals  # noqa: E402
from runs.reruns.harness.work import Prepared, poison  # noqa: E402
from tests.harness.test_recipes import CPU, check, one_thread  # noqa: E402, F401
from tests.harness.workloads import job, workload  # noqa: E402

CHEATABLE = [("liger-rms-norm", "huggingface"), ("liger-softmax", "torch"), ("liger-cross-entropy", "torch")]


@pytest.mark.parametrize("mode", ["full", "no-grad-forward"])
@pytest.mark.parametrize(("operation", "provider"), CHEATABLE)
@pytest.mark.parametrize("canary", CANARIES)
def test_every_canary_fails_on_every_kind_of_output(canary: str, operation: str, provider: str, mode: str):
    document = job(operation, provider, mode, id=f"{canary}-{operation}-{mode}", canary=canary)
    caught = False
    for seed in (b"1" * 32, b"2" * 32):
        ran, compared = check(document, "normal", seed)
        matched = all(output["matched"] for output in compared["outputs"].values())
        caught = caught or ran["late"] or not matched
    assert caught


def test_the_caching_canary_passes_once_so_that_fresh_seeds_are_what_catches_it():
    document = job("liger-softmax", "torch", id="cached-once", canary="cached")
    _ran, compared = check(document, "normal", b"1" * 32)
    assert all(output["matched"] for output in compared["outputs"].values())


def test_an_input_that_was_overwritten_is_noticed(monkeypatch):
    document = job("liger-softmax", "torch", "no-grad-forward")
    providers = Prepared.of(document, CPU).operation.providers
    honest = providers["torch"]

    def overwriting(case, given):
        call = honest(case, given)

        def called():
            outputs = call()
            given["x"].mul_(2)
            return outputs

        return called

    assert check(document)[1]["changed_inputs"] == []
    monkeypatch.setitem(providers, "torch", overwriting)
    _ran, compared = check(document)
    assert compared["changed_inputs"] == ["x"]
    assert compared["outputs"]["y"]["matched"]


def _row_unwritten(y):
    y[517] = 0


def _tail_rows_unwritten(y):
    y[-16:] = 0


def _tail_columns_unwritten(y):
    y[:, -4:] = 0


def _biased(y):
    y += 0.05


def _two_rows_swapped(y):
    y[[3, 700]] = y[[700, 3]]


@pytest.mark.parametrize("distribution", ["normal", "hard"])
@pytest.mark.parametrize(
    "spoil", [_row_unwritten, _tail_rows_unwritten, _tail_columns_unwritten, _biased, _two_rows_swapped]
)
def test_a_kernel_that_leaves_out_a_part_or_is_biased_is_caught_on_all_inputs(monkeypatch, spoil, distribution: str):
    shape = ([1024, 64], "bf16")
    spec = workload({"rows": 1024, "hidden": 64}, {"x": shape, "weight": ([64], "bf16")}, {"eps": 1e-6})
    document = job("liger-rms-norm", "huggingface", "no-grad-forward", workload=spec)
    providers = Prepared.of(document, CPU).operation.providers
    honest = providers["huggingface"]

    def spoiled(case, given):
        call = honest(case, given)

        def called():
            (output,) = call()
            spoil(output)
            return (output,)

        return called

    assert check(document, distribution)[1]["outputs"]["y"]["matched"]
    monkeypatch.setitem(providers, "huggingface", spoiled)
    found = check(document, distribution)[1]["outputs"]["y"]
    assert not found["matched"]
    assert found["set_aside"] == (32 if distribution == "hard" else 0)


def test_what_softmax_loses_in_sixteen_bits_on_hard_inputs_is_no_fault():
    spec = workload({"rows": 512, "hidden": 512}, {"x": ([512, 512], "bf16")})
    _ran, compared = check(job("liger-softmax", "torch", workload=spec), "hard")
    gradient = compared["outputs"]["grad.x"]
    assert gradient["max_scaled_error"] > 0.0625
    assert gradient["scaled_error"] < gradient["element_tolerance"] == 0.0625
    assert gradient["matched"]


def test_an_output_nobody_writes_is_poisoned():
    poison({"x": torch.zeros(64, 64)}, CPU)
    # The host's allocator may hand out other free memory first.
    handed_out = [torch.empty(64, 64) for _ in range(200)]
    assert any(bool(tensor.isnan().all()) for tensor in handed_out)


class _Event:
    def __init__(self, device, kind: str, start: int, length: int):
        self._device, self._kind, self._start, self._length = device, kind, start, length

    def device_type(self):
        return self._device

    def activity_type(self) -> str:
        return self._kind

    def start_ns(self) -> int:
        return self._start

    def duration_ns(self) -> int:
        return self._length


def test_only_work_on_the_device_counts_as_busy():
    from torch._C._autograd import DeviceType

    events = [
        _Event(DeviceType.CUDA, "kernel", 100, 10),
        _Event(DeviceType.CUDA, "gpu_memcpy", 200, 5),
        _Event(DeviceType.CUDA, "gpu_memset", 300, 1),
        _Event(DeviceType.CUDA, "gpu_user_annotation", 0, 1000),
        _Event(DeviceType.CUDA, "cuda_sync", 0, 1000),
        _Event(DeviceType.CPU, "cpu_op", 0, 1000),
    ]
    results = type("Results", (), {"events": lambda _self: events})()
    session = type("Session", (), {"profiler": type("Inner", (), {"kineto_results": results})})
    assert busy_intervals(session) == [(100, 110), (200, 205), (300, 301)]
