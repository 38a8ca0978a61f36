"""Normalisations: RMSNorm, LayerNorm, GroupNorm, PolyNorm, DyT and RMSNorm with a residual added first."""

import torch
from torch import Tensor, nn

from runs.reruns.harness.recipes.kit import (
    Call,
    Case,
    Draw,
    Operation,
    Tensors,
    compiled,
    function_call,
    imported,
    module_call,
)

# From this release on the scripts cast the layer to the input's dtype.
_LAYER_NORM_CAST = (0, 8, 1)
_GROUP_NORM_CAST = (0, 8, 0)


def _eps(case: Case) -> float:
    return case.scalars.get("eps", 1e-6)


def _weight_dtype(case: Case, cast_since: tuple[int, ...]) -> torch.dtype:
    return case.dtypes["x"] if case.release >= cast_since else torch.float32


# RMSNorm: x (rows, hidden), weight (hidden) in float32 whatever x is, as the scripts leave it.


def _rms_inputs(case: Case, draw: Draw) -> Tensors:
    return {
        "x": draw.activation("x", case.shapes["x"], case.dtypes["x"]),
        "weight": draw.gain("weight", case.shapes["weight"], torch.float32),
    }


def _llama_rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """RMSNorm as Llama does it: in float32, rounded to x's dtype before the weight."""
    wide = x.to(torch.float32)
    variance = wide.pow(2).mean(-1, keepdim=True)
    return weight * (wide * torch.rsqrt(variance + eps)).to(x.dtype)


class _LlamaRMSNorm(nn.Module):
    def __init__(self, weight: nn.Parameter, eps: float) -> None:
        super().__init__()
        self.weight, self.eps = weight, eps

    def forward(self, x: Tensor) -> Tensor:
        return _llama_rms(x, self.weight, self.eps)


def _rms_huggingface(case: Case, given: Tensors) -> Call:
    weight = given["weight"]
    assert isinstance(weight, nn.Parameter)
    return module_call(_LlamaRMSNorm(weight, _eps(case)), {}, given["x"])


def _rms_liger(case: Case, given: Tensors) -> Call:
    LigerRMSNorm = imported("liger_kernel.transformers.rms_norm", "LigerRMSNorm")
    module = LigerRMSNorm(hidden_size=given["x"].shape[-1], eps=_eps(case))
    return module_call(module, {"weight": given["weight"]}, given["x"])


def _rms64(x: Tensor, eps: float) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


def _rms_reference(case: Case, given: Tensors) -> tuple[Tensor, ...]:
    return (given["weight"] * _rms64(given["x"], _eps(case)),)


RMS_NORM = Operation(_rms_inputs, {"liger": _rms_liger, "huggingface": _rms_huggingface}, _rms_reference, ("y",))


# LayerNorm: x (rows, hidden), weight and bias (hidden).


def _layer_inputs(case: Case, draw: Draw) -> Tensors:
    dtype = _weight_dtype(case, _LAYER_NORM_CAST)
    return {
        "x": draw.activation("x", case.shapes["x"], case.dtypes["x"]),
        "weight": draw.gain("weight", case.shapes["weight"], dtype),
        "bias": draw.gain("bias", case.shapes["bias"], dtype, initial=0.0),
    }


def _affine(given: Tensors) -> Tensors:
    return {"weight": given["weight"], "bias": given["bias"]}


def _layer_torch(case: Case, given: Tensors) -> Call:
    return module_call(nn.LayerNorm(given["x"].shape[-1], eps=_eps(case)), _affine(given), given["x"])


def _layer_liger(case: Case, given: Tensors) -> Call:
    LigerLayerNorm = imported("liger_kernel.transformers.layer_norm", "LigerLayerNorm")
    return module_call(LigerLayerNorm(hidden_size=given["x"].shape[-1], eps=_eps(case)), _affine(given), given["x"])


def _layer_reference(case: Case, given: Tensors) -> tuple[Tensor, ...]:
    x = given["x"]
    return (nn.functional.layer_norm(x, x.shape[-1:], given["weight"], given["bias"], _eps(case)),)


LAYER_NORM = Operation(
    _layer_inputs,
    {"liger": _layer_liger, "torch": _layer_torch, "huggingface": _layer_torch},
    _layer_reference,
    ("y",),
)


# GroupNorm: x (batch, channels, hidden), weight and bias (channels), groups = channels // channels_per_group.


def _group_inputs(case: Case, draw: Draw) -> Tensors:
    dtype = _weight_dtype(case, _GROUP_NORM_CAST)
    return {
        "x": draw.activation("x", case.shapes["x"], case.dtypes["x"]),
        "weight": draw.gain("weight", case.shapes["weight"], dtype),
        "bias": draw.gain("bias", case.shapes["bias"], dtype, initial=0.0),
    }


def _groups(case: Case) -> int:
    return case.shapes["x"][1] // case.axes["channels_per_group"]


def _group_torch(case: Case, given: Tensors) -> Call:
    module = nn.GroupNorm(_groups(case), case.shapes["x"][1], eps=_eps(case))
    return module_call(module, _affine(given), given["x"])


def _group_liger(case: Case, given: Tensors) -> Call:
    LigerGroupNorm = imported("liger_kernel.transformers.group_norm", "LigerGroupNorm")
    module = LigerGroupNorm(num_channels=case.shapes["x"][1], num_groups=_groups(case), eps=_eps(case))
    return module_call(module, _affine(given), given["x"])


def _group_reference(case: Case, given: Tensors) -> tuple[Tensor, ...]:
    return (nn.functional.group_norm(given["x"], _groups(case), given["weight"], given["bias"], _eps(case)),)


GROUP_NORM = Operation(
    _group_inputs,
    {"liger": _group_liger, "torch": _group_torch, "huggingface": _group_torch},
    _group_reference,
    ("y",),
)


# PolyNorm: x (rows, hidden); weight (3), bias (): y = w₀·norm(x³) + w₁·norm(x²) + w₂·norm(x) + b.


def _poly_inputs(case: Case, draw: Draw) -> Tensors:
    return {
        "x": draw.activation("x", case.shapes["x"], case.dtypes["x"]),
        "weight": draw.gain("weight", (3,), torch.float32, initial=1 / 3),
        "bias": draw.gain("bias", (), torch.float32),
    }


def _poly(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    terms = [weight[index] * _rms64(x**power, eps) for index, power in enumerate((3, 2, 1))]
    return terms[0] + terms[1] + terms[2] + bias


def _poly_narrow(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    return _poly(x.to(torch.float32), weight, bias, eps).to(x.dtype)


def _poly_torch(case: Case, given: Tensors) -> Call:
    return function_call(_poly_narrow, given["x"], given["weight"], given["bias"], _eps(case))


def _poly_liger(case: Case, given: Tensors) -> Call:
    LigerPolyNorm = imported("liger_kernel.transformers.poly_norm", "LigerPolyNorm")
    return module_call(LigerPolyNorm(eps=_eps(case)), _affine(given), given["x"])


def _poly_reference(case: Case, given: Tensors) -> tuple[Tensor, ...]:
    return (_poly(given["x"], given["weight"], given["bias"], _eps(case)),)


POLY_NORM = Operation(_poly_inputs, {"liger": _poly_liger, "torch": _poly_torch}, _poly_reference, ("y",))


# DyT: x (rows, hidden), alpha (1), gamma and beta (hidden): y = gamma·tanh(alpha·x) + beta.


def _dyt_inputs(case: Case, draw: Draw) -> Tensors:
    hidden = case.shapes["x"][-1:]
    inputs: Tensors = {
        "x": draw.activation("x", case.shapes["x"], case.dtypes["x"]),
        "alpha": draw.gain("alpha", (1,), torch.float32, initial=0.5),
        "gamma": draw.gain("gamma", hidden, torch.float32),
    }
    if "beta" in case.shapes or case.scalars.get("beta", 0.0):
        inputs["beta"] = draw.gain("beta", hidden, torch.float32, initial=0.0)
    return inputs


def _dyt(x: Tensor, alpha: Tensor, gamma: Tensor, beta: Tensor | None) -> Tensor:
    scaled = gamma * torch.tanh(x * alpha)
    return scaled if beta is None else scaled + beta


def _dyt_arguments(given: Tensors) -> tuple[Tensor | None, ...]:
    return given["x"], given["alpha"], given["gamma"], given.get("beta")


def _dyt_torch(_case: Case, given: Tensors) -> Call:
    return function_call(_dyt, *_dyt_arguments(given))


def _dyt_compiled(_case: Case, given: Tensors) -> Call:
    return function_call(compiled(_dyt), *_dyt_arguments(given))


def _dyt_liger(_case: Case, given: Tensors) -> Call:
    LigerDyT = imported("liger_kernel.transformers.dyt", "LigerDyT")
    module = LigerDyT(hidden_size=given["x"].shape[-1], beta="beta" in given)
    parameters = {name: tensor for name, tensor in given.items() if name != "x"}
    return module_call(module, parameters, given["x"])


def _dyt_reference(_case: Case, given: Tensors) -> tuple[Tensor, ...]:
    return (_dyt(given["x"], given["alpha"], given["gamma"], given.get("beta")),)


DYT = Operation(
    _dyt_inputs,
    {"liger": _dyt_liger, "torch": _dyt_torch, "torch_compile": _dyt_compiled},
    _dyt_reference,
    ("y",),
)


# Residual addition and RMSNorm: x and residual (rows, hidden), weight (hidden) float32; gives y and the sum.


def _added_inputs(case: Case, draw: Draw) -> Tensors:
    return {
        "x": draw.activation("x", case.shapes["x"], case.dtypes["x"]),
        "residual": draw.activation("residual", case.shapes["residual"], case.dtypes["residual"]),
        "weight": draw.gain("weight", case.shapes["weight"], torch.float32),
    }


class _AddThenNorm(nn.Module):
    """The sum in float32 and its norm, by a norm of our own or one given; the weight is applied outside the norm."""

    def __init__(self, weight: nn.Parameter, eps: float, norm: nn.Module | None) -> None:
        super().__init__()
        self.weight, self.eps, self.norm = weight, eps, norm

    def forward(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        total = x.to(torch.float32) + residual.to(torch.float32)
        normed = _rms64(total, self.eps) if self.norm is None else self.norm(total)
        return self.weight * normed.to(x.dtype), total.to(x.dtype)


def _added_torch(case: Case, given: Tensors) -> Call:
    weight = given["weight"]
    assert isinstance(weight, nn.Parameter)
    return module_call(_AddThenNorm(weight, _eps(case), None), {}, given["x"], given["residual"])


def _added_liger_norm(case: Case, given: Tensors) -> Call:
    LigerRMSNorm = imported("liger_kernel.transformers.rms_norm", "LigerRMSNorm")
    weight = given["weight"]
    assert isinstance(weight, nn.Parameter)
    inner = LigerRMSNorm(given["x"].shape[-1], _eps(case), in_place=False).to(case.device)
    return module_call(_AddThenNorm(weight, _eps(case), inner), {}, given["x"], given["residual"])


def _added_liger(case: Case, given: Tensors) -> Call:
    LigerFusedAddRMSNorm = imported("liger_kernel.transformers.fused_add_rms_norm", "LigerFusedAddRMSNorm")
    module = LigerFusedAddRMSNorm(hidden_size=given["x"].shape[-1], eps=_eps(case))
    return module_call(module, {"weight": given["weight"]}, given["x"], given["residual"])


def _added_reference(case: Case, given: Tensors) -> tuple[Tensor, ...]:
    total = given["x"] + given["residual"]
    return given["weight"] * _rms64(total, _eps(case)), total


FUSED_ADD_RMS_NORM = Operation(
    _added_inputs,
    {
        "liger_fused_add_rms_norm": _added_liger,
        "liger_rms_norm": _added_liger_norm,
        "torch": _added_torch,
        "huggingface": _added_torch,
    },
    _added_reference,
    ("y", "residual_out"),
)

OPERATIONS = {
    "rms_norm": RMS_NORM,
    "layer_norm": LAYER_NORM,
    "group_norm": GROUP_NORM,
    "poly_norm": POLY_NORM,
    "dyt": DYT,
    "fused_add_rms_norm": FUSED_ADD_RMS_NORM,
}
