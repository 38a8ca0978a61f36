"""The executor process: imports implementations, runs and times them. Has no key, no broker and no reference.

Started by the parent as ``python -m runs.reruns.harness.executor READ_FD WRITE_FD DEVICE PACKAGE …``; each request is a
frame. It imports torch and what the recipes need of the packages, says so in a frame of its own accord, and touches the
device only once it is asked ``hello``: so it may be started, and wait, while another process has the device.
"""

import base64
import contextlib
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import torch

from runs.reruns.harness.comparison import take_blocks
from runs.reruns.harness.errors import HarnessError
from runs.reruns.harness.frames import Frame
from runs.reruns.harness.server import Fatal, Reply, failure, open_channel, serve
from runs.reruns.harness.timing import clock_for, wake
from runs.reruns.harness.versions import package_versions
from runs.reruns.harness.work import (
    CheckedRun,
    Prepared,
    bind,
    forget_imports,
    measure_device_time,
    measure_event_time,
    measure_graph_time,
    release_memory,
    run_once,
)

DTYPE_NAMES = {
    torch.float64: "fp64",
    torch.float32: "fp32",
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
}
# What the recipes import of a package, so that a process has it before its first job is timed.
IMPORTED = {
    "liger-kernel": ("liger_kernel.transformers",),
    "transformers": ("transformers.models.llama.modeling_llama",),
}
# What a lost device context says of itself; such a process can only end.
_LOST_DEVICE = ("CUDA error", "illegal memory access", "device-side assert", "unspecified launch failure")


class Executor:
    """Answers each request about one job; between requests it holds nothing but the outputs of a check."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.clock = clock_for(device)  # before any implementation is imported
        self.held: CheckedRun | None = None

    def check(self, request: Frame) -> Reply:
        """Run a job once on one seed and hold the outputs; says shapes, dtypes, lateness and input fingerprints."""
        header = request.header
        self.held = None
        begun = time.perf_counter()
        held = run_once(self._prepared(header), _seed(header), header["distribution"])
        spent = time.perf_counter() - begun
        self.held = held
        outputs = {
            name: {"shape": list(tensor.shape), "dtype": DTYPE_NAMES.get(tensor.dtype, str(tensor.dtype))}
            for name, tensor in held.tensors.items()
        }
        return {
            "outputs": outputs,
            "missing": held.missing,
            "late": held.late,
            "fingerprints": held.fingerprints,
            "run_s": spent,
        }, []

    def fetch(self, request: Frame) -> Reply:
        """The elements of the held outputs that the parent has chosen, as raw bytes; then the outputs are let go."""
        held, self.held = self.held, None
        if held is None:
            raise HarnessError("nothing_held", "No outputs are held.")
        entries: list[dict[str, Any]] = []
        chunks: list[bytes] = []
        for name, blocks in request.header["blocks"].items():
            part = take_blocks(held.tensors[name], blocks).cpu().contiguous()
            data = part.view(torch.uint8).numpy().tobytes()
            entries.append(
                {"name": name, "dtype": DTYPE_NAMES[part.dtype], "shape": [part.numel()], "bytes": len(data)}
            )
            chunks.append(data)
        del held
        release_memory(self.device)  # all of it, so that the next check's outputs come out of poisoned memory
        return {"tensors": entries}, chunks

    def event_time(self, request: Frame) -> Reply:
        """Event time and host time of a job in this process."""
        bound = bind(self._prepared(request.header), _seed(request.header), self.clock)
        measured = measure_event_time(bound, self.clock)
        measured["tampered"] = self.clock.tampered()
        del bound
        release_memory(self.device, above=0.5)
        return measured, []

    def device_time(self, request: Frame) -> Reply:
        """Device time of a job whose event time this process has measured."""
        bound = bind(self._prepared(request.header), _seed(request.header), self.clock)
        measured = measure_device_time(bound, self.clock, request.header["samples"])
        measured["tampered"] = self.clock.tampered()
        del bound
        release_memory(self.device, above=0.5)
        return measured, []

    def graph_time(self, request: Frame) -> Reply:
        """Graph replay of a job."""
        bound = bind(self._prepared(request.header), _seed(request.header), self.clock)
        measured = measure_graph_time(bound, self.clock, request.header["expected_ns"])
        del bound
        release_memory(self.device)
        return measured, []

    def hello(self, _request: Frame) -> Reply:
        """Create the device context and say which versions this process executes."""
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
        wake(self.device)
        return {"versions": package_versions()}, []

    def guarded(self, handler: Any) -> Any:
        """A handler that ends the process where the device or its memory is lost."""

        def guard(request: Frame) -> Reply:
            try:
                reply: Reply = handler(request)
            except torch.OutOfMemoryError as error:
                raise Fatal({"ok": False, **failure(error, "out_of_memory"), "error": "out_of_memory"}) from error
            except ImportError as error:
                reply = failure(error, "package_missing"), []
            except RuntimeError as error:
                if any(sign in str(error) for sign in _LOST_DEVICE):
                    raise Fatal({"ok": False, **failure(error), "error": "device_lost"}) from error
                raise
            return reply

        return guard

    def _prepared(self, header: dict[str, Any]) -> Prepared:
        return Prepared.of(header["job"], self.device)


def _seed(header: dict[str, Any]) -> bytes:
    return base64.b16decode(header["seed"], casefold=True)


def import_packages(packages: Sequence[str]) -> None:
    """Import what the recipes need of the packages, as far as it is installed."""
    for package in packages:
        for module in IMPORTED.get(package, ()):
            with contextlib.suppress(ImportError):  # the job that needs it will say so
                import_module(module)


def main() -> None:
    """Serve the parent until it closes the pipe."""
    channel = open_channel(sys.argv[1:3])
    device = torch.device(sys.argv[3])
    if device.type != "cuda":
        torch.set_num_threads(1)  # threads that wait for a busy core would be timed instead of the operation
    executor = Executor(device)
    import_packages(sys.argv[4:])
    forget_imports()
    channel.send({"ok": True})
    requests = {
        "hello": executor.hello,
        "check": executor.check,
        "fetch": executor.fetch,
        "event_time": executor.event_time,
        "device_time": executor.device_time,
        "graph_time": executor.graph_time,
    }
    serve(channel, {name: executor.guarded(handler) for name, handler in requests.items()})


if __name__ == "__main__":
    main()
