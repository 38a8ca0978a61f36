"""Losses that hold the output matrix too: a linear layer and cross-entropy, two and Jensen–Shannon divergence."""

from functools import partial

import torch
from torch import Tensor, nn

from runs.reruns.harness.recipes.kit import Call, Case, Draw, Operation, Tensors, function_call, imported
from runs.reruns.harness.recipes.losses import jensen_shannon

# Cross-entropy: x (tokens, hidden), weight (vocab, hidden), target (tokens).


def _entropy_inputs(case: Case, draw: Draw) -> Tensors:
    vocab, hidden = case.shapes["weight"]
    return {
        "x": draw.activation("x", case.shapes["x"], case.dtypes["x"]),
        "weight": draw.matrix("weight", (vocab, hidden), case.dtypes["weight"]),
        "target": draw.integers("target", case.shapes["target"], vocab),
    }


def _linear_cross_entropy(x: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    return nn.functional.cross_entropy(nn.functional.linear(x, weight), target)


def _entropy_torch(_case: Case, given: Tensors) -> Call:
    return function_call(_linear_cross_entropy, given["x"], given["weight"], given["target"])


def _entropy_liger(accumulate: torch.dtype | None, _case: Case, given: Tensors) -> Call:
    LigerFusedLinearCrossEntropyLoss = imported(
        "liger_kernel.transformers.fused_linear_cross_entropy", "LigerFusedLinearCrossEntropyLoss"
    )
    options = {} if accumulate is None else {"accum_dtype": accumulate}
    module = LigerFusedLinearCrossEntropyLoss(ignore_index=-100, reduction="mean", **options)
    return function_call(module, given["weight"], given["x"], given["target"])


def _entropy_reference(_case: Case, given: Tensors) -> tuple[Tensor, ...]:
    return (_linear_cross_entropy(given["x"], given["weight"], given["target"]),)


# Jensen–Shannon: student and teacher inputs (tokens, hidden) and matrices (vocab, hidden), no label.


def _jsd_inputs(case: Case, draw: Draw) -> Tensors:
    tokens = case.shapes["student_input"]
    vocab, hidden = case.shapes["student_weight"]
    dtype = case.dtypes["student_input"]
    if draw.distribution == "timing":  # the script's own: everything uniform in [0, 1)
        return {
            "student_input": draw.uniform("student_input", tokens, dtype),
            "student_weight": nn.Parameter(draw.uniform("student_weight", (vocab, hidden), dtype, grad=False)),
            "teacher_input": draw.uniform("teacher_input", tokens, dtype, grad=False),
            "teacher_weight": nn.Parameter(draw.uniform("teacher_weight", (vocab, hidden), dtype, grad=False)),
        }
    return {
        "student_input": draw.activation("student_input", tokens, dtype),
        "student_weight": draw.matrix("student_weight", (vocab, hidden), dtype),
        "teacher_input": draw.activation("teacher_input", tokens, dtype, grad=False),
        # Liger gives the teacher no gradient, so that only the script's timing makes a parameter of its matrix.
        "teacher_weight": draw.matrix("teacher_weight", (vocab, hidden), dtype).detach(),
    }


def _linear_jsd(
    student: Tensor, student_weight: Tensor, teacher: Tensor, teacher_weight: Tensor, beta: float
) -> Tensor:
    log_student = torch.log_softmax(nn.functional.linear(student, student_weight), dim=-1)
    log_teacher = torch.log_softmax(nn.functional.linear(teacher, teacher_weight), dim=-1)
    return jensen_shannon(log_student, log_teacher, beta)


def _linear_jsd_narrow(
    student: Tensor, student_weight: Tensor, teacher: Tensor, teacher_weight: Tensor, beta: float
) -> Tensor:
    """The same in the inputs' dtype but for the divergence, which is float32, and the loss, which is the inputs'.

    The division by a temperature of 1 changes no number but is a kernel the benchmark times.
    """
    temperature = 1.0
    log_student = torch.log_softmax(nn.functional.linear(student, student_weight) / temperature, dim=-1)
    log_teacher = torch.log_softmax(nn.functional.linear(teacher, teacher_weight) / temperature, dim=-1)
    return jensen_shannon(log_student.float(), log_teacher.float(), beta).to(student.dtype)


_JSD_NAMES = ("student_input", "student_weight", "teacher_input", "teacher_weight")


def _beta(case: Case) -> float:
    return case.scalars.get("beta", 0.5)


def _jsd_torch(case: Case, given: Tensors) -> Call:
    return function_call(_linear_jsd_narrow, *(given[name] for name in _JSD_NAMES), _beta(case))


def _jsd_liger(case: Case, given: Tensors) -> Call:
    LigerFusedLinearJSD = imported("liger_kernel.transformers.fused_linear_jsd", "LigerFusedLinearJSD")
    module = LigerFusedLinearJSD(jsd_beta=_beta(case), ignore_index=-100, temperature=1.0)
    return function_call(module, *(given[name] for name in _JSD_NAMES), None)


def _jsd_reference(case: Case, given: Tensors) -> tuple[Tensor, ...]:
    student, student_weight, teacher, teacher_weight = (given[name] for name in _JSD_NAMES)
    return (_linear_jsd(student, student_weight, teacher, teacher_weight, _beta(case)),)


OPERATIONS = {
    "fused_linear_cross_entropy": Operation(
        _entropy_inputs,
        {
            "liger": partial(_entropy_liger, None),
            "liger-fp32-accum": partial(_entropy_liger, torch.float32),
            "torch": _entropy_torch,
            "huggingface": _entropy_torch,
        },
        _entropy_reference,
        ("loss",),
    ),
    "fused_linear_jsd": Operation(_jsd_inputs, {"liger": _jsd_liger, "torch": _jsd_torch}, _jsd_reference, ("loss",)),
}
