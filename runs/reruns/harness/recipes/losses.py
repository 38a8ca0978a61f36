"""Losses over logits (tokens, vocab), float32 as in the scripts, each giving one number."""

from functools import partial

import torch
from torch import Tensor, nn

from runs.reruns.harness.recipes.kit import Call, Case, Draw, Operation, Tensors, function_call, imported, module_call

# Cross-entropy: logits (tokens, vocab) and target (tokens), the mean over tokens.


def _cross_entropy_inputs(case: Case, draw: Draw) -> Tensors:
    tokens, vocab = case.shapes["logits"]
    return {
        "logits": draw.activation("logits", (tokens, vocab), case.dtypes["logits"]),
        "target": draw.integers("target", (tokens,), vocab),
    }


def _cross_entropy_torch(_case: Case, given: Tensors) -> Call:
    return module_call(nn.CrossEntropyLoss(), {}, given["logits"], given["target"])


def _cross_entropy_liger(_case: Case, given: Tensors) -> Call:
    LigerCrossEntropyLoss = imported("liger_kernel.transformers.cross_entropy", "LigerCrossEntropyLoss")
    return module_call(LigerCrossEntropyLoss(), {}, given["logits"], given["target"])


def _cross_entropy_reference(_case: Case, given: Tensors) -> tuple[Tensor, ...]:
    return (nn.functional.cross_entropy(given["logits"], given["target"]),)


# Divergences of two distributions over a vocabulary. The leaves are logits: the scripts differentiate through the
# softmax that makes distributions of them, once outside the timed call forward and inside it backward.


def _divergence_inputs(name: str, case: Case, draw: Draw) -> Tensors:
    shape, dtype = case.shapes[name], case.dtypes[name]
    return {
        "student_logits": draw.activation("student_logits", shape, dtype),
        "teacher_logits": draw.activation("teacher_logits", shape, dtype, grad=False),
    }


def _kl_arguments(_case: Case, given: Tensors) -> Tensors:
    return {
        "student": given["student_logits"].log_softmax(dim=-1),
        "teacher": given["teacher_logits"].softmax(dim=-1),
    }


def _kl_torch(_case: Case, given: Tensors) -> Call:
    return module_call(nn.KLDivLoss(reduction="batchmean"), {}, given["student"], given["teacher"])


def _kl_liger(_case: Case, given: Tensors) -> Call:
    LigerKLDIVLoss = imported("liger_kernel.transformers.kl_div", "LigerKLDIVLoss")
    return module_call(LigerKLDIVLoss(reduction="batchmean"), {}, given["student"], given["teacher"])


def _kl_reference(case: Case, given: Tensors) -> tuple[Tensor, ...]:
    made = _kl_arguments(case, given)
    return (nn.functional.kl_div(made["student"], made["teacher"], reduction="batchmean"),)


def _jsd_arguments(_case: Case, given: Tensors) -> Tensors:
    return {
        "student": given["student_logits"].log_softmax(dim=-1),
        "teacher": given["teacher_logits"].log_softmax(dim=-1),
    }


def jensen_shannon(student: Tensor, teacher: Tensor, beta: float) -> Tensor:
    """The generalised Jensen–Shannon divergence of two log-distributions (tokens, vocab), the mean over tokens."""
    mixture = torch.lerp(student.exp(), teacher.exp(), beta)
    # The logarithm is taken twice because the benchmarks' own PyTorch side does: it is part of what is timed.
    from_teacher = nn.functional.kl_div(mixture.log(), teacher, reduction="none", log_target=True).sum(dim=-1)
    from_student = nn.functional.kl_div(mixture.log(), student, reduction="none", log_target=True).sum(dim=-1)
    per_token = beta * from_teacher + (1 - beta) * from_student
    return (per_token / student.shape[0]).sum()


def _jsd_torch(case: Case, given: Tensors) -> Call:
    return function_call(jensen_shannon, given["student"], given["teacher"], case.scalars.get("beta", 0.5))


def _jsd_liger(case: Case, given: Tensors) -> Call:
    LigerJSD = imported("liger_kernel.transformers.jsd", "LigerJSD")
    return module_call(LigerJSD(beta=case.scalars.get("beta", 0.5)), {}, given["student"], given["teacher"])


def _jsd_reference(case: Case, given: Tensors) -> tuple[Tensor, ...]:
    made = _jsd_arguments(case, given)
    return (jensen_shannon(made["student"], made["teacher"], case.scalars.get("beta", 0.5)),)


def _tvd_arguments(_case: Case, given: Tensors) -> Tensors:
    return {"p": given["student_logits"].softmax(dim=-1), "q": given["teacher_logits"].softmax(dim=-1)}


def _total_variation(p: Tensor, q: Tensor) -> Tensor:
    return torch.sum(torch.abs(p - q) / 2.0) / p.size(0)


def _tvd_torch(_case: Case, given: Tensors) -> Call:
    return function_call(_total_variation, given["p"], given["q"])


def _tvd_liger(_case: Case, given: Tensors) -> Call:
    LigerTVDLoss = imported("liger_kernel.transformers.tvd", "LigerTVDLoss")
    return module_call(LigerTVDLoss(reduction="batchmean"), {}, given["p"], given["q"])


def _tvd_reference(case: Case, given: Tensors) -> tuple[Tensor, ...]:
    made = _tvd_arguments(case, given)
    return (_total_variation(made["p"], made["q"]),)


OPERATIONS = {
    "cross_entropy": Operation(
        _cross_entropy_inputs,
        {"liger": _cross_entropy_liger, "torch": _cross_entropy_torch, "huggingface": _cross_entropy_torch},
        _cross_entropy_reference,
        ("loss",),
    ),
    "kl_div": Operation(
        partial(_divergence_inputs, "log_probs"),
        {"liger": _kl_liger, "torch": _kl_torch},
        _kl_reference,
        ("loss",),
        arguments=_kl_arguments,
    ),
    "jsd": Operation(
        partial(_divergence_inputs, "student_log_probs"),
        {"liger": _jsd_liger, "torch": _jsd_torch},
        _jsd_reference,
        ("loss",),
        arguments=_jsd_arguments,
    ),
    "tvd": Operation(
        partial(_divergence_inputs, "p"),
        {"liger": _tvd_liger, "torch": _tvd_torch},
        _tvd_reference,
        ("loss",),
        arguments=_tvd_arguments,
    ),
}
