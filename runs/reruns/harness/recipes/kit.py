"""What recipes are written with: a case (one workload), a draw (its tensors), and an operation's torch code."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from runs.reruns.harness.errors import HarnessError
from runs.reruns.harness.seeds import generator_seed

DTYPES: Mapping[str, torch.dtype] = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "int64": torch.int64,
    "int32": torch.int32,
}
DISTRIBUTIONS = ("normal", "hard", "timing")

Tensors = dict[str, Tensor]
Call = Callable[[], tuple[Tensor, ...]]


@dataclass(frozen=True)
class Case:
    """One workload on one device: shapes and dtypes of its tensors, integer axes, scalars, and the claim's release."""

    shapes: Mapping[str, tuple[int, ...]]
    dtypes: Mapping[str, torch.dtype]
    axes: Mapping[str, int]
    scalars: Mapping[str, float]
    device: torch.device
    release: tuple[int, ...]

    @staticmethod
    def from_workload(spec: Mapping[str, Any], device: torch.device, release: tuple[int, ...]) -> "Case":
        """Read a WorkloadCase spec. Raises HarnessError (``workload_not_understood``) for one that lacks a part."""
        try:
            tensors = spec["tensors"]
            return Case(
                shapes={name: tuple(int(size) for size in tensor["shape"]) for name, tensor in tensors.items()},
                dtypes={name: DTYPES[tensor["dtype"]] for name, tensor in tensors.items()},
                axes={name: int(value) for name, value in spec["axes"].items()},
                scalars={name: float(entry["value"]) for name, entry in spec.get("scalars", {}).items()},
                device=device,
                release=release,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise HarnessError(
                "workload_not_understood", f"The workload lacks or misspells a part: {error}."
            ) from error


@dataclass(frozen=True)
class Draw:
    """Random tensors of one seed: the same seed, name and device give the same tensor in every process.

    ``distribution`` is ``normal``, ``hard`` (rows of different scale and offset, outliers) or ``timing`` (what the
    benchmark scripts use: standard normal activations, freshly initialised parameters).
    """

    seed: bytes
    distribution: str
    device: torch.device

    def _generator(self, name: str) -> torch.Generator:
        generator = torch.Generator(self.device)
        generator.manual_seed(generator_seed(self.seed, name))
        return generator

    def _normal(self, name: str, shape: tuple[int, ...]) -> Tensor:
        return torch.randn(shape, generator=self._generator(name), device=self.device, dtype=torch.float32)

    def activation(self, name: str, shape: tuple[int, ...], dtype: torch.dtype, *, grad: bool = True) -> Tensor:
        """An activation: standard normal, or in the hard case with rows of scale 1/16 to 4, offsets and outliers."""
        values = self._normal(name, shape)
        if self.distribution == "hard":
            rows = (*shape[:-1], 1)
            generator = self._generator(name + ".hard")
            scale = torch.exp2(torch.randint(-4, 3, rows, generator=generator, device=self.device).float())
            offset = torch.randn(rows, generator=generator, device=self.device)
            outliers = torch.rand(shape, generator=generator, device=self.device) < 0.01
            values = torch.where(outliers, values * 6, values).add_(offset).mul_(scale)
        return values.to(dtype).requires_grad_(grad)

    def uniform(self, name: str, shape: tuple[int, ...], dtype: torch.dtype, *, grad: bool = True) -> Tensor:
        """Uniform in [0, 1)."""
        values = torch.rand(shape, generator=self._generator(name), device=self.device, dtype=torch.float32)
        return values.to(dtype).requires_grad_(grad)

    def gain(self, name: str, shape: tuple[int, ...], dtype: torch.dtype, *, initial: float = 1.0) -> nn.Parameter:
        """A learned scale or shift: its initial value when timing, spread around it when checking."""
        if self.distribution == "timing":
            return nn.Parameter(torch.full(shape, initial, device=self.device, dtype=dtype))
        return nn.Parameter((self._normal(name, shape) * 0.25 + initial).to(dtype))

    def matrix(self, name: str, shape: tuple[int, int], dtype: torch.dtype) -> nn.Parameter:
        """A linear layer's matrix (out, in), uniform in ±1/√in as torch initialises it."""
        values = torch.rand(shape, generator=self._generator(name), device=self.device, dtype=torch.float32)
        return nn.Parameter(values.sub_(0.5).mul_(2 / math.sqrt(shape[1])).to(dtype))

    def integers(self, name: str, shape: tuple[int, ...], high: int) -> Tensor:
        """Integers in [0, high)."""
        return torch.randint(high, shape, generator=self._generator(name), device=self.device)

    def upstream(self, name: str, like: Tensor) -> Tensor:
        """A gradient to feed back: normal, bf16-representable so that every output dtype gets the same numbers."""
        generator = self._generator(name + ".upstream")
        # Drawn flat in logical order: an output's strides must not change the numbers.
        values = torch.randn(like.shape, generator=generator, device=self.device, dtype=torch.float32)
        return torch.empty_like(like).copy_(values.to(torch.bfloat16))


def _pass_through(_case: Case, inputs: Tensors) -> Tensors:
    return inputs


@dataclass(frozen=True)
class Operation:
    """The torch code of one operation.

    ``inputs`` draws the leaves; ``arguments`` derives from them, once and outside the timed call, what implementations
    are handed (a transposed view, a log-softmax); a provider's function binds them to a callable; ``reference``
    computes the outputs in float64 from the leaves. ``outputs`` names the outputs in order.
    """

    inputs: Callable[[Case, Draw], Tensors]
    providers: Mapping[str, Callable[[Case, Tensors], Call]]
    reference: Callable[[Case, Tensors], tuple[Tensor, ...]]
    outputs: tuple[str, ...]
    arguments: Callable[[Case, Tensors], Tensors] = _pass_through


def leaves_of(inputs: Tensors) -> Tensors:
    """The inputs that need a gradient, by name."""
    return {name: tensor for name, tensor in inputs.items() if tensor.requires_grad}


def imported(module: str, name: str) -> Any:
    """A name of a package that only executors have, looked up when a job needs it: the checker never imports it."""
    return getattr(import_module(module), name)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """torch.compile without memory of other jobs: shapes seen before would make this one's dynamic."""
    torch.compiler.reset()
    fresh: Callable[..., Any] = torch.compile(function)
    return fresh


def module_call(module: nn.Module, parameters: Mapping[str, Tensor], *arguments: Tensor) -> Call:
    """A call of a module with its parameters replaced, so that their gradients can be read off the given leaves."""
    for path, parameter in parameters.items():
        assert isinstance(parameter, nn.Parameter)
        owner, _, name = path.rpartition(".")
        module.get_submodule(owner).register_parameter(name, parameter)

    def call() -> tuple[Tensor, ...]:
        result = module(*arguments)
        return result if isinstance(result, tuple) else (result,)

    return call


def function_call(function: Callable[..., Any], *arguments: Any) -> Call:
    """A call of a function that returns a tensor or a tuple of them."""

    def call() -> tuple[Tensor, ...]:
        result = function(*arguments)
        return tuple(result) if isinstance(result, (tuple, list)) else (result,)

    return call
