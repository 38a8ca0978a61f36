"""The checker process: the parent's own hands on the device. Holds references, compares, runs the sentinel kernels.

Started as ``python -m runs.reruns.harness.checker READ_FD WRITE_FD DEVICE``. It never imports an implementation, and as
the executor it touches the device only once it is asked ``hello``.
"""

import base64
import sys
from typing import Any

import torch
from torch import Tensor

from runs.reruns.harness.comparison import bounds_for, compare, fingerprint, narrowest, set_aside
from runs.reruns.harness.frames import Frame
from runs.reruns.harness.recipes.kit import DTYPES, Draw, Tensors, leaves_of
from runs.reruns.harness.recipes.schedule import NO_GRAD
from runs.reruns.harness.sentinels import run_sentinels
from runs.reruns.harness.server import Reply, open_channel, serve
from runs.reruns.harness.work import Prepared, forget_imports, release_memory

# Of the device's memory, what may be kept for the next reference: giving it back and asking anew costs more than most
# references do, and the executor has the rest.
_KEPT_SHARE = 0.1


class Checker:
    """Answers ``hello``, ``sentinels`` and ``compare``."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def hello(self, _request: Frame) -> Reply:
        """What torch says of the device: {cuda, architecture, memory_bytes, name, count} (empty on the CPU)."""
        facts: dict[str, Any] = {}
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
            properties = torch.cuda.get_device_properties(self.device)
            facts = {
                "name": properties.name,
                "architecture": f"sm_{properties.major}{properties.minor}",
                "memory_bytes": properties.total_memory,
                "uuid": str(properties.uuid),
                "count": torch.cuda.device_count(),
                "cuda": torch.version.cuda,
            }
            torch.zeros(1, device=self.device)
        return {"device": facts}, []

    def sentinels(self, _request: Frame) -> Reply:
        """Times of the sentinel kernels in ns."""
        values = run_sentinels(self.device)
        release_memory(self.device)
        return {"sentinels": values}, []

    def compare(self, request: Frame) -> Reply:
        """Compare fetched outputs with the float64 reference of the same seed, and inputs with what they were."""
        header = request.header
        prepared = Prepared.of(header["job"], self.device)
        draw, inputs = prepared.draw(base64.b16decode(header["seed"], casefold=True), header["distribution"])
        kept = set(inputs) - set(prepared.recipe.mutates)
        changed = sorted(name for name in kept if fingerprint(inputs[name]) != header["fingerprints"].get(name))
        input_dtypes = [tensor.dtype for tensor in inputs.values() if tensor.is_floating_point()]
        references = _evaluate(prepared, draw, inputs, torch.float64)
        try:
            plain = _evaluate(prepared, draw, inputs, narrowest(input_dtypes))
        except (RuntimeError, TypeError):
            plain = {}  # a formula that PyTorch does not evaluate in this dtype leaves the stated tolerance
        fetched = request.tensors()
        outputs: dict[str, Any] = {}
        for name, reference in references.items():
            stated = header["outputs"].get(name)
            if stated is None:
                # An implementation may leave out a gradient that is zero, and that one alone.
                outputs[name] = {"matched": not bool(reference.any()), "absent": True}
                continue
            # A loss of shape (1,) is as good as one of shape (): other shapes have to agree.
            if stated["shape"] != list(reference.shape) and not (
                reference.numel() == 1 and stated["shape"] in ([], [1])
            ):
                outputs[name] = {"matched": False, "shape": stated["shape"], "expected_shape": list(reference.shape)}
                continue
            entry, data = fetched[name]
            dtype = DTYPES[entry["dtype"]]
            actual = torch.frombuffer(bytearray(data), dtype=dtype).to(self.device)
            computed_in = narrowest([*input_dtypes, dtype])
            bounds = bounds_for(prepared.recipe.kernel, name, computed_in)
            aside = set_aside(actual.numel(), computed_in, header["distribution"])
            outputs[name] = {
                "dtype": entry["dtype"],
                **compare(actual, reference, header["blocks"][name], bounds, plain.get(name), aside=aside),
            }
        del references, plain, inputs
        release_memory(self.device, above=_KEPT_SHARE)
        return {"outputs": outputs, "changed_inputs": changed}, []


def _evaluate(prepared: Prepared, draw: Draw, inputs: Tensors, dtype: torch.dtype) -> Tensors:
    """Outputs and gradients of the operation's formula, computed in one dtype."""
    cast = {name: _cast(tensor, dtype) for name, tensor in inputs.items()}
    names = prepared.operation.outputs
    outputs = prepared.operation.reference(prepared.case, cast)
    found = {name: output.detach() for name, output in zip(names, outputs, strict=True)}
    if prepared.recipe.mode != NO_GRAD:
        leaves = leaves_of(cast)
        upstream = tuple(draw.upstream(name, output) for name, output in zip(names, outputs, strict=True))
        gradients = torch.autograd.grad(outputs, tuple(leaves.values()), upstream, allow_unused=True)
        for (name, leaf), gradient in zip(leaves.items(), gradients, strict=True):
            found[f"grad.{name}"] = torch.zeros_like(leaf) if gradient is None else gradient
    return found


def _cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    if tensor.is_complex():
        return tensor.to(torch.complex128 if dtype == torch.float64 else torch.complex64)
    if not tensor.is_floating_point():
        return tensor
    return tensor.detach().to(dtype).requires_grad_(tensor.requires_grad)


def main() -> None:
    """Serve the parent until it closes the pipe."""
    channel = open_channel(sys.argv[1:3])
    device = torch.device(sys.argv[3])
    checker = Checker(device)
    forget_imports()
    channel.send({"ok": True})
    serve(channel, {"hello": checker.hello, "sentinels": checker.sentinels, "compare": checker.compare})


if __name__ == "__main__":
    main()
