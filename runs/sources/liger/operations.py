"""What the Liger-Kernel benchmarks compute: one operation for each kernel name of the CSV files.

A tensor is written `name[dim,dim]`, its dtype behind a colon where the benchmark does not choose it ("float" where it
does); a dimension is a number or an axis. Where two kernel names compute the same thing (a tiled MLP and a plain one)
their specs are equal and so are their digests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.manifests.expressions import Expression, parse_expression

_TENSOR = re.compile(r"(?P<name>[a-z][a-z0-9_]*)\[(?P<shape>[a-z0-9_,]*)\](?::(?P<dtype>[a-z0-9]+))?")

CHOSEN_DTYPE = "float"
"""The dtype of an operation's tensor that a workload fixes."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of an operation; a dimension is an integer or the name of an axis."""

    name: str
    shape: tuple[int | str, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation with the names that the source and readers know it by, and its OperationSpec.

    `derived` holds the axes that follow from others, in the order in which they can be computed; `note` says in what an
    implementation differs from that of another operation with an equal spec.
    """

    key: str
    slug: str
    title: str
    inputs: tuple[Tensor, ...]
    derived: Mapping[str, Expression]
    spec: dict[str, Any]
    note: str | None


def _size(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def _tensors(text: str) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(
            match["name"],
            tuple(_size(size) for size in match["shape"].split(",")),
            match["dtype"] or CHOSEN_DTYPE,
        )
        for match in _TENSOR.finditer(text)
    )


def _signature(tensors: tuple[Tensor, ...]) -> list[dict[str, Any]]:
    return [{"name": each.name, "tensor": {"shape": list(each.shape), "dtype": each.dtype}} for each in tensors]


def _operation(
    key: str,
    title: str,
    family: str,
    signature: tuple[str, str, str],
    *,
    derived: Mapping[str, str] | None = None,
    slug: str | None = None,
    expression: str | None = None,
    note: str | None = None,
) -> Operation:
    """An operation from its names and its signature: the axes, the inputs and the outputs."""
    axes, inputs, outputs = signature
    expressions = {axis: parse_expression(text) for axis, text in (derived or {}).items()}
    roles: dict[str, Any] = {axis: {"role": "variable", "type": "integer"} for axis in axes.split()}
    for axis, each in expressions.items():
        roles[axis] = {"role": "derived", "type": "integer", "expression": each.text}
    taken, given = _tensors(inputs), _tensors(outputs)
    semantics = {"mutation": "none", "determinism": "unspecified"}
    if expression is not None:
        semantics["expression"] = expression
    spec = {
        "family": family,
        "axes": roles,
        "inputs": _signature(taken),
        "outputs": _signature(given),
        "semantics": semantics,
    }
    return Operation(key, slug or "liger-" + key.replace("_", "-"), title, taken, expressions, spec, note)


_GATED_MLP = (
    "batch seq hidden intermediate",
    "x[batch,seq,hidden] w_gate[intermediate,hidden] w_up[intermediate,hidden] w_down[hidden,intermediate]",
    "y[batch,seq,hidden]",
)
_ALIGNMENT = ("batch seq hidden vocab", "x[batch,seq,hidden] weight[vocab,hidden] target[batch,seq]:int64", "loss[1]")
_DISTILLATION = (
    "tokens vocab hidden",
    "student_input[tokens,student_hidden] student_weight[vocab,student_hidden] "
    "teacher_input[tokens,hidden] teacher_weight[vocab,hidden] target[tokens]:int64",
    "loss[1]",
)
_TOKEN_ATTENTION = (
    "batch heads_in seq heads_out k",
    "scores[batch,heads_in,seq,seq] weight[heads_out,heads_in,k,k] bias[heads_out]",
    "y[batch,heads_out,seq,seq]",
)
_GRPO = (
    "batch vocab seq",
    "logits[batch,seq_next,vocab] completion_ids[batch,seq]:int64 advantages[batch]",
    "loss[1]",
)
_FUSED_GRPO = (
    "batch seq hidden vocab",
    "x[batch,seq,hidden] weight[vocab,hidden] selected_token_ids[batch,seq]:int64 attention_mask[batch,seq]:fp32 "
    "advantages[batch] ref_x[batch,seq,hidden] ref_weight[vocab,hidden]",
    "loss[1]",
)
_HEADS_FIRST = (
    "q_heads seq kv_heads",
    "q[1,q_heads,seq,head_dim] k[1,kv_heads,seq,head_dim]",
    "q_out[1,q_heads,seq,head_dim] k_out[1,kv_heads,seq,head_dim]",
)
_ROWS = ("rows hidden", "x[rows,hidden]", "y[rows,hidden]")
_HEAD_DIM = {"head_dim": "hidden // q_heads"}
_HALF = {"student_hidden": "hidden // 2"}

_ALL = (
    _operation(
        "cross_entropy",
        "Cross-entropy loss",
        "cross-entropy",
        ("tokens vocab", "logits[tokens,vocab] target[tokens]:int64", "loss[1]"),
    ),
    _operation(
        "embedding",
        "Embedding lookup",
        "embedding",
        ("batch seq vocab hidden", "input_ids[batch,seq]:int64 weight[vocab,hidden]", "y[batch,seq,hidden]"),
    ),
    _operation(
        "fused_linear_cross_entropy",
        "Fused linear + cross-entropy",
        "cross-entropy",
        ("tokens hidden vocab", "x[tokens,hidden] weight[vocab,hidden] target[tokens]:int64", "loss[1]"),
    ),
    _operation("geglu", "GeGLU MLP", "geglu", _GATED_MLP),
    _operation(
        "layer_norm",
        "LayerNorm",
        "layernorm",
        ("rows hidden", "x[rows,hidden] weight[hidden] bias[hidden]", "y[rows,hidden]"),
    ),
    _operation("rms_norm", "RMSNorm", "rmsnorm", ("rows hidden", "x[rows,hidden] weight[hidden]", "y[rows,hidden]")),
    _operation("rope", "Rotary position embedding", "rope", _HEADS_FIRST, derived=_HEAD_DIM),
    _operation("swiglu", "SwiGLU MLP", "swiglu", _GATED_MLP),
    _operation(
        "kl_div",
        "KL-divergence loss",
        "kl-divergence",
        ("tokens vocab", "log_probs[tokens,vocab] target_probs[tokens,vocab]", "loss[1]"),
    ),
    _operation(
        "jsd",
        "Jensen-Shannon divergence loss",
        "jsd",
        ("tokens vocab", "student_log_probs[tokens,vocab] teacher_log_probs[tokens,vocab]", "loss[1]"),
    ),
    _operation(
        "fused_linear_jsd",
        "Fused linear + JSD",
        "jsd",
        (
            "tokens hidden vocab",
            "student_input[tokens,hidden] student_weight[vocab,hidden] "
            "teacher_input[tokens,hidden] teacher_weight[vocab,hidden]",
            "loss[1]",
        ),
    ),
    _operation("fused_linear_orpo_loss", "Fused linear + ORPO loss", "orpo", _ALIGNMENT),
    _operation("fused_linear_cpo_loss", "Fused linear + CPO loss", "cpo", _ALIGNMENT),
    _operation("fused_linear_simpo_loss", "Fused linear + SimPO loss", "simpo", _ALIGNMENT),
    _operation("distill_jsd_loss", "Chunked distillation JSD loss", "jsd", _DISTILLATION, derived=_HALF),
    _operation(
        "kto_loss",
        "Fused linear + KTO loss",
        "kto",
        (
            "batch seq hidden vocab",
            "x[batch,seq,hidden] ref_x[batch,seq,hidden] weight[vocab,hidden] bias[vocab] ref_weight[vocab,hidden] "
            "ref_bias[vocab] target[batch,seq]:int64 preference_labels[batch]:bool kl[1]",
            "loss[1]",
        ),
        slug="liger-fused-linear-kto-loss",
    ),
    _operation("sparsemax", "Sparsemax", "sparsemax", ("tokens features", "x[tokens,features]", "y[tokens,features]")),
    _operation("multi_token_attention", "Multi-token attention", "multi-token-attention", _TOKEN_ATTENTION),
    _operation("softmax", "Softmax", "softmax", _ROWS),
    _operation(
        "sparse_multi_token_attention",
        "Sparse multi-token attention",
        "multi-token-attention",
        _TOKEN_ATTENTION,
        note="sparse",
    ),
    _operation(
        "fused_neighborhood_attention",
        "Fused neighborhood attention",
        "neighborhood-attention",
        (
            "batch seq hidden",
            "hidden_states[batch,seq,hidden] q_weight[hidden,hidden] k_weight[hidden,hidden] v_weight[hidden,hidden] "
            "out_weight[hidden,hidden] q_bias[hidden] k_bias[hidden] v_bias[hidden] out_bias[hidden]",
            "y[batch,seq,hidden]",
        ),
        derived={"head_dim": "hidden // heads"},
    ),
    _operation(
        "distill_cosine_loss",
        "Chunked distillation cosine loss",
        "cosine-similarity-loss",
        _DISTILLATION,
        derived=_HALF,
    ),
    _operation(
        "fused_linear_grpo_loss_token",
        "GRPO loss, token-level importance sampling",
        "grpo",
        _GRPO,
        derived={"seq_next": "seq + 1"},
        slug="liger-grpo-loss-token",
    ),
    _operation(
        "fused_linear_grpo_loss_sequence",
        "GRPO loss, sequence-level importance sampling",
        "grpo",
        _GRPO,
        derived={"seq_next": "seq + 1"},
        slug="liger-grpo-loss-sequence",
        note="sequence level",
    ),
    _operation(
        "llama4_rope",
        "Llama 4 rotary position embedding",
        "rope",
        (
            "seq q_heads kv_heads",
            "q[1,seq,q_heads,head_dim] k[1,seq,kv_heads,head_dim]",
            "q_out[1,seq,q_heads,head_dim] k_out[1,seq,kv_heads,head_dim]",
        ),
        derived=_HEAD_DIM,
    ),
    _operation("tiled_geglu", "GeGLU MLP (tiled benchmark)", "geglu", _GATED_MLP),
    _operation("tiled_swiglu", "SwiGLU MLP (tiled benchmark)", "swiglu", _GATED_MLP),
    _operation(
        "tvd", "Total variation distance loss", "tvd", ("tokens vocab", "p[tokens,vocab] q[tokens,vocab]", "loss[1]")
    ),
    _operation(
        "group_norm",
        "GroupNorm",
        "groupnorm",
        (
            "batch channels hidden",
            "x[batch,channels,hidden] weight[channels] bias[channels]",
            "y[batch,channels,hidden]",
        ),
        derived={"groups": "channels // channels_per_group"},
    ),
    _operation("relu_squared", "ReLU squared", "relu-squared", _ROWS),
    _operation(
        "fused_add_rms_norm",
        "Fused add + RMSNorm",
        "rmsnorm",
        (
            "rows hidden",
            "x[rows,hidden] residual[rows,hidden] weight[hidden]",
            "y[rows,hidden] residual_out[rows,hidden]",
        ),
    ),
    _operation(
        "fused_moe",
        "Fused MoE expert MLP",
        "moe",
        (
            "tokens hidden experts intermediate k",
            "x[tokens,hidden] gate_up_proj[experts,intermediate_double,hidden] down_proj[experts,hidden,intermediate] "
            "top_k_index[tokens,k]:int32 top_k_weights[tokens,k]",
            "y[tokens,hidden]",
        ),
        derived={"intermediate_double": "intermediate * 2"},
    ),
    _operation(
        "megatron_rms_norm",
        "RMSNorm, Megatron layout",
        "rmsnorm",
        ("seq batch hidden", "x[seq,batch,hidden] weight[hidden]", "y[seq,batch,hidden]"),
    ),
    _operation(
        "megatron_cross_entropy",
        "Vocab-parallel cross-entropy, Megatron layout",
        "cross-entropy",
        ("seq batch vocab", "logits[seq,batch,vocab] target[seq,batch]:int64", "loss[seq,batch]:fp32"),
    ),
    _operation(
        "megatron_swiglu",
        "SwiGLU activation, Megatron layout",
        "swiglu",
        ("seq batch ffn", "y[seq,batch,ffn_double]", "out[seq,batch,ffn]"),
        derived={"ffn_double": "ffn * 2"},
    ),
    # From here on: kernels of releases 0.8.1 and later, and kernel names whose script takes other inputs since then.
    _operation("qwen2vl_mrope", "Multimodal rotary position embedding", "rope", _HEADS_FIRST, derived=_HEAD_DIM),
    _operation(
        "dyt",
        "Dynamic Tanh with shift",
        "dynamic-tanh",
        ("rows hidden", "x[rows,hidden] alpha[1] gamma[hidden] beta[hidden]", "y[rows,hidden]"),
        expression="gamma * tanh(alpha * x) + beta",
    ),
    _operation(
        "dyt_without_shift",
        "Dynamic Tanh",
        "dynamic-tanh",
        ("rows hidden", "x[rows,hidden] alpha[1] gamma[hidden]", "y[rows,hidden]"),
        expression="gamma * tanh(alpha * x)",
    ),
    _operation(
        "poly_norm", "PolyNorm", "polynorm", ("rows hidden", "x[rows,hidden] weight[3] bias[1]", "y[rows,hidden]")
    ),
    _operation(
        "fused_linear_grpo_hidden_states_token",
        "Fused linear + GRPO loss, token-level importance sampling",
        "grpo",
        _FUSED_GRPO,
        slug="liger-fused-linear-grpo-loss-token",
        expression="importance ratio of each token",
    ),
    _operation(
        "fused_linear_grpo_hidden_states_sequence",
        "Fused linear + GRPO loss, sequence-level importance sampling",
        "grpo",
        _FUSED_GRPO,
        slug="liger-fused-linear-grpo-loss-sequence",
        expression="importance ratio of each sequence",
    ),
    _operation(
        "fused_linear_selected_log_probs",
        "Fused linear selected log-probabilities",
        "cross-entropy",
        (
            "tokens hidden vocab selected label_stride",
            "x[tokens,hidden] weight[vocab,hidden] target[tokens]:int64 selected_token_ids[selected]:int64",
            "nll[tokens]:fp32 entropy[tokens] selected_log_probs[label_rows,selected]:fp32",
        ),
        derived={"label_rows": "(tokens + label_stride - 1) // label_stride"},
    ),
    _operation(
        "fused_linear_scaled_cross_entropy",
        "Fused linear + scaled cross-entropy with entropy",
        "cross-entropy",
        (
            "tokens hidden vocab",
            "x[tokens,hidden] weight[vocab,hidden] target[tokens]:int64",
            "nll[tokens]:fp32 entropy[tokens]",
        ),
    ),
)

OPERATIONS: Mapping[str, Operation] = {each.key: each for each in _ALL}
