"""Layers with matrices: gated MLPs (SwiGLU, GEGLU) and the embedding look-up."""

from functools import partial
from typing import Any

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

# Gated MLP: x (batch, seq, hidden), w_gate and w_up (intermediate, hidden), w_down (hidden, intermediate).


def _mlp_inputs(case: Case, draw: Draw) -> Tensors:
    inputs: Tensors = {"x": draw.activation("x", case.shapes["x"], case.dtypes["x"])}
    for name in ("w_gate", "w_up", "w_down"):
        rows, columns = case.shapes[name]
        inputs[name] = draw.matrix(name, (rows, columns), case.dtypes[name])
    return inputs


def _mlp_call(build: Any, case: Case, given: Tensors, activation: str) -> Call:
    LlamaConfig = imported("transformers.models.llama.configuration_llama", "LlamaConfig")
    config = LlamaConfig(
        hidden_size=case.shapes["x"][-1], intermediate_size=case.shapes["w_gate"][0], hidden_act=activation
    )
    with torch.device("meta"):  # the matrices are replaced at once; initialising them would take seconds
        module = build(config=config)
    parameters = {
        "gate_proj.weight": given["w_gate"],
        "up_proj.weight": given["w_up"],
        "down_proj.weight": given["w_down"],
    }
    return module_call(module, parameters, given["x"])


def _mlp_huggingface(activation: str, case: Case, given: Tensors) -> Call:
    LlamaMLP = imported("transformers.models.llama.modeling_llama", "LlamaMLP")
    return _mlp_call(LlamaMLP, case, given, activation)


def _swiglu_liger(case: Case, given: Tensors) -> Call:
    LigerSwiGLUMLP = imported("liger_kernel.transformers.swiglu", "LigerSwiGLUMLP")
    return _mlp_call(LigerSwiGLUMLP, case, given, "silu")


def _geglu_liger(case: Case, given: Tensors) -> Call:
    LigerGEGLUMLP = imported("liger_kernel.transformers.geglu", "LigerGEGLUMLP")
    return _mlp_call(LigerGEGLUMLP, case, given, "gelu_pytorch_tanh")


def _gelu_tanh(x: Tensor) -> Tensor:
    return nn.functional.gelu(x, approximate="tanh")


def _mlp_reference(activation: Any, _case: Case, given: Tensors) -> tuple[Tensor, ...]:
    gate = activation(nn.functional.linear(given["x"], given["w_gate"]))
    up = nn.functional.linear(given["x"], given["w_up"])
    return (nn.functional.linear(gate * up, given["w_down"]),)


# Embedding: input_ids (batch, seq) of integers, weight (vocab, hidden).


def _embedding_inputs(case: Case, draw: Draw) -> Tensors:
    vocab, _hidden = case.shapes["weight"]
    table = draw.activation("weight", case.shapes["weight"], case.dtypes["weight"], grad=False)
    return {"weight": nn.Parameter(table), "input_ids": draw.integers("input_ids", case.shapes["input_ids"], vocab)}


def _embedding_module(given: Tensors, build: Any) -> nn.Module:
    vocab, hidden = given["weight"].shape
    with torch.device("meta"):
        module = build(vocab, hidden)
    assert isinstance(module, nn.Module)
    module.register_parameter("weight", given["weight"])  # type: ignore[arg-type]  # drawn as a Parameter
    return module


def _embedding_torch(_case: Case, given: Tensors) -> Call:
    return module_call(_embedding_module(given, nn.Embedding), {}, given["input_ids"])


def _embedding_compiled(_case: Case, given: Tensors) -> Call:
    return function_call(compiled(_embedding_module(given, nn.Embedding)), given["input_ids"])


def _embedding_liger(_case: Case, given: Tensors) -> Call:
    LigerEmbedding = imported("liger_kernel.transformers.experimental.embedding", "LigerEmbedding")
    return module_call(_embedding_module(given, LigerEmbedding), {}, given["input_ids"])


def _embedding_reference(_case: Case, given: Tensors) -> tuple[Tensor, ...]:
    return (nn.functional.embedding(given["input_ids"], given["weight"]),)


OPERATIONS = {
    "swiglu": Operation(
        _mlp_inputs,
        {"liger": _swiglu_liger, "huggingface": partial(_mlp_huggingface, "silu")},
        partial(_mlp_reference, nn.functional.silu),
        ("y",),
    ),
    "geglu": Operation(
        _mlp_inputs,
        {"liger": _geglu_liger, "huggingface": partial(_mlp_huggingface, "gelu_pytorch_tanh")},
        partial(_mlp_reference, _gelu_tanh),
        ("y",),
    ),
    "embedding": Operation(
        _embedding_inputs,
        {
            "liger": _embedding_liger,
            "torch": _embedding_torch,
            "huggingface": _embedding_torch,
            "torch_compile": _embedding_compiled,
        },
        _embedding_reference,
        ("y",),
    ),
}
