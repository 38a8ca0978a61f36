import pytest

torch = pytest.importorskip("torch")

from runs.reruns.harness.executor import Executor  # noqa: E402
from runs.reruns.harness.frames import Frame  # noqa: E402
from runs.reruns.harness.server import Fatal  # noqa: E402


def _raising(error: Exception):
    def handler(_request):
        raise error

    return Executor(torch.device("cpu")).guarded(handler)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 PiB."), "out_of_memory"),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), "device_lost"),
    ],
)
def test_a_process_whose_memory_or_device_is_lost_ends(error: Exception, code: str):
    with pytest.raises(Fatal) as ending:
        _raising(error)(Frame({}))
    assert ending.value.reply["error"] == code
    assert ending.value.reply["message"] == str(error)
    assert not ending.value.reply["ok"]


def test_a_package_that_is_missing_is_named_as_such():
    reply, chunks = _raising(ImportError("No module named 'liger_kernel'"))(Frame({}))
    assert (reply["error"], chunks) == ("package_missing", [])


def test_any_other_error_goes_on_to_the_server():
    with pytest.raises(RuntimeError, match="shapes differ"):
        _raising(RuntimeError("shapes differ"))(Frame({}))
