"""Rotary position embeddings of queries and keys."""

import torch
from torch import Tensor

from runs.reruns.harness.recipes.kit import Call, Case, Draw, Operation, Tensors, function_call, imported

_LLAMA_THETA = 10_000.0
_LLAMA4_THETA = 500_000.0


def _angles(seq: int, head_dim: int, theta: float, device: torch.device) -> Tensor:
    """Position times inverse frequency, (seq, head_dim // 2), in float32."""
    exponents = torch.arange(0, head_dim, 2, device=device, dtype=torch.float32) / head_dim
    return torch.outer(torch.arange(seq, device=device, dtype=torch.float32), theta**-exponents)


# Llama: q (1, q_heads, seq, head_dim) and k (1, kv_heads, seq, head_dim), views of (1, seq, heads, head_dim) leaves.


def _rope_inputs(case: Case, draw: Draw) -> Tensors:
    inputs: Tensors = {}
    for name in ("q", "k"):
        batch, heads, seq, head_dim = case.shapes[name]
        inputs[name] = draw.activation(name, (batch, seq, heads, head_dim), case.dtypes[name])
    _batch, _heads, seq, head_dim = case.shapes["q"]
    angles = _angles(seq, head_dim, _LLAMA_THETA, case.device)
    doubled = torch.cat((angles, angles), dim=-1).unsqueeze(0)
    inputs["cos"] = doubled.cos().to(case.dtypes["q"])
    inputs["sin"] = doubled.sin().to(case.dtypes["q"])
    return inputs


def _rope_arguments(_case: Case, given: Tensors) -> Tensors:
    return {**given, "q": given["q"].transpose(1, 2), "k": given["k"].transpose(1, 2)}


def _rope_huggingface(_case: Case, given: Tensors) -> Call:
    apply_rotary_pos_emb = imported("transformers.models.llama.modeling_llama", "apply_rotary_pos_emb")
    return function_call(apply_rotary_pos_emb, given["q"], given["k"], given["cos"], given["sin"])


def _rope_liger(_case: Case, given: Tensors) -> Call:
    liger_rotary_pos_emb = imported("liger_kernel.transformers.rope", "liger_rotary_pos_emb")
    positions = torch.arange(given["cos"].shape[1], device=given["cos"].device).unsqueeze(0)
    return function_call(liger_rotary_pos_emb, given["q"], given["k"], given["cos"], given["sin"], positions)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos.unsqueeze(1) + torch.cat((-second, first), dim=-1) * sin.unsqueeze(1)


def _rope_reference(case: Case, given: Tensors) -> tuple[Tensor, ...]:
    views = _rope_arguments(case, given)
    return tuple(_rotate(views[name], given["cos"], given["sin"]) for name in ("q", "k"))


# Llama 4: q and k (1, seq, heads, head_dim), pairs of neighbours turned by complex factors (1, seq, head_dim // 2).


def _llama4_inputs(case: Case, draw: Draw) -> Tensors:
    inputs = {name: draw.activation(name, case.shapes[name], case.dtypes[name]) for name in ("q", "k")}
    _batch, seq, _heads, head_dim = case.shapes["q"]
    angles = _angles(seq, head_dim, _LLAMA4_THETA, case.device)
    inputs["turns"] = torch.polar(torch.ones_like(angles), angles).unsqueeze(0)
    return inputs


def _llama4_huggingface(_case: Case, given: Tensors) -> Call:
    apply_rotary_emb = imported("transformers.models.llama4.modeling_llama4", "apply_rotary_emb")
    return function_call(apply_rotary_emb, given["q"], given["k"], given["turns"])


def _llama4_liger(_case: Case, given: Tensors) -> Call:
    liger_llama4_text_rotary_pos_emb = imported(
        "liger_kernel.transformers.llama4_rope", "liger_llama4_text_rotary_pos_emb"
    )
    return function_call(liger_llama4_text_rotary_pos_emb, given["q"], given["k"], given["turns"])


def _turn(x: Tensor, turns: Tensor) -> Tensor:
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns.unsqueeze(2)).flatten(3)


def _llama4_reference(_case: Case, given: Tensors) -> tuple[Tensor, ...]:
    return tuple(_turn(given[name], given["turns"]) for name in ("q", "k"))


OPERATIONS = {
    "rope": Operation(
        _rope_inputs,
        {"liger": _rope_liger, "huggingface": _rope_huggingface},
        _rope_reference,
        ("q_out", "k_out"),
        arguments=_rope_arguments,
    ),
    "llama4_rope": Operation(
        _llama4_inputs,
        {"liger": _llama4_liger, "huggingface": _llama4_huggingface},
        _llama4_reference,
        ("q_out", "k_out"),
    ),
}
