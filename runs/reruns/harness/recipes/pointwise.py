"""Row-wise maps of one tensor (rows, hidden): softmax, sparsemax and squared ReLU."""

import torch
from torch import Tensor, nn

from runs.reruns.harness.recipes.kit import Call, Case, Draw, Operation, Tensors, function_call, imported, module_call


def _one_input(case: Case, draw: Draw) -> Tensors:
    return {"x": draw.activation("x", case.shapes["x"], case.dtypes["x"])}


def _softmax_torch(_case: Case, given: Tensors) -> Call:
    return module_call(nn.Softmax(dim=-1), {}, given["x"])


def _softmax_liger(_case: Case, given: Tensors) -> Call:
    LigerSoftmax = imported("liger_kernel.transformers.softmax", "LigerSoftmax")
    return module_call(LigerSoftmax(), {}, given["x"])


def _softmax_reference(_case: Case, given: Tensors) -> tuple[Tensor, ...]:
    return (torch.softmax(given["x"], dim=-1),)


def sparsemax(x: Tensor) -> Tensor:
    """The Euclidean projection of each row onto the simplex (Martins and Astudillo, 2016), by sorting."""
    ordered, _ = torch.sort(x, dim=-1, descending=True)
    sums = torch.cumsum(ordered, dim=-1)
    ranks = torch.arange(1, x.shape[-1] + 1, device=x.device, dtype=x.dtype)
    support = 1 + ranks * ordered > sums
    size = support.sum(dim=-1, keepdim=True).clamp(min=1)
    threshold = ((ordered * support).sum(dim=-1, keepdim=True) - 1) / size
    return torch.clamp(x - threshold, min=0)


def _sparsemax_torch(_case: Case, given: Tensors) -> Call:
    return function_call(sparsemax, given["x"])


def _sparsemax_liger(_case: Case, given: Tensors) -> Call:
    LigerSparsemax = imported("liger_kernel.transformers.sparsemax", "LigerSparsemax")
    return module_call(LigerSparsemax(dim=-1), {}, given["x"])


def _sparsemax_reference(_case: Case, given: Tensors) -> tuple[Tensor, ...]:
    return (sparsemax(given["x"]),)


def _squared(x: Tensor) -> Tensor:
    return torch.square(nn.functional.relu(x))


def _squared_torch(_case: Case, given: Tensors) -> Call:
    return function_call(_squared, given["x"])


def _squared_liger(_case: Case, given: Tensors) -> Call:
    LigerReLUSquared = imported("liger_kernel.transformers.relu_squared", "LigerReLUSquared")
    return module_call(LigerReLUSquared(), {}, given["x"])


def _squared_reference(_case: Case, given: Tensors) -> tuple[Tensor, ...]:
    return (_squared(given["x"]),)


OPERATIONS = {
    "softmax": Operation(_one_input, {"liger": _softmax_liger, "torch": _softmax_torch}, _softmax_reference, ("y",)),
    "sparsemax": Operation(
        _one_input, {"liger": _sparsemax_liger, "torch": _sparsemax_torch}, _sparsemax_reference, ("y",)
    ),
    "relu_squared": Operation(
        _one_input, {"liger": _squared_liger, "torch": _squared_torch}, _squared_reference, ("y",)
    ),
}
