"""Implementations that cheat, one for each way others were caught by: a check that one of them passes proves nothing.

Each wraps the callable of an honest implementation, so that a canary is as close to passing as its cheat allows.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from runs.reruns.harness.recipes.kit import Call, Case, Tensors

_LATE_SECONDS = 0.05
_LATE_CYCLES = 200_000_000  # about 0.1 s of a GPU's clock

Build = Callable[[Case, Tensors], Call]


class _Replaced(torch.autograd.Function):
    """The value of one tensor with the gradient of another, so that only the cheated value is wrong."""

    @staticmethod
    def forward(_ctx: Any, _honest: Tensor, value: Tensor) -> Tensor:
        return value.view_as(value)

    @staticmethod
    def backward(_ctx: Any, *gradients: Any) -> tuple[Tensor, None]:
        return gradients[0], None


def _replaced(honest: Tensor, value: Tensor) -> Tensor:
    replaced = _Replaced.apply(honest, value)  # type: ignore[no-untyped-call]
    assert isinstance(replaced, Tensor)
    return replaced


def _zeros(call: Call) -> Call:
    return lambda: tuple(_replaced(output, torch.zeros_like(output)) for output in call())


def _constant(call: Call) -> Call:
    return lambda: tuple(_replaced(output, torch.full_like(output, 0.5)) for output in call())


_kept: dict[str, tuple[Tensor, ...]] = {}


def _cached(call: Call, key: str) -> Call:
    def answer() -> tuple[Tensor, ...]:
        outputs = call()
        kept = _kept.setdefault(key, tuple(output.detach().clone() for output in outputs))
        return tuple(_replaced(output, value) for output, value in zip(outputs, kept, strict=True))

    return answer


def _late(call: Call) -> Call:
    def answer() -> tuple[Tensor, ...]:
        outputs = call()
        values = tuple(torch.full_like(output, float("nan")) for output in outputs)
        if outputs[0].is_cuda:
            _fill_on_side_stream(values, outputs)
        else:
            threading.Thread(target=_fill_after_a_while, args=(values, outputs), daemon=True).start()
        return tuple(_replaced(output, value) for output, value in zip(outputs, values, strict=True))

    return answer


def _fill_after_a_while(values: tuple[Tensor, ...], outputs: tuple[Tensor, ...]) -> None:
    time.sleep(_LATE_SECONDS)
    for value, output in zip(values, outputs, strict=True):
        value.copy_(output.detach())


def _fill_on_side_stream(values: tuple[Tensor, ...], outputs: tuple[Tensor, ...]) -> None:
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), torch.no_grad():
        torch.cuda._sleep(_LATE_CYCLES)  # type: ignore[no-untyped-call]
        for value, output in zip(values, outputs, strict=True):
            value.record_stream(side)
            output.record_stream(side)
            value.copy_(output.detach())


def _without_one_input(given: Tensors) -> Tensors:
    """The arguments with the last floating one replaced by a constant, as if it had never been read."""
    name = [name for name, tensor in given.items() if tensor.is_floating_point()][-1]
    ignored = torch.full_like(given[name].detach(), 0.5)
    if isinstance(given[name], torch.nn.Parameter):
        ignored = torch.nn.Parameter(ignored)
    return {**given, name: ignored}


def disguise(canary: str, build: Build, key: str) -> Build:
    """The honest implementation's builder made a cheat. ``key`` tells apart what the caching one remembers."""

    def built(case: Case, given: Tensors) -> Call:
        if canary == "ignores_input":
            return build(case, _without_one_input(given))
        call = build(case, given)
        if canary == "cached":
            return _cached(call, key)
        return {"zeros": _zeros, "constant": _constant, "late": _late}[canary](call)

    return built
