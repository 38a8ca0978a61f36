"""A small index to search: what is measured where is chosen so that each list of results has something to say.

| operation         | hardware      | hidden           | dtype | protocol          |
|-------------------|---------------|------------------|-------|-------------------|
| RMSNorm           | H100 PCIe     | 1024, 2048, 8192 | bf16  | forward           |
| RMSNorm           | H100 PCIe     | 4096             | fp32  | forward, backward |
| RMSNorm           | B200          | 4096             | bf16  | forward, backward |
| Fused add RMSNorm | H100 PCIe     | 4096             | bf16  | forward           |
| Softmax           | B200          | (rows, cols)     | fp32  | forward           |

Each group has a Triton run of Liger-Kernel, which is the faster one, and a Python run of Transformers.
"""

from __future__ import annotations

from typing import Any

from runs.manifests.bundle import Bundle, Record
from tests.factories import B200, BACKWARD, H100, bundle, digest, implementation, manifest, project, run

FORWARD = manifest(
    "BenchmarkProtocol",
    "forward",
    {"harness": {"name": "scripts"}, "measurement": {"timer": "cuda_events", "primaryStatistic": "median"}},
    title="Benchmark harness · forward pass",
)


def operation(name: str, title: str, family: str, axes: tuple[str, ...]) -> dict[str, Any]:
    tensor = {"shape": list(axes), "dtype": "float"}
    return manifest(
        "OperationSpec",
        name,
        {
            "family": family,
            "axes": {axis: {"role": "variable", "type": "integer"} for axis in axes},
            "inputs": [{"name": "x", "tensor": tensor}],
            "outputs": [{"name": "y", "tensor": tensor}],
            "semantics": {"expression": title, "mutation": "none", "determinism": "unspecified"},
        },
        title=title,
    )


RMS_NORM = operation("suite-rms-norm", "RMSNorm", "rmsnorm", ("rows", "hidden"))
FUSED = operation("suite-fused-add-rms-norm", "Fused add + RMSNorm", "rmsnorm", ("rows", "hidden"))
SOFTMAX = operation("suite-softmax", "Softmax", "softmax", ("rows", "cols"))


def workload(of: dict[str, Any], dtype: str, **axes: int) -> dict[str, Any]:
    return manifest(
        "WorkloadCase",
        f"{of['metadata']['name']}-{dtype}-{'-'.join(map(str, axes.values()))}",
        {
            "operationSpecDigest": digest(of),
            "axes": axes,
            "tensors": {"x": {"shape": list(axes.values()), "dtype": dtype}},
            "correctness": {"comparator": "not_asserted"},
        },
    )


def liger(of: dict[str, Any]) -> dict[str, Any]:
    name = f"{of['metadata']['name']}-liger"
    return implementation(name, "Liger-Kernel", "triton", of, licensing={"declared": "BSD-2-Clause"})


def transformers(of: dict[str, Any]) -> dict[str, Any]:
    name = f"{of['metadata']['name']}-huggingface"
    return implementation(name, "Transformers", "python", of, licensing={"declared": "Apache-2.0"})


OPERATIONS = (RMS_NORM, FUSED, SOFTMAX)
SUBJECTS = (
    Record(project("liger-kernel", "Liger-Kernel")),
    Record(project("transformers", "Hugging Face Transformers")),
    Record(RMS_NORM, aliases=("rms_norm",)),
    Record(FUSED, aliases=("fused_add_rms_norm",)),
    Record(SOFTMAX, aliases=("softmax",)),
    *(Record(liger(of), project="liger-kernel") for of in OPERATIONS),
    *(Record(transformers(of), project="transformers") for of in OPERATIONS),
    Record(FORWARD),
    Record(BACKWARD),
    Record(B200),
    Record(H100),
)
GROUPS = (
    *((RMS_NORM, workload(RMS_NORM, "bf16", rows=2048, hidden=hidden), H100, FORWARD) for hidden in (1024, 2048, 8192)),
    *((RMS_NORM, workload(RMS_NORM, "fp32", rows=2048, hidden=4096), H100, way) for way in (FORWARD, BACKWARD)),
    *((RMS_NORM, workload(RMS_NORM, "bf16", rows=2048, hidden=4096), B200, way) for way in (FORWARD, BACKWARD)),
    (FUSED, workload(FUSED, "bf16", rows=2048, hidden=4096), H100, FORWARD),
    (SOFTMAX, workload(SOFTMAX, "fp32", rows=512, cols=4096), B200, FORWARD),
)


def example_bundle(repeated: int = 0, **options: Any) -> Bundle:
    """The index above; `repeated` adds so many further sizes of RMSNorm on the H100, from 16,384 rows on."""
    more = tuple(
        (RMS_NORM, workload(RMS_NORM, "bf16", rows=16384 + number, hidden=2048), H100, FORWARD)
        for number in range(repeated)
    )
    runs, workloads = [], {}
    for place, (of, case, environment, protocol) in enumerate((*GROUPS, *more)):
        workloads[digest(case)] = Record(case)
        for make, median in ((liger, 1000 + place), (transformers, 2000 + place)):
            runs.append(
                run(
                    make(of),
                    case,
                    name=f"run-{place}-{median}",
                    title=f"{of['metadata']['title']} {place}",
                    median=median,
                    observed_at="2026-03-01T00:00:00Z",
                    protocol=protocol,
                    environment=environment,
                )
            )
    return bundle(*runs, subjects=(*SUBJECTS, *workloads.values()), **options)
