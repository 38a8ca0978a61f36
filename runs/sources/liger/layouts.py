"""What a row's x value and config mean: a layout for each kernel, x name and set of config names.

The meaning is that of the benchmark script of the earliest release whose source distribution ships such rows. An axis
is an expression over the config's numbers (their names in lower case) and `x`, the row's x value. What a script takes
for granted (a bias, a reduction, one shard) must stand in the config as it was there: with another value the row says
something else, and it is not published under this meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.manifests.expressions import Expression, parse_expression

DTYPES = {"torch.float32": "fp32", "torch.bfloat16": "bf16", "torch.float16": "fp16"}

MODEL_X = "model_config"
"""The x name of rows whose x value is a model's name."""

MODEL_VOCABULARIES = {
    "llama_2_7b": 32000,
    "llama_3_8b": 128256,
    "qwen2.5_7b": 152064,
    "qwen2.5_14b": 152064,
    "qwen2.5_72b": 152064,
    "deepseek_v2_lite": 102400,
    "deepseek_v3": 129280,
}
"""Vocabulary sizes of the models that the scripts of 0.8.2 name; their x in an expression."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How rows of one shape become a workload of an operation.

    `dtype` is None where the config names it; `scalars` holds a number, or None where the config has it; `fp32` names
    inputs that stay fp32 whatever the dtype; `tag` tells apart what axes and dtype do not; `interface` is how the
    implementation is called where a provider has several ways; `memory_held` has the reason why the memory rows of a
    mode do not say what they seem to.
    """

    kernel: str
    x_name: str
    operation: str
    axes: Mapping[str, Expression]
    numbers: frozenset[str]
    dtype: str | None
    scalars: Mapping[str, float | None]
    fixed: Mapping[str, Any]
    fp32: frozenset[str]
    tag: str | None
    interface: str | None
    memory_held: Mapping[str, str]
    config: frozenset[str]

    def holds(self, config: Mapping[str, Any]) -> bool:
        """Whether the config has the values that this meaning takes for granted (true is no 1)."""
        return all(type(config[name]) is type(value) and config[name] == value for name, value in self.fixed.items())


def _layout(
    kernel: str,
    x_name: str,
    axes: str,
    *,
    dtype: str | None = None,
    scalars: Mapping[str, float | None] | None = None,
    fixed: Mapping[str, Any] | None = None,
    ignored: str = "",
    fp32: str = "",
    operation: str | None = None,
    tag: str | None = None,
    interface: str | None = None,
    memory_held: Mapping[str, str] | None = None,
) -> Layout:
    """A layout from its axes, written `axis=expression; axis=expression` with config names as the source has them."""
    written = dict(part.strip().split("=") for part in axes.split(";"))
    names = {word for text in written.values() for word in text.replace("*", " ").replace("//", " ").split()}
    numbers = frozenset(names - {"x"})
    scalars, fixed = scalars or {}, fixed or {}
    config = numbers | set(fixed) | set(ignored.split()) | {name for name, value in scalars.items() if value is None}
    return Layout(
        kernel=kernel,
        x_name=x_name,
        operation=operation or kernel,
        axes={axis: parse_expression(text.lower()) for axis, text in written.items()},
        numbers=numbers,
        dtype=dtype,
        scalars=scalars,
        fixed=fixed,
        fp32=frozenset(fp32.split()),
        tag=tag,
        interface=interface,
        memory_held=memory_held or {},
        config=frozenset(config if dtype else config | {"dtype"}),
    )


_EPS: Mapping[str, float | None] = {"eps": None}
_FORWARD_GRAPH = {"mode": "forward"}
_DISTILLATION = {**_FORWARD_GRAPH, "bias": False, "ignore_index": -100}
_DISTILLATION_WEIGHTS: Mapping[str, float | None] = {"weight_hard_loss": None, "weight_soft_loss": None}
_ATTENTION_SCORES = "batch=B; heads_in=C_in; heads_out=C_out; seq=x; k=K"
_MLP = "batch=bsz; seq=x; hidden=hidden_size; intermediate=intermediate_size"
_GEGLU = {"hidden_act": "gelu_pytorch_tanh"}
_SWIGLU = {"hidden_act": "silu"}
_ROPE_BY_HIDDEN = "seq=seq_len; hidden=x; q_heads=num_q_heads; kv_heads=num_kv_heads"
_ROPE_BY_SEQ = "seq=x; hidden=hidden_size; q_heads=num_q_heads; kv_heads=num_kv_heads"
_ROPE_OF_MODEL = "seq=x; hidden=hidden_size; q_heads=num_attention_heads; kv_heads=num_key_value_heads"
# The sweeps of 0.8.1 and later write down how far they go; the measured call does not depend on it.
_SWEEP = "bsz seq_len"
# The script has one memory function for all modes, and it runs the forward and the backward pass.
_FULL_WHATEVER_THE_MODE = {"forward": "mode_not_measured", "backward": "mode_not_measured"}
# The script makes a vector of x elements and leaves the number of rows out.
_VECTOR = dict.fromkeys(("forward", "backward", "full"), "memory_of_other_shape")

_UNTIL_0_8_0 = (
    _layout("cross_entropy", "V", "tokens=B * T; vocab=x", dtype="fp32"),
    _layout("embedding", "V", "batch=B; seq=T; hidden=D; vocab=x"),
    _layout("fused_linear_cross_entropy", "BT", "tokens=x; hidden=H; vocab=V", fixed=_FORWARD_GRAPH),
    _layout("geglu", "T", _MLP, fixed=_GEGLU),
    _layout("layer_norm", "N", "rows=M; hidden=x", scalars=_EPS),
    _layout("rms_norm", "H", "rows=M; hidden=x", scalars=_EPS),
    _layout("rope", "H", _ROPE_BY_HIDDEN),
    _layout("rope", "T", _ROPE_BY_SEQ),
    _layout("swiglu", "T", "batch=B; seq=x; hidden=hidden_size; intermediate=intermediate_size", fixed=_SWIGLU),
    _layout("kl_div", "V", "tokens=B * T; vocab=x", dtype="fp32"),
    _layout("jsd", "V", "tokens=B * T; vocab=x", dtype="fp32"),
    _layout("fused_linear_jsd", "BT", "tokens=x; hidden=H; vocab=V", fixed=_FORWARD_GRAPH, scalars={"beta": 0.5}),
    _layout("fused_linear_orpo_loss", "B", "batch=x; seq=T; hidden=H; vocab=V", fixed=_FORWARD_GRAPH),
    _layout("fused_linear_cpo_loss", "B", "batch=x; seq=T; hidden=H; vocab=V", fixed=_FORWARD_GRAPH),
    _layout("fused_linear_simpo_loss", "B", "batch=x; seq=T; hidden=H; vocab=V", fixed=_FORWARD_GRAPH),
    _layout(
        "distill_jsd_loss",
        "BT",
        "tokens=x; hidden=H; vocab=V",
        fixed=_DISTILLATION,
        scalars=_DISTILLATION_WEIGHTS,
    ),
    _layout(
        "kto_loss",
        "B",
        "batch=x; seq=T; hidden=H; vocab=V",
        fixed={**_FORWARD_GRAPH, "bias": True, "ignore_index": 42},
        scalars={"beta": None},
    ),
    _layout("sparsemax", "V", "tokens=B * T; features=x", fixed={"dim": -1}, memory_held=_FULL_WHATEVER_THE_MODE),
    _layout("multi_token_attention", "L", _ATTENTION_SCORES, fixed={"groups": 1, "bias": True}),
    _layout("softmax", "N", "rows=M; hidden=x", memory_held=_VECTOR),
    _layout("sparse_multi_token_attention", "L", _ATTENTION_SCORES, fixed={"groups": 1, "bias": True}),
    _layout(
        "fused_neighborhood_attention",
        "seq_len",
        "batch=batch_size; seq=x; hidden=hidden_size; heads=num_heads; kernel_size=kernel_size; dilation=dilation",
        fixed={"bias": True},
    ),
    _layout(
        "distill_cosine_loss",
        "BT",
        "tokens=x; hidden=H; vocab=V",
        fixed=_DISTILLATION,
        scalars=_DISTILLATION_WEIGHTS,
    ),
    _layout(
        "fused_linear_grpo_loss_token",
        "B",
        "batch=x; seq=T; vocab=V",
        fixed={"importance_sampling_level": "token"},
        ignored="H",
    ),
    _layout(
        "fused_linear_grpo_loss_sequence",
        "B",
        "batch=x; seq=T; vocab=V",
        fixed={"importance_sampling_level": "sequence"},
        ignored="H",
    ),
    _layout("llama4_rope", "H", _ROPE_BY_HIDDEN),
    _layout("llama4_rope", "T", _ROPE_BY_SEQ),
    _layout("tiled_geglu", "T", _MLP, fixed={**_GEGLU, "activation_type": "geglu", "num_shards": 4}),
    _layout("tiled_swiglu", "T", _MLP, fixed={**_SWIGLU, "activation_type": "swiglu", "num_shards": 4}),
    _layout("tvd", "V", "tokens=B * T; vocab=x", dtype="fp32"),
    _layout(
        "group_norm",
        "C",
        "batch=M; channels=x; hidden=H; channels_per_group=channels_per_group",
        scalars=_EPS,
        memory_held=_FULL_WHATEVER_THE_MODE,
    ),
    _layout("relu_squared", "N", "rows=M; hidden=x"),
    _layout("fused_add_rms_norm", "H", "rows=M; hidden=x", scalars=_EPS),
    _layout(
        "fused_moe",
        "T",
        "tokens=x; hidden=H; intermediate=intermediate_dim; experts=E; k=K",
        fixed={"sweep_dim": "T", "T": None},
    ),
    _layout(
        "fused_moe",
        "E",
        "tokens=T; hidden=H; intermediate=intermediate_dim; experts=x; k=K",
        fixed={"sweep_dim": "E", "E": None},
    ),
    _layout("megatron_rms_norm", "H", "seq=S; batch=B; hidden=x", dtype="bf16", scalars={"eps": 1e-6}),
    _layout("megatron_cross_entropy", "V", "seq=S; batch=B; vocab=x", dtype="bf16", fixed={"TP": 1}),
    _layout("megatron_swiglu", "ffn_local", "seq=S; batch=B; ffn=x", dtype="bf16"),
)

_SELECTED = {"return_entropy": True}
_SELECTION = "tokens=x; hidden=hidden_size; vocab=vocab_size; selected=selected_tokens; label_stride=label_stride"
_GRPO_DEFAULTS: Mapping[str, float | None] = {"beta": 0.1, "epsilon_low": 0.2, "epsilon_high": 0.2}

_SINCE_0_8_1 = (
    _layout("cross_entropy", "BT", "tokens=x; vocab=vocab_size", dtype="fp32", ignored=_SWEEP),
    _layout("cross_entropy", MODEL_X, "tokens=bsz * seq_len; vocab=x", dtype="fp32"),
    _layout(
        "kl_div", "BT", "tokens=x; vocab=vocab_size", dtype="fp32", fixed={"reduction": "batchmean"}, ignored=_SWEEP
    ),
    _layout("jsd", "BT", "tokens=x; vocab=vocab_size", dtype="fp32", ignored=_SWEEP),
    _layout(
        "fused_linear_jsd",
        "BT",
        "tokens=x; hidden=hidden_size; vocab=vocab_size",
        scalars={"beta": 0.5},
        ignored=_SWEEP,
    ),
    _layout("geglu", "T", _MLP, fixed=_GEGLU, ignored="seq_len"),
    _layout("swiglu", "T", _MLP, fixed=_SWIGLU, ignored="seq_len"),
    _layout("layer_norm", "T", "rows=x; hidden=hidden_size", scalars=_EPS, ignored=_SWEEP),
    # The module of these stays fp32 while its input has the dtype of the config.
    _layout("rms_norm", "T", "rows=x; hidden=hidden_size", scalars=_EPS, ignored=_SWEEP, fp32="weight"),
    _layout(
        "fused_add_rms_norm",
        "BT",
        "rows=x; hidden=hidden_size",
        scalars=_EPS,
        ignored=f"{_SWEEP} intermediate_size",
        fp32="weight",
    ),
    _layout("poly_norm", "T", "rows=x; hidden=hidden_size", scalars=_EPS, ignored=_SWEEP, fp32="weight bias"),
    _layout(
        "dyt",
        "BT",
        "rows=x; hidden=hidden_size",
        fixed={"beta": True},
        ignored=_SWEEP,
        fp32="alpha gamma beta",
        tag="shift",
    ),
    _layout(
        "dyt",
        "BT",
        "rows=x; hidden=hidden_size",
        fixed={"beta": False},
        ignored=_SWEEP,
        fp32="alpha gamma",
        operation="dyt_without_shift",
    ),
    _layout(
        "group_norm",
        "BT",
        "batch=x // H; channels=hidden_size; hidden=H; channels_per_group=channels_per_group",
        scalars=_EPS,
        ignored=_SWEEP,
    ),
    _layout("softmax", "BT", "rows=x; hidden=hidden_size", ignored=_SWEEP),
    _layout("sparsemax", "BT", "tokens=x; features=hidden_size", fixed={"dim": -1}, ignored=_SWEEP),
    _layout("rope", "T", _ROPE_OF_MODEL, ignored=_SWEEP),
    _layout("llama4_rope", "T", _ROPE_OF_MODEL, ignored=_SWEEP),
    _layout("qwen2vl_mrope", "T", _ROPE_OF_MODEL, ignored=_SWEEP),
    _layout(
        "fused_linear_grpo_loss_token",
        "B",
        "batch=x; seq=T; hidden=hidden_size; vocab=vocab_size",
        fixed={"importance_sampling_level": "token"},
        scalars=_GRPO_DEFAULTS,
        ignored=_SWEEP,
        operation="fused_linear_grpo_hidden_states_token",
    ),
    _layout(
        "fused_linear_grpo_loss_sequence",
        "B",
        "batch=x; seq=T; hidden=hidden_size; vocab=vocab_size",
        fixed={"importance_sampling_level": "sequence"},
        scalars=_GRPO_DEFAULTS,
        ignored=_SWEEP,
        operation="fused_linear_grpo_hidden_states_sequence",
    ),
    _layout(
        "fused_linear_selected_log_probs",
        "T",
        _SELECTION,
        fixed={**_SELECTED, "selection_mode": "native"},
        scalars={"temperature": None},
        tag="native",
    ),
    _layout(
        "fused_linear_selected_log_probs",
        "T",
        _SELECTION,
        fixed={**_SELECTED, "selection_mode": "identity"},
        scalars={"temperature": None},
        tag="identity",
        interface="identity_projection",
    ),
    # With selection off nothing is selected, whatever the config says about how many tokens and rows.
    _layout(
        "fused_linear_selected_log_probs",
        "T",
        "tokens=x; hidden=hidden_size; vocab=vocab_size",
        fixed={**_SELECTED, "selection_mode": "disabled"},
        scalars={"temperature": None},
        ignored="selected_tokens label_stride",
        operation="fused_linear_scaled_cross_entropy",
        tag="disabled",
    ),
)

KERNELS = frozenset(layout.kernel for layout in (*_UNTIL_0_8_0, *_SINCE_0_8_1))
"""The kernel names with a layout."""

CONTROLS = frozenset({"fused_scaled_cross_entropy_disabled_control"})
"""Kernel names that compare a commit with its parent: a control experiment, no result of a release."""


def _table() -> Mapping[tuple[str, str, frozenset[str]], tuple[Layout, ...]]:
    table: dict[tuple[str, str, frozenset[str]], tuple[Layout, ...]] = {}
    for layout in (*_UNTIL_0_8_0, *_SINCE_0_8_1):
        key = (layout.kernel, layout.x_name, layout.config)
        table[key] = (*table.get(key, ()), layout)
    return table


LAYOUTS = _table()
"""Layouts by kernel, x name and the names in the config; where there are several, their fixed values differ."""
