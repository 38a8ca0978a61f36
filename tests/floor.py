"""A softmax on an H100: one run as fast as memory allows, and one that no memory allows."""

from __future__ import annotations

from typing import Any

from runs.manifests.bundle import Bundle, Record
from tests import factories

SOFTMAX = factories.manifest(
    "OperationSpec",
    "softmax",
    {
        "family": "softmax",
        "axes": {name: {"role": "variable", "type": "integer"} for name in ("rows", "hidden")},
        "inputs": [{"name": "x", "tensor": {"shape": ["rows", "hidden"], "dtype": "float"}}],
        "outputs": [{"name": "y", "tensor": {"shape": ["rows", "hidden"], "dtype": "float"}}],
        "semantics": {"mutation": "none", "determinism": "unspecified"},
    },
    title="Softmax",
)
FORWARD = factories.manifest(
    "BenchmarkProtocol",
    "forward",
    {
        "harness": {"name": "a harness"},
        "measurement": {"timer": "cuda_events", "primaryStatistic": "median"},
        "comparability": {
            "family": "a_family",
            "notes": "Timed: the module forward pass, via triton.testing.do_bench with quantiles 0.5/0.2/0.8.",
        },
    },
    title="A harness · forward pass",
)
KERNEL = factories.implementation("softmax-kernel", "A kernel", operation=SOFTMAX, licensing={"declared": "MIT"})


def case(hidden: int = 32768) -> dict[str, Any]:
    """16,384 rows of fp32: at 32,768 columns 2 GiB in and 2 GiB out."""
    return factories.manifest(
        "WorkloadCase",
        f"softmax-{hidden}",
        {
            "operationSpecDigest": factories.digest(SOFTMAX),
            "axes": {"rows": 16384, "hidden": hidden},
            "tensors": {"x": {"shape": [16384, hidden], "dtype": "fp32"}},
            "correctness": {"comparator": "not_asserted"},
        },
    )


def timed(
    name: str, median: int, hidden: int = 32768, environment: dict[str, Any] = factories.H100, **spec: Any
) -> dict[str, Any]:
    """A run of it; median in ns."""
    return factories.run(
        KERNEL,
        case(hidden),
        name=name,
        title=name,
        median=median,
        observed_at="2026-03-01T00:00:00Z",
        protocol=FORWARD,
        environment=environment,
        sourceNative={"source": "liger-kernel-bench", "externalId": name},
        **spec,
    )


IMPOSSIBLE = timed("impossible", 200_000)
POSSIBLE = timed("possible", 4_000_000)


def softmax_bundle(*runs: dict[str, Any], cases: tuple[int, ...] = (32768,)) -> Bundle:
    subjects = (SOFTMAX, *map(case, cases), KERNEL, FORWARD, factories.H100)
    return factories.bundle(*runs, subjects=tuple(map(Record, subjects)))


def impossible_bundle(*runs: dict[str, Any]) -> Bundle:
    return softmax_bundle(*(runs or (IMPOSSIBLE, POSSIBLE)))
