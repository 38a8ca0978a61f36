"""What an executor does for one job: build it, run it once on given seeds, time it. Holds no reference output."""

import gc
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from runs.reruns.harness.canaries import disguise
from runs.reruns.harness.comparison import fingerprint
from runs.reruns.harness.errors import HarnessError
from runs.reruns.harness.recipes.catalog import NotRerunnable, Recipe, find_recipe
from runs.reruns.harness.recipes.code import operation_of
from runs.reruns.harness.recipes.kit import Call, Case, Draw, Operation, Tensors, leaves_of
from runs.reruns.harness.recipes.schedule import NO_GRAD
from runs.reruns.harness.timing import Clock, host_time, median_ns, timed_call

_POISON_SHARE = 0.25
_POISON_LIMIT = {"cpu": 256 << 20, "cuda": 16 << 30}
_SMALL_POISON = (512, 4096, 65_536, 524_288)
_LATE_WAIT_S = 2.0


@dataclass(frozen=True)
class Prepared:
    """A job's recipe, torch code and case on this device."""

    job_id: str
    recipe: Recipe
    operation: Operation
    case: Case
    canary: str | None

    @staticmethod
    def of(job: Mapping[str, Any], device: torch.device) -> "Prepared":
        """Look a job up; raises HarnessError where it has no recipe or its workload is not understood."""
        recipe = find_recipe(job["operation"], job["provider"], job["mode"], job["claimed"].get("liger_version"))
        if isinstance(recipe, NotRerunnable):
            raise HarnessError(recipe.code, recipe.reason)
        case = Case.from_workload(job["workload"], device, recipe.release)
        return Prepared(job["id"], recipe, operation_of(recipe), case, job.get("canary"))

    def draw(self, seed: bytes, distribution: str) -> tuple[Draw, Tensors]:
        """The inputs of one seed, with the draw that made them."""
        draw = Draw(seed, distribution, self.case.device)
        return draw, self.operation.inputs(self.case, draw)

    def call(self, arguments: Tensors) -> Call:
        """The implementation bound to its arguments, disguised where the job asks for a canary."""
        build = self.operation.providers[self.recipe.provider]
        if self.canary is not None:
            build = disguise(self.canary, build, self.job_id)
        return build(self.case, arguments)


@dataclass
class CheckedRun:
    """Outputs and gradients of one run, as they were the moment the device had finished the call's stream."""

    tensors: dict[str, Tensor]
    missing: list[str]
    late: bool
    fingerprints: dict[str, list[int]]


def poison(inputs: Tensors, device: torch.device) -> None:
    """Leave NaN in freed memory, so that an output nobody writes shows.

    Blocks of the sizes of the inputs and of small tensors are filled with ones in every bit, which is NaN in every
    floating type, and freed; the allocator hands them out next.
    """
    limit = _POISON_LIMIT[device.type]
    if device.type == "cuda":
        limit = min(limit, int(torch.cuda.mem_get_info()[0] * _POISON_SHARE))
    sizes = [tensor.numel() * tensor.element_size() for tensor in inputs.values()]
    blocks: list[Tensor] = []
    for size in [*_SMALL_POISON * 8, *sizes * 3]:
        if size <= limit:
            limit -= size
            blocks.append(torch.full((max(size, 1),), 255, dtype=torch.uint8, device=device))
    del blocks


def run_once(prepared: Prepared, seed: bytes, distribution: str) -> CheckedRun:
    """Run the implementation once on fresh inputs and take its outputs the moment its stream has finished."""
    draw, inputs = prepared.draw(seed, distribution)
    poison(inputs, prepared.case.device)
    threads = set(threading.enumerate())
    leaves = leaves_of(inputs)
    names = prepared.operation.outputs
    found: dict[str, Tensor | None] = {}
    if prepared.recipe.mode == NO_GRAD:
        with torch.no_grad():
            outputs = prepared.call(prepared.operation.arguments(prepared.case, inputs))()
    else:
        outputs = prepared.call(prepared.operation.arguments(prepared.case, inputs))()
    if len(outputs) != len(names):
        raise HarnessError("wrong_outputs", f"The implementation gave {len(outputs)} outputs, not {len(names)}.")
    found.update(zip(names, outputs, strict=True))
    early = _snapshot(found, prepared.case.device)
    if prepared.recipe.mode != NO_GRAD:
        found = _gradients(draw, dict(zip(names, outputs, strict=True)), leaves)
        early |= _snapshot(found, prepared.case.device)
        found.update(zip(names, outputs, strict=True))
    _settle(prepared.case.device, threads)
    late = any(not _same_bits(early[name], tensor) for name, tensor in found.items() if tensor is not None)
    return CheckedRun(
        tensors=early,
        missing=[name for name, tensor in found.items() if tensor is None],
        late=late,
        fingerprints={name: fingerprint(tensor) for name, tensor in inputs.items()},
    )


def _gradients(draw: Draw, outputs: Tensors, leaves: Tensors) -> dict[str, Tensor | None]:
    """The leaves' gradients for the seed's upstream gradients; None for a leaf the outputs do not depend on."""
    depending = {name: output for name, output in outputs.items() if output.requires_grad}
    if not depending:
        return {f"grad.{name}": None for name in leaves}
    upstream = tuple(draw.upstream(name, output) for name, output in depending.items())
    gradients = torch.autograd.grad(tuple(depending.values()), tuple(leaves.values()), upstream, allow_unused=True)
    return {f"grad.{name}": gradient for name, gradient in zip(leaves, gradients, strict=True)}


def _snapshot(found: Mapping[str, Tensor | None], device: torch.device) -> dict[str, Tensor]:
    """Copies taken once the current stream, and it alone, has finished: what a timer would have seen."""
    if device.type == "cuda":
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        event.synchronize()
    return {name: tensor.detach().clone() for name, tensor in found.items() if tensor is not None}


def _settle(device: torch.device, threads: set[threading.Thread]) -> None:
    """Wait for whatever still runs: other streams, and threads that the call started."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    deadline = time.monotonic() + _LATE_WAIT_S
    for thread in set(threading.enumerate()) - threads:
        thread.join(max(0.0, deadline - time.monotonic()))


def _same_bits(one: Tensor, other: Tensor) -> bool:
    """Equal, NaN counting as equal to NaN."""
    return bool(torch.equal(one, other.detach())) or bool(
        ((one == other.detach()) | (one.isnan() & other.detach().isnan())).all()
    )


@dataclass
class Bound:
    """A job ready to be timed in this process, with the seconds its building and first call took."""

    prepared: Prepared
    timed: Any
    build_s: float
    compile_s: float


def bind(prepared: Prepared, seed: bytes, clock: Clock) -> Bound:
    """Draw the script's inputs, build the callable, and call it once, which compiles whatever is still to compile."""
    begun = time.perf_counter()
    _draw, inputs = prepared.draw(seed, "timing")
    with torch.set_grad_enabled(prepared.recipe.mode != NO_GRAD):
        arguments = prepared.operation.arguments(prepared.case, inputs)
    call = prepared.call(arguments)
    clock.synchronize()
    built = time.perf_counter()
    timed = timed_call(prepared.recipe, call, leaves_of(inputs), arguments)
    timed.call()
    clock.synchronize()
    return Bound(prepared, timed, built - begun, time.perf_counter() - built)


def measure_event_time(bound: Bound, clock: Clock) -> dict[str, Any]:
    """Event time and host time of a bound job: {samples, wall_s, needed_s, host_ns, host_s, build_s, compile_s}."""
    schedule = bound.prepared.recipe.schedule
    event = clock.event_time(bound.timed, schedule.warmup_ms, schedule.rep_ms)
    begun = time.perf_counter()
    host_ns = host_time(bound.timed, clock.synchronize, median_ns(event.samples))
    return {
        "samples": event.samples,
        "wall_s": event.wall_s,
        "needed_s": event.needed_s,
        "host_ns": host_ns,
        "host_s": time.perf_counter() - begun,
        "build_s": bound.build_s,
        "compile_s": bound.compile_s,
    }


def measure_device_time(bound: Bound, clock: Clock, samples: list[int]) -> dict[str, Any]:
    """Device time of a bound job: {device_ns, activities, calls, device_s, build_s}."""
    begun = time.perf_counter()
    device = clock.device_time(bound.timed, median_ns(samples))
    return {
        "device_ns": device.per_call_ns,
        "activities": device.activities,
        "calls": device.calls,
        "device_s": time.perf_counter() - begun,
        "build_s": bound.build_s + bound.compile_s,
    }


def measure_graph_time(bound: Bound, clock: Clock, expected_ns: int) -> dict[str, Any]:
    """The replay of a bound job captured in a graph, or why it could not be: {ns, reason, graph_s, build_s}."""
    begun = time.perf_counter()
    reason = "this device has no graphs"
    try:
        replay_ns = clock.graph_time(bound.timed, expected_ns)
    except RuntimeError as error:
        replay_ns, reason = None, str(error).splitlines()[0][:200]
    return {
        "ns": replay_ns,
        "reason": reason if replay_ns is None else None,
        "graph_s": time.perf_counter() - begun,
        "build_s": bound.build_s + bound.compile_s,
    }


def forget_imports() -> None:
    """Take what is imported by now out of the garbage collector's sight: it stays, and looking through it takes long.

    Collecting after torch is imported takes 0.1 s and more, several times a check.
    """
    gc.collect()
    gc.freeze()


def release_memory(device: torch.device, *, above: float = 0.0) -> None:
    """Free what a job left; above a share of the device's memory held, give it back, for whoever comes next."""
    if device.type != "cuda":
        return  # the host's memory needs no collector that runs ahead of its turn
    gc.collect()
    _free, total = torch.cuda.mem_get_info()
    if torch.cuda.memory_reserved() > above * total:
        torch.cuda.empty_cache()
