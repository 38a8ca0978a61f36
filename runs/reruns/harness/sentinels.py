"""Sentinel kernels: the same work before and after each batch tells a runner's state apart from a job's."""

import time
from collections.abc import Callable

import torch

from runs.reruns.harness.timing import median_ns

_REPEATS = 15
_WARMUPS = 5


def run_sentinels(device: torch.device) -> dict[str, int]:
    """Median ns of a copy, a matrix product and an empty launch: {copy_ns, matmul_ns, launch_ns}.

    On a GPU: 1 GiB device to device, bfloat16 8192³, and a fill of one element between two events. On the CPU: 32 MiB,
    float32 512³ and the same fill.
    """
    cuda = device.type == "cuda"
    source = torch.ones((1 << 30) if cuda else (1 << 25), dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    size, dtype = (8192, torch.bfloat16) if cuda else (512, torch.float32)
    left = torch.randn((size, size), device=device).to(dtype)
    right = torch.randn((size, size), device=device).to(dtype)
    product = torch.empty_like(left)
    one = torch.empty(1, device=device)
    work: dict[str, Callable[[], object]] = {
        "copy_ns": lambda: target.copy_(source),
        "matmul_ns": lambda: torch.mm(left, right, out=product),
        "launch_ns": lambda: one.fill_(1.0),
    }
    take = _on_cuda if cuda else _on_cpu
    return {name: median_ns([take(call) for _ in range(_WARMUPS + _REPEATS)][_WARMUPS:]) for name, call in work.items()}


def _on_cuda(call: Callable[[], object]) -> int:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    start.record()
    call()
    end.record()
    end.synchronize()
    elapsed_ms: float = start.elapsed_time(end)
    return round(elapsed_ms * 1e6)


def _on_cpu(call: Callable[[], object]) -> int:
    before = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - before
