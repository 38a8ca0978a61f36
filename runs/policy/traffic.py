"""What each operation has to move and compute, by timed pass: the declared table that the physical floor rests on.

An operation is recognised by all that its spec says of its tensors: the family, and the names and shapes of inputs
and outputs. A name alone would be a promise.

Every entry is a lower bound. A byte counts once, however often a kernel touches it: inputs are read, outputs written.
The state that a backward pass needs has the size of the tensor that it is computed from. Left out is what a correct
implementation might not move: embedding rows that no token names, expert weights that no token reaches, the masked half
of attention scores, the upstream gradient of a `full` pass (it is drawn in the call and may stay in the cache),
gradients of small weights, what depends on the values in a tensor. The backward pass of a loss that is one number has
no entry: its gradient may be computed in the forward pass, as fused losses do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runs.manifests.expressions import Expression, parse_expression

FORWARD, BACKWARD, FULL, NO_GRAD = PASSES = ("forward", "backward", "full", "no-grad-forward")


@dataclass(frozen=True, slots=True)
class Amount:
    """So many elements of a tensor's dtype: all of the tensor where no count is given."""

    tensor: str
    count: Expression | None


@dataclass(frozen=True, slots=True)
class Work:
    """What one call has to do: tensors read, tensors written, operations of a dense product in its operands' dtype."""

    reads: tuple[Amount, ...]
    writes: tuple[Amount, ...]
    operations: Amount | None = None


@dataclass(frozen=True, slots=True)
class Traffic:
    """The work of an operation by pass.

    `repeated_warm`: what measures it repeats the call over the same inputs and leaves the cache as it is, whatever
    the protocol says.
    """

    passes: Mapping[str, Work]
    repeated_warm: bool = False


def signature(operation: Mapping[str, Any]) -> str:
    """`rmsnorm: x[rows,hidden] weight[hidden] -> y[rows,hidden]` for an OperationSpec spec."""
    return f"{operation['family']}: {_names(operation['inputs'])} -> {_names(operation['outputs'])}"


def _names(tensors: Iterable[Mapping[str, Any]]) -> str:
    return " ".join(
        f"{each['name']}[{','.join(map(str, each['tensor']['shape']))}]" if "tensor" in each else each["name"]
        for each in tensors
    )


def _amounts(text: str) -> tuple[Amount, ...]:
    """Amounts separated by commas: a tensor's name, or a number of elements `@` the tensor whose dtype they have."""
    amounts = []
    for part in filter(None, (each.strip() for each in text.split(","))):
        count, _, tensor = part.rpartition("@")
        amounts.append(Amount(tensor.strip(), parse_expression(count) if count else None))
    return tuple(amounts)


def _work(reads: str, writes: str = "", operations: str = "") -> Work:
    return Work(_amounts(reads), _amounts(writes), _amounts(operations)[0] if operations else None)


def _traffic(forward: Work, full: Work, backward: Work | None = None, *, repeated_warm: bool = False) -> Traffic:
    passes = {FORWARD: forward, NO_GRAD: forward, FULL: full}
    return Traffic(passes if backward is None else passes | {BACKWARD: backward}, repeated_warm)


# y is as large as x; the backward pass reads what it saved of x and the upstream gradient, and writes that of x.
_MAP = _traffic(_work("x", "x"), _work("x", "x, x"), _work("x, x", "x"))
_NORM = _traffic(_work("x, weight", "x"), _work("x, weight", "x, x"), _work("x, x, weight", "x"))
# The upstream gradient is that of a sum: one number, expanded, which need not be read.
_NORM_OF_SUM = _traffic(_work("x, weight", "x"), _work("x, weight", "x, x"), _work("x, weight", "x"))
_ROPE = _traffic(_work("q, k", "q, k"), _work("q, k", "q, k, q, k"), _work("q, k", "q, k"))


def _gated_mlp() -> Traffic:
    tensors, product = "x, w_gate, w_up, w_down", "batch * seq * hidden * intermediate @ x"
    return _traffic(
        _work(tensors, "x", f"6 * {product}"),
        _work(tensors, f"x, {tensors}", f"18 * {product}"),
        _work(f"x, {tensors}", tensors, f"12 * {product}"),
    )


def _loss(predicted: str, other: str) -> Traffic:
    """A loss whose gradient is as large as what was predicted."""
    return _traffic(_work(f"{predicted}, {other}"), _work(f"{predicted}, {other}", predicted))


def _linear_loss(tensors: str, product: str, *, backward: bool = False) -> Traffic:
    """A linear layer into the vocabulary and a loss: each product again for both gradients."""
    return _traffic(
        _work(tensors, operations=f"2 * {product} @ x"),
        _work(tensors, "x, weight", f"6 * {product} @ x"),
        _work("x, weight", "x, weight", f"4 * {product} @ x") if backward else None,
    )


def _distillation(other: str, forward: int, full: int) -> Traffic:
    """Student and teacher, each with its linear layer; gradients for the student alone."""
    tensors, product = "student_input, student_weight", "tokens * hidden * vocab @ student_input"
    return _traffic(
        _work(tensors + other, operations=f"{forward} * {product}"),
        _work(tensors + other, tensors, f"{full} * {product}"),
    )


_GRPO = _traffic(
    # The last position predicts nothing.
    _work("batch * seq * vocab @ logits, completion_ids"),
    _work("batch * seq * vocab @ logits, completion_ids", "batch * seq * vocab @ logits"),
)
_PROJECTIONS = "hidden_states, q_weight, k_weight, v_weight, out_weight"
_PROJECTION = "batch * seq * hidden * hidden @ hidden_states"
_NEIGHBORHOOD = _traffic(
    _work(_PROJECTIONS, "hidden_states", f"8 * {_PROJECTION}"),
    _work(_PROJECTIONS, f"hidden_states, {_PROJECTIONS}", f"24 * {_PROJECTION}"),
    _work(f"hidden_states, {_PROJECTIONS}", _PROJECTIONS, f"16 * {_PROJECTION}"),
)
_CAUSAL_SCORES = "batch * heads_in * seq * (seq + 1) // 2 @ scores"
_CONVOLVED_SCORES = "batch * heads_out * seq * seq @ scores"
_TOKEN_ATTENTION = _traffic(
    _work(_CAUSAL_SCORES, _CONVOLVED_SCORES),
    _work(_CAUSAL_SCORES, f"{_CONVOLVED_SCORES}, scores"),
    _work("", "scores"),
)
_EXPERTS = "tokens * k * hidden * intermediate @ x"
_ALIGNMENT = "x[batch,seq,hidden] weight[vocab,hidden] target[batch,seq] -> loss[1]"
_ROWS = "x[rows,hidden] -> y[rows,hidden]"
_MLP = (
    "x[batch,seq,hidden] w_gate[intermediate,hidden] w_up[intermediate,hidden] w_down[hidden,intermediate] "
    "-> y[batch,seq,hidden]"
)
_HEADS_FIRST = (
    "q[1,q_heads,seq,head_dim] k[1,kv_heads,seq,head_dim] "
    "-> q_out[1,q_heads,seq,head_dim] k_out[1,kv_heads,seq,head_dim]"
)
_HEADS_LAST = (
    "q[1,seq,q_heads,head_dim] k[1,seq,kv_heads,head_dim] "
    "-> q_out[1,seq,q_heads,head_dim] k_out[1,seq,kv_heads,head_dim]"
)
_HALF_STUDENT = (
    "student_input[tokens,student_hidden] student_weight[vocab,student_hidden] "
    "teacher_input[tokens,hidden] teacher_weight[vocab,hidden] target[tokens] -> loss[1]"
)
_LINEAR_INPUTS = "x[tokens,hidden] weight[vocab,hidden] target[tokens]"

TRAFFIC: Final[Mapping[str, Traffic]] = {
    "rmsnorm: x[rows,hidden] weight[hidden] -> y[rows,hidden]": _NORM,
    "rmsnorm: x[seq,batch,hidden] weight[hidden] -> y[seq,batch,hidden]": _NORM_OF_SUM,
    "rmsnorm: x[rows,hidden] residual[rows,hidden] weight[hidden] "
    "-> y[rows,hidden] residual_out[rows,hidden]": _traffic(
        _work("x, residual, weight", "x, residual"),
        # x and the residual have the same gradient, which may be one tensor.
        _work("x, residual, weight", "x, residual, x"),
        _work("x, x, weight", "x"),
    ),
    "layernorm: x[rows,hidden] weight[hidden] bias[hidden] -> y[rows,hidden]": _NORM,
    "groupnorm: x[batch,channels,hidden] weight[channels] bias[channels] -> y[batch,channels,hidden]": _NORM,
    "dynamic-tanh: x[rows,hidden] alpha[1] gamma[hidden] beta[hidden] -> y[rows,hidden]": _MAP,
    "dynamic-tanh: x[rows,hidden] alpha[1] gamma[hidden] -> y[rows,hidden]": _MAP,
    "polynorm: x[rows,hidden] weight[3] bias[1] -> y[rows,hidden]": _MAP,
    f"softmax: {_ROWS}": _MAP,
    # The upstream gradient matters only where x is positive, and only on the support.
    f"relu-squared: {_ROWS}": _traffic(_work("x", "x"), _work("x", "x, x"), _work("x", "x")),
    "sparsemax: x[tokens,features] -> y[tokens,features]": _traffic(
        _work("x", "x"), _work("x", "x, x"), _work("", "x")
    ),
    f"rope: {_HEADS_FIRST}": _ROPE,
    f"rope: {_HEADS_LAST}": _ROPE,
    "swiglu: y[seq,batch,ffn_double] -> out[seq,batch,ffn]": _traffic(
        _work("y", "seq * batch * ffn @ y"), _work("y", "seq * batch * ffn @ y, y"), _work("y", "y")
    ),
    f"swiglu: {_MLP}": _gated_mlp(),
    f"geglu: {_MLP}": _gated_mlp(),
    "embedding: input_ids[batch,seq] weight[vocab,hidden] -> y[batch,seq,hidden]": _traffic(
        _work("input_ids", "batch * seq * hidden @ weight"),
        _work("input_ids", "batch * seq * hidden @ weight, weight"),
    ),
    "cross-entropy: logits[tokens,vocab] target[tokens] -> loss[1]": _loss("logits", "target"),
    "cross-entropy: logits[seq,batch,vocab] target[seq,batch] -> loss[seq,batch]": _traffic(
        _work("logits, target"), _work("logits, target", "logits"), repeated_warm=True
    ),
    "kl-divergence: log_probs[tokens,vocab] target_probs[tokens,vocab] -> loss[1]": _loss("log_probs", "target_probs"),
    "jsd: student_log_probs[tokens,vocab] teacher_log_probs[tokens,vocab] -> loss[1]": _loss(
        "student_log_probs", "teacher_log_probs"
    ),
    "tvd: p[tokens,vocab] q[tokens,vocab] -> loss[1]": _loss("p", "q"),
    f"cross-entropy: {_LINEAR_INPUTS} -> loss[1]": _linear_loss("x, weight, target", "tokens * hidden * vocab"),
    f"cross-entropy: {_LINEAR_INPUTS} -> nll[tokens] entropy[tokens]": _linear_loss(
        "x, weight, target", "tokens * hidden * vocab", backward=True
    ),
    f"cross-entropy: {_LINEAR_INPUTS} selected_token_ids[selected] "
    "-> nll[tokens] entropy[tokens] selected_log_probs[label_rows,selected]": _linear_loss(
        "x, weight, target", "tokens * hidden * vocab", backward=True
    ),
    f"orpo: {_ALIGNMENT}": _linear_loss("x, weight, target", "batch * seq * hidden * vocab"),
    f"cpo: {_ALIGNMENT}": _linear_loss("x, weight, target", "batch * seq * hidden * vocab"),
    f"simpo: {_ALIGNMENT}": _linear_loss("x, weight, target", "batch * seq * hidden * vocab"),
    "jsd: student_input[tokens,hidden] student_weight[vocab,hidden] "
    "teacher_input[tokens,hidden] teacher_weight[vocab,hidden] -> loss[1]": _distillation(
        ", teacher_input, teacher_weight", 4, 8
    ),
    # The teacher is left out: with a weight of 0 for the soft loss it has no part in it. The student is half as wide.
    f"jsd: {_HALF_STUDENT}": _distillation("", 1, 3),
    f"cosine-similarity-loss: {_HALF_STUDENT}": _distillation("", 1, 3),
    "grpo: logits[batch,seq_next,vocab] completion_ids[batch,seq] advantages[batch] -> loss[1]": _GRPO,
    "neighborhood-attention: hidden_states[batch,seq,hidden] q_weight[hidden,hidden] k_weight[hidden,hidden] "
    "v_weight[hidden,hidden] out_weight[hidden,hidden] q_bias[hidden] k_bias[hidden] v_bias[hidden] out_bias[hidden] "
    "-> y[batch,seq,hidden]": _NEIGHBORHOOD,
    "multi-token-attention: scores[batch,heads_in,seq,seq] weight[heads_out,heads_in,k,k] bias[heads_out] "
    "-> y[batch,heads_out,seq,seq]": _TOKEN_ATTENTION,
    "moe: x[tokens,hidden] gate_up_proj[experts,intermediate_double,hidden] down_proj[experts,hidden,intermediate] "
    "top_k_index[tokens,k] top_k_weights[tokens,k] -> y[tokens,hidden]": _traffic(
        _work("x", "x", f"6 * {_EXPERTS}"),
        _work("x", "x, x", f"18 * {_EXPERTS}"),
        _work("x, x", "x", f"12 * {_EXPERTS}"),
    ),
}
