"""Event time, device time, graph replay and host time of one callable.

Event time on a GPU is ``triton.testing.do_bench`` itself, taken before any implementation is imported: the claim's own
protocol, cold L2 included. On the CPU the same shape is timed by ``perf_counter``.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import torch
from torch import Tensor
from torch._C._autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from runs.reruns.harness.intervals import union_length
from runs.reruns.harness.recipes.catalog import Recipe
from runs.reruns.harness.recipes.kit import Call, Tensors
from runs.reruns.harness.recipes.schedule import BACKWARD, FORWARD, FULL, NO_GRAD

NS = 1_000_000_000
_ESTIMATE_CALLS = 5
_CPU_CACHE_BYTES = 32 * 1024 * 1024
_HOST_CALLS = (3, 20)
_DEVICE_BUDGET_NS = 20_000_000
_DEVICE_CALLS = (5, 50)
_DEVICE_ATTEMPTS = 3
_GRAPH_BUDGET_NS = 5_000_000
_GRAPH_REPLAYS = (3, 10)
DEVICE_ACTIVITIES = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})


@dataclass(frozen=True)
class Timed:
    """What is timed: a call without arguments, and the leaves whose gradient is cleared before each call."""

    call: Callable[[], Any]
    grad_to_none: tuple[Tensor, ...]


@dataclass(frozen=True)
class EventTime:
    """All samples in ns, how often the protocol called, and the wall seconds it took and by its own estimate needs."""

    samples: list[int]
    wall_s: float
    needed_s: float


@dataclass(frozen=True)
class DeviceTime:
    """Device time of one call in ns, device activities of one call (None where there is no device to ask), calls."""

    per_call_ns: int
    activities: float | None
    calls: int


def timed_call(recipe: Recipe, call: Call, leaves: Tensors, arguments: Tensors) -> Timed:
    """The callable a script times in the recipe's mode. Backward runs the forward once here and keeps its graph."""
    schedule = recipe.schedule
    cleared = tuple(leaves[name] for name in schedule.grad_to_none if name in leaves)
    wrt = tuple(arguments[name] for name in schedule.wrt)

    def upstream(outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        return None if schedule.upstream == "unit" else tuple(torch.randn_like(output) for output in outputs)

    def chosen(outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return outputs if schedule.outputs == "all" else outputs[:1]

    def feed_back(outputs: tuple[Tensor, ...], gradients: tuple[Tensor, ...] | None, *, retain: bool) -> None:
        if wrt:
            torch.autograd.grad(outputs, wrt, gradients, allow_unused=True, retain_graph=retain)
        else:
            torch.autograd.backward(outputs, gradients, retain_graph=retain)

    if recipe.mode == FORWARD:
        return Timed(call, cleared)
    if recipe.mode == NO_GRAD:

        def without_grad() -> None:
            with torch.no_grad():
                call()

        return Timed(without_grad, cleared)
    if recipe.mode == BACKWARD:
        outputs = chosen(call())
        fixed = upstream(outputs)
        if schedule.upstream == "drawn":
            return Timed(lambda: feed_back(outputs, upstream(outputs), retain=True), cleared)
        return Timed(lambda: feed_back(outputs, fixed, retain=True), cleared)
    assert recipe.mode == FULL
    # A fixed gradient for `full` is drawn beforehand, of the shape of the outputs, which takes one forward.
    full_fixed = upstream(chosen(call())) if schedule.upstream == "fixed" else None

    def full() -> None:
        results = chosen(call())
        gradients = full_fixed if schedule.upstream == "fixed" else upstream(results)
        feed_back(results, gradients, retain=schedule.retain_graph)

    return Timed(full, cleared)


def median_ns(samples: Sequence[int]) -> int:
    """The median as do_bench's quantile 0.5 gives it, in whole ns."""
    return round(statistics.median(samples))


@dataclass
class CpuClock:
    """The timers of a CPU runner, where host and device are one."""

    _cache: Tensor = field(default_factory=lambda: torch.empty(_CPU_CACHE_BYTES, dtype=torch.uint8))

    def synchronize(self) -> None:
        """Nothing is asynchronous."""

    def tampered(self) -> bool:
        """The timer is a built-in function nobody can have replaced here: it is bound when this module loads."""
        return False

    def event_time(self, timed: Timed, warmup_ms: int, rep_ms: int) -> EventTime:
        """do_bench with perf_counter: estimate from 5 calls, warm up, then time each call after clearing the cache."""
        begun = _now()
        timed.call()
        start = _now()
        for _ in range(_ESTIMATE_CALLS):
            self._cache.zero_()
            timed.call()
        estimate_ns = max(1, (_now() - start) // _ESTIMATE_CALLS)
        warmups = max(1, warmup_ms * 1_000_000 // estimate_ns)
        repeats = max(1, rep_ms * 1_000_000 // estimate_ns)
        for _ in range(warmups):
            timed.call()
        samples = []
        for _ in range(repeats):
            _clear(timed.grad_to_none)
            self._cache.zero_()
            before = _now()
            timed.call()
            samples.append(_now() - before)
        return EventTime(samples, (_now() - begun) / NS, (1 + _ESTIMATE_CALLS + warmups + repeats) * estimate_ns / NS)

    def device_time(self, timed: Timed, expected_ns: int) -> DeviceTime:
        """The fastest of several calls with a warm cache: what the work itself takes where the host is the device."""
        calls = _calls_for(expected_ns)
        fastest = min(_one_call(timed) for _ in range(calls))
        return DeviceTime(fastest, None, calls)

    def graph_time(self, _timed: Timed, _expected_ns: int) -> int | None:
        """A CPU has no graphs to capture."""
        return None


def _one_call(timed: Timed) -> int:
    _clear(timed.grad_to_none)
    before = _now()
    timed.call()
    return _now() - before


_now = time.perf_counter_ns


def _clear(tensors: Sequence[Tensor]) -> None:
    for tensor in tensors:
        tensor.grad = None


def _calls_for(expected_ns: int, bounds: tuple[int, int] = _DEVICE_CALLS) -> int:
    """How many calls of an expected length fit 20 ms, within bounds."""
    least, most = bounds
    return min(most, max(least, _DEVICE_BUDGET_NS // max(1, expected_ns)))


def host_time(timed: Timed, synchronize: Callable[[], None], expected_ns: int) -> int:
    """How long one call holds the host, in ns: the mean of up to 20 calls that nothing waits for."""
    calls = _calls_for(expected_ns, _HOST_CALLS)
    synchronize()
    before = _now()
    for _ in range(calls):
        _clear(timed.grad_to_none)
        timed.call()
    spent = _now() - before
    synchronize()
    return spent // calls


class CudaClock:
    """The timers of a GPU runner. Made before the implementation is imported, so that it holds the genuine ones."""

    def __init__(self) -> None:
        self._testing = import_module("triton.testing")
        self._do_bench = self._testing.do_bench
        self._profiler_woken = False
        self._genuine = self._timer_parts()

    def _timer_parts(self) -> tuple[Any, ...]:
        event = torch.cuda.Event
        parts = (event.record, event.elapsed_time, event.synchronize, torch.cuda.synchronize, self._do_bench)
        return (event, *(getattr(part, "__code__", part) for part in parts), self._testing.do_bench)

    def synchronize(self) -> None:
        """Wait for the device."""
        torch.cuda.synchronize()

    def tampered(self) -> bool:
        """Whether an implementation has replaced a part of the timer since this clock was made."""
        return self._timer_parts() != self._genuine

    def event_time(self, timed: Timed, warmup_ms: int, rep_ms: int) -> EventTime:
        """do_bench's samples under the claim's arguments.

        do_bench does not give away its estimate of one call, cache clearing included: ``rep`` over the number of
        samples is its value where there are several, a lone sample's own time stands in where there is one.
        """
        begun = _now()
        milliseconds = self._do_bench(
            timed.call,
            warmup=warmup_ms,
            rep=rep_ms,
            grad_to_none=list(timed.grad_to_none) or None,
            return_mode="all",
        )
        wall = (_now() - begun) / NS
        samples = [max(0, round(value * 1e6)) for value in milliseconds]
        estimate_s = rep_ms / 1000 / len(samples) if len(samples) > 1 else median_ns(samples) / NS
        warmups = max(1, int(warmup_ms / 1000 / max(estimate_s, 1e-9)))
        needed = (1 + _ESTIMATE_CALLS + warmups + len(samples)) * estimate_s
        return EventTime(samples, wall, needed)

    def device_time(self, timed: Timed, expected_ns: int) -> DeviceTime:
        """The union of the busy intervals of kernels, copies and sets on the device, without clearing the cache."""
        calls = _calls_for(expected_ns)
        if not self._profiler_woken:
            self._busy_intervals(Timed(lambda: torch.zeros(1, device="cuda"), ()), 1)
            self._profiler_woken = True
        self._busy_intervals(timed, 2)
        for _attempt in range(_DEVICE_ATTEMPTS):
            intervals = self._busy_intervals(timed, calls)
            # Each call does the same work: a remainder means that the profiler has lost an activity.
            if intervals and len(intervals) % calls == 0:
                break
        return DeviceTime(round(union_length(intervals) / calls), len(intervals) / calls, calls)

    def _busy_intervals(self, timed: Timed, calls: int) -> list[tuple[int, int]]:
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            for _ in range(calls):
                _clear(timed.grad_to_none)
                timed.call()
            torch.cuda.synchronize()
        return busy_intervals(profiler)

    def graph_time(self, timed: Timed, expected_ns: int) -> int | None:
        """The replay time of one call captured in a CUDA graph, in ns; raises what the capture raises."""
        repeats = min(50, max(1, _GRAPH_BUDGET_NS // max(1, expected_ns)))
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            timed.call()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                for _ in range(repeats):
                    _clear(timed.grad_to_none)
                    timed.call()
            graph.replay()
            torch.cuda.synchronize()
            samples = []
            for _ in range(_calls_for(expected_ns * repeats, _GRAPH_REPLAYS)):
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
                start.record(stream)
                graph.replay()
                end.record(stream)
                end.synchronize()
                samples.append(round(start.elapsed_time(end) * 1e6 / repeats))
        return median_ns(samples)


def busy_intervals(profiler: Any) -> list[tuple[int, int]]:
    """Start and end, in ns, of each kernel, copy and set that a finished torch.profiler session saw on the device."""
    found: list[tuple[int, int]] = []
    for event in profiler.profiler.kineto_results.events():
        if event.device_type() != DeviceType.CUDA or not _is_work(event):
            continue
        start = event.start_ns()
        found.append((start, start + event.duration_ns()))
    return found


def _is_work(event: Any) -> bool:
    """Whether an event on the device is work: annotations and waits lie on the same tracks."""
    kind = getattr(event, "activity_type", None)
    if kind is not None:
        return kind() in DEVICE_ACTIVITIES
    return not event.is_user_annotation()


_WAKE_SECONDS = 0.3


def wake(device: torch.device) -> None:
    """Create the device context and work until the clocks are up, so that a process's first job meets them so."""
    if device.type != "cuda":
        return
    square = torch.ones((4096, 4096), device=device, dtype=torch.bfloat16)
    until = time.monotonic() + _WAKE_SECONDS
    while time.monotonic() < until:
        square @ square
        torch.cuda.synchronize()


Clock = CpuClock | CudaClock


def clock_for(device: torch.device) -> Clock:
    """The timers of a device."""
    return CudaClock() if device.type == "cuda" else CpuClock()
