"""Records to test with: the GroupNorm backward group of the seed page, as its source published it, and variations.

The manifests are written out here, so that the tests need no other file; the digests are those of the public index.
"""

from __future__ import annotations

from typing import Any

from runs.manifests.bundle import Bundle, Record, Snapshot, Source
from runs.manifests.manifest import parse_manifest

API = "kernelindex.dev/v1alpha1"
SEED_DIGEST = "sha256:5cde9b90d5f90633d383292"
SEED_KEY = "sha256:632687a0a3d057a5"

SOURCE = Source(
    slug="liger-kernel-bench",
    name="Liger-Kernel benchmarks",
    kind="benchmark",
    url="https://github.com/linkedin/Liger-Kernel",
    license="BSD-2-Clause",
    attribution="Liger-Kernel",
)
SNAPSHOT = Snapshot(
    name="all_benchmark_data.csv",
    version="0.8.4",
    digest="sha256:" + "1" * 64,
    size=1_000_000,
    license="BSD-2-Clause",
    retrieved_at="2026-08-20T00:00:00.000Z",
)


def manifest(kind: str, name: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def digest(document: dict[str, Any]) -> str:
    return parse_manifest(document).digest


def project(name: str, title: str) -> dict[str, Any]:
    return manifest("SoftwareProject", name, {"name": title, "repository": f"https://github.com/example/{name}"})


GROUP_NORM = manifest(
    "OperationSpec",
    "liger-group-norm",
    {
        "family": "groupnorm",
        "axes": {
            "batch": {"role": "variable", "type": "integer"},
            "channels": {"role": "variable", "type": "integer"},
            "hidden": {"role": "variable", "type": "integer"},
            "groups": {"role": "derived", "type": "integer", "expression": "channels // channels_per_group"},
        },
        "inputs": [
            {"name": "x", "tensor": {"shape": ["batch", "channels", "hidden"], "dtype": "float"}},
            {"name": "weight", "tensor": {"shape": ["channels"], "dtype": "float"}},
            {"name": "bias", "tensor": {"shape": ["channels"], "dtype": "float"}},
        ],
        "outputs": [{"name": "y", "tensor": {"shape": ["batch", "channels", "hidden"], "dtype": "float"}}],
        "semantics": {"mutation": "none", "determinism": "unspecified"},
    },
    title="GroupNorm",
)
BACKWARD = manifest(
    "BenchmarkProtocol",
    "liger-bench-do-bench-backward",
    {
        "harness": {"name": "Liger-Kernel benchmark scripts", "repository": "https://github.com/linkedin/Liger-Kernel"},
        "measurement": {"timer": "cuda_events", "primaryStatistic": "median"},
        "comparability": {
            "family": "liger_kernel_bench",
            "notes": "Timed: the backward pass of the module output given a random upstream gradient, via "
            "triton.testing.do_bench with quantiles 0.5/0.2/0.8 (median with p20/p80 spread). The upstream CSV records "
            "no CUDA, driver, or torch version; the Liger release rides each run's labels. Comparable only within one "
            "kernel, workload, timed pass, and GPU.",
        },
    },
    title="Liger benchmark harness · backward pass",
)
B200 = manifest(
    "ExecutionEnvironment",
    "liger-bench-nvidia-b200",
    {"hardware": {"vendor": "nvidia", "product": "NVIDIA B200", "architecture": "sm_100"}, "software": {}},
    title="Liger benchmark host · B200",
)
H100 = manifest(
    "ExecutionEnvironment",
    "bench-nvidia-h100",
    {
        "hardware": {"vendor": "nvidia", "product": "NVIDIA H100", "architecture": "sm_90", "formFactor": "PCIe"},
        "software": {
            "driver": "580.1",
            "framework": {"name": "pytorch", "version": "2.11"},
            "libraries": {"b": "2", "a": "1"},
        },
        "settings": {"clocksLocked": False, "powerLimitWatts": 350},
    },
    title="Host · H100",
)


def workload(channels: int = 64, operation: dict[str, Any] = GROUP_NORM) -> dict[str, Any]:
    shape = [128, channels, 512]
    return manifest(
        "WorkloadCase",
        f"group-norm-{channels}",
        {
            "operationSpecDigest": digest(operation),
            "axes": {"batch": 128, "channels": channels, "hidden": 512, "channels_per_group": 4},
            "tensors": {
                "x": {"shape": shape, "dtype": "fp32"},
                "weight": {"shape": [channels], "dtype": "fp32"},
                "bias": {"shape": [channels], "dtype": "fp32"},
            },
            "scalars": {"eps": {"dtype": "fp32", "value": 1e-06}},
            "correctness": {"comparator": "not_asserted"},
        },
    )


def implementation(
    name: str, title: str, language: str = "python", operation: dict[str, Any] = GROUP_NORM, **spec: Any
) -> dict[str, Any]:
    return manifest(
        "ImplementationRevision",
        name,
        {
            "projectRevision": {},
            "operation": {"specDigest": digest(operation)},
            "callable": {"language": language},
            "support": {"hardwareArchitectures": [], "dtypes": []},
            **spec,
        },
        title=title,
    )


TRANSFORMERS = implementation("huggingface-group-norm", "Transformers", licensing={"declared": "Apache-2.0"})
LIGER = implementation(
    "liger-group-norm-triton",
    "Liger-Kernel",
    "triton",
    buildVariants=[{"name": "pip", "install": {"kind": "pip", "package": "liger-kernel"}}],
    licensing={"declared": "BSD-2-Clause", "concluded": "BSD-2-Clause"},
)


def run(
    implementation: dict[str, Any],
    workload: dict[str, Any],
    *,
    name: str,
    title: str,
    median: int | None,
    observed_at: str,
    protocol: dict[str, Any] = BACKWARD,
    environment: dict[str, Any] = B200,
    status: str = "passed",
    metadata: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A run; without a median it has no timing."""
    timing = {"timing": {"primaryStatistic": "median", "latencyNs": {"median": median}}} if median else {}
    return manifest(
        "BenchmarkRun",
        name,
        {
            "implementationDigest": digest(implementation),
            "workloadDigest": digest(workload),
            "protocolDigest": digest(protocol),
            "environmentDigest": digest(environment),
            "status": status,
            **timing,
            "observedAt": observed_at,
            **spec,
        },
        title=title,
        **(metadata or {}),
    )


def liger_run(
    provider: str, implementation: dict[str, Any], at: str, milliseconds: tuple[float, float, float], **metadata: Any
) -> dict[str, Any]:
    """A row of the Liger source for GroupNorm's backward pass on a B200; milliseconds are p20, median, p80."""
    low, median, high = milliseconds
    identifier = "batch128-channels64-channels_per_group4-hidden512-fp32"
    return run(
        implementation,
        workload(),
        name=f"liger-group-norm-backward-{provider}-nvidia-b200-batch128-channels64-channels-per-group4-hidden512-",
        title=f"GroupNorm · {provider} · backward",
        median=round(median * 1e6),
        observed_at=f"2026-02-28T{at}.000Z",
        measurements=[
            {"metric": "latency", "unit": "ns", "statistic": "p20", "value": round(low * 1e6)},
            {"metric": "latency", "unit": "ns", "statistic": "p80", "value": round(high * 1e6)},
        ],
        sourceNative={
            "source": "liger-kernel-bench",
            "benchmark": "group_norm/backward",
            "externalId": f"group_norm/backward/{provider}/nvidia-b200/{identifier}/2026-02-28-{at.replace(':', '-')}",
            "metrics": {"ms_20": low, "ms_50": median, "ms_80": high},
        },
        metadata={"labels": {"liger_version": "0.7.0"}, **metadata},
    )


SEED = liger_run(
    "huggingface", TRANSFORMERS, "00:23:31", (0.07171200215816498, 0.07372800260782242, 0.0739263966679573)
)
FIRST = liger_run("liger", LIGER, "00:23:28", (0.0663679987192154, 0.06732799857854843, 0.06838399916887283))

SUBJECTS = (
    Record(project("transformers", "Hugging Face Transformers")),
    Record(project("liger-kernel", "Liger-Kernel")),
    Record(GROUP_NORM, aliases=("group_norm",)),
    Record(workload()),
    Record(TRANSFORMERS, project="transformers"),
    Record(LIGER, project="liger-kernel"),
    Record(BACKWARD),
    Record(B200),
    Record(H100),
)


def bundle(*runs: dict[str, Any], subjects: tuple[Record, ...] = SUBJECTS, **options: Any) -> Bundle:
    """A bundle of these runs with all that they refer to."""
    chosen = {"source": SOURCE, "snapshot": SNAPSHOT, **options}
    return Bundle(records=(*subjects, *map(Record, runs)), **chosen)


def seed_bundle() -> Bundle:
    """The two runs of the seed page's comparison group."""
    return bundle(FIRST, SEED)


def filler(count: int, **options: Any) -> Bundle:
    """Runs of one implementation on as many workloads, so that each has a comparison group of its own."""
    cases = [workload(1024 + 4 * number) for number in range(count)]
    runs = [
        run(
            LIGER,
            case,
            name=f"filler-{number}",
            title="filler",
            median=1000 + number,
            observed_at="2026-03-01T00:00:00Z",
        )
        for number, case in enumerate(cases)
    ]
    return bundle(*runs, subjects=(*SUBJECTS, *map(Record, cases)), **options)


def crowd(count: int, ties: int = 0) -> Bundle:
    """Runs in the seed's comparison group, each slower than the last; the first `ties` equal the seed's own figure."""
    runs = [
        liger_run(
            "crowd",
            LIGER,
            f"01:{number // 60:02d}:{number % 60:02d}",
            (0.07, 0.07372800260782242 if number < ties else 0.08 + number / 1e5, 0.09 + number),
        )
        for number in range(count)
    ]
    return bundle(*runs)
