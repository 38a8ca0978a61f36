"""A small workload for every operation that has a recipe."""

from typing import Any

TENSORS = dict[str, tuple[list[int], str]]


def workload(axes: dict[str, int], tensors: TENSORS, scalars: dict[str, float] | None = None) -> dict[str, Any]:
    """A WorkloadCase spec."""
    spec: dict[str, Any] = {
        "operationSpecDigest": "sha256:" + "0" * 64,
        "axes": axes,
        "tensors": {name: {"shape": shape, "dtype": dtype} for name, (shape, dtype) in tensors.items()},
        "correctness": {"comparator": "not_asserted"},
    }
    if scalars:
        spec["scalars"] = {name: {"dtype": "fp32", "value": value} for name, value in scalars.items()}
    return spec


def _rows(dtype: str, *weights: str) -> dict[str, Any]:
    tensors: TENSORS = {"x": ([48, 96], dtype), **{name: ([96], dtype) for name in weights}}
    return workload({"rows": 48, "hidden": 96}, tensors, {"eps": 1e-6})


def _mlp(dtype: str) -> dict[str, Any]:
    return workload(
        {"batch": 2, "seq": 12, "hidden": 32, "intermediate": 48},
        {
            "x": ([2, 12, 32], dtype),
            "w_gate": ([48, 32], dtype),
            "w_up": ([48, 32], dtype),
            "w_down": ([32, 48], dtype),
        },
    )


def _pair(first: str, second: str) -> dict[str, Any]:
    shape = [24, 130]
    return workload({"tokens": 24, "vocab": 130}, {first: (shape, "fp32"), second: (shape, "fp32")})


def _linear_jsd(dtype: str) -> dict[str, Any]:
    return workload(
        {"tokens": 24, "hidden": 32, "vocab": 130},
        {
            "student_input": ([24, 32], dtype),
            "student_weight": ([130, 32], dtype),
            "teacher_input": ([24, 32], dtype),
            "teacher_weight": ([130, 32], dtype),
        },
        {"beta": 0.5},
    )


def _added(dtype: str) -> dict[str, Any]:
    return workload(
        {"rows": 48, "hidden": 96},
        {"x": ([48, 96], dtype), "residual": ([48, 96], dtype), "weight": ([96], dtype)},
        {"eps": 1e-6},
    )


WORKLOADS: dict[str, dict[str, Any]] = {
    "liger-rms-norm": _rows("bf16", "weight"),
    "liger-layer-norm": _rows("bf16", "weight", "bias"),
    "liger-poly-norm": _rows("fp32"),
    "liger-dyt": _rows("fp32", "beta"),
    "liger-fused-add-rms-norm": _added("bf16"),
    "liger-group-norm": workload(
        {"batch": 6, "channels": 8, "hidden": 20, "channels_per_group": 4},
        {"x": ([6, 8, 20], "fp32"), "weight": ([8], "fp32"), "bias": ([8], "fp32")},
        {"eps": 1e-6},
    ),
    "liger-softmax": _rows("bf16"),
    "liger-sparsemax": _rows("fp32"),
    "liger-relu-squared": _rows("bf16"),
    "liger-swiglu": _mlp("bf16"),
    "liger-geglu": _mlp("fp32"),
    "liger-embedding": workload(
        {"batch": 3, "seq": 7, "vocab": 40, "hidden": 16},
        {"input_ids": ([3, 7], "int64"), "weight": ([40, 16], "fp32")},
    ),
    "liger-rope": workload(
        {"seq": 10, "hidden": 32, "q_heads": 4, "kv_heads": 2},
        {"q": ([1, 4, 10, 8], "bf16"), "k": ([1, 2, 10, 8], "bf16")},
    ),
    "liger-llama4-rope": workload(
        {"seq": 10, "hidden": 32, "q_heads": 4, "kv_heads": 2},
        {"q": ([1, 10, 4, 8], "bf16"), "k": ([1, 10, 2, 8], "bf16")},
    ),
    "liger-cross-entropy": workload(
        {"tokens": 24, "vocab": 130}, {"logits": ([24, 130], "fp32"), "target": ([24], "int64")}
    ),
    "liger-kl-div": _pair("log_probs", "target_probs"),
    "liger-jsd": _pair("student_log_probs", "teacher_log_probs"),
    "liger-tvd": _pair("p", "q"),
    "liger-fused-linear-cross-entropy": workload(
        {"tokens": 24, "hidden": 32, "vocab": 130},
        {"x": ([24, 32], "bf16"), "weight": ([130, 32], "bf16"), "target": ([24], "int64")},
    ),
    "liger-fused-linear-jsd": _linear_jsd("bf16"),
}


def job(operation: str, provider: str, mode: str = "full", release: str = "0.8.5", **extra: Any) -> dict[str, Any]:
    """A job over the operation's small workload."""
    return {
        "id": f"{operation}/{provider}/{mode}",
        "operation": operation,
        "provider": provider,
        "mode": mode,
        "workload": WORKLOADS[operation],
        "claimed": {"liger_version": release},
        **extra,
    }
