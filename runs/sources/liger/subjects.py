"""Who and what the Liger-Kernel benchmarks measure besides operations: projects, providers, GPUs and timed passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HARNESS = {
    "name": "Liger-Kernel benchmark scripts",
    "repository": "https://github.com/linkedin/Liger-Kernel",
}
FAMILY = "liger_kernel_bench"


@dataclass(frozen=True, slots=True)
class Project:
    """A software project and how its implementations are titled."""

    name: str
    title: str
    short: str
    repository: str

    @property
    def spec(self) -> dict[str, Any]:
        """The SoftwareProject spec."""
        host = {"kind": "github", "id": self.repository.removeprefix("https://github.com/")}
        return {"name": self.title, "kind": "library", "repository": self.repository, "host": host}


@dataclass(frozen=True, slots=True)
class Provider:
    """Whose code a provider of the CSV files runs, in which language and under which licence (SPDX)."""

    project: str
    language: str
    declared: str
    concluded: str | None = None
    package: str | None = None
    note: str | None = None

    def spec(self, operation_digest: str, interface: str | None) -> dict[str, Any]:
        """The ImplementationRevision spec for an operation. The source names no revision, so none is claimed."""
        call = {"language": self.language}
        if interface is not None:
            call["interface"] = interface
        licensing = {"declared": self.declared}
        if self.concluded is not None:
            licensing["concluded"] = self.concluded
        spec: dict[str, Any] = {
            "projectRevision": {},
            "operation": {"specDigest": operation_digest},
            "callable": call,
            "support": {"hardwareArchitectures": [], "dtypes": []},
            "licensing": licensing,
        }
        if self.package is not None:
            spec["buildVariants"] = [{"name": "pip", "install": {"kind": "pip", "package": self.package}}]
        return spec


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as an ExecutionEnvironment describes it; `form` is what the driver's name adds to the product."""

    product: str
    architecture: str
    form: str | None = None

    @property
    def spec(self) -> dict[str, Any]:
        """The ExecutionEnvironment spec: the CSV files say nothing about software."""
        hardware = {"vendor": "nvidia", "product": self.product, "architecture": self.architecture}
        if self.form is not None:
            hardware["formFactor"] = self.form
        return {"hardware": hardware, "software": {}}


@dataclass(frozen=True, slots=True)
class Pass:
    """What one call of the measured function covers."""

    title: str
    sentence: str


PROJECTS: Mapping[str, Project] = {
    each.name: each
    for each in (
        Project("liger-kernel", "Liger-Kernel", "Liger-Kernel", "https://github.com/linkedin/Liger-Kernel"),
        Project("pytorch", "PyTorch", "PyTorch", "https://github.com/pytorch/pytorch"),
        Project("megatron-lm", "NVIDIA Megatron-LM", "Megatron-LM", "https://github.com/NVIDIA/Megatron-LM"),
        Project("deepspeed", "DeepSpeed", "DeepSpeed", "https://github.com/deepspeedai/DeepSpeed"),
        Project(
            "transformers", "Hugging Face Transformers", "Transformers", "https://github.com/huggingface/transformers"
        ),
    )
}


def _liger(language: str, note: str | None = None) -> Provider:
    return Provider("liger-kernel", language, "BSD-2-Clause", "BSD-2-Clause", "liger-kernel", note)


PROVIDERS: Mapping[str, Provider] = {
    "liger": _liger("triton"),
    "liger_fused_add_rms_norm": _liger("triton", "fused"),
    "liger_rms_norm": _liger("triton", "add, then RMSNorm"),
    "liger_in_place": _liger("triton", "in place"),
    "liger_tiled": _liger("triton", "tiled"),
    "huggingface": Provider("transformers", "python", "Apache-2.0"),
    "torch": Provider("pytorch", "python", "BSD-3-Clause"),
    "torch_compile": Provider("pytorch", "python", "BSD-3-Clause", note="torch.compile"),
    "megatron": Provider("megatron-lm", "python", "BSD-3-Clause"),
    "megatron-fused": Provider("megatron-lm", "python", "BSD-3-Clause", note="fused"),
    "megatron-unfused": Provider("megatron-lm", "python", "BSD-3-Clause", note="unfused"),
    "deepspeed_tiled": Provider("deepspeed", "python", "Apache-2.0", note="tiled"),
    # A comparison run renames every "liger" provider after the back end that it selects.
    "liger_triton": _liger("triton", "Triton"),
    "liger_triton_rms_norm": _liger("triton", "Triton, add, then RMSNorm"),
    "liger_triton_fused_add_rms_norm": _liger("triton", "Triton, fused"),
    "liger_cutile": _liger("cutile", "cuTile"),
    "liger_cutile_rms_norm": _liger("cutile", "cuTile, add, then RMSNorm"),
    "liger_cutile_fused_add_rms_norm": _liger("cutile", "cuTile, fused"),
    "liger_cutedsl": _liger("cutedsl", "CuTe DSL"),
    "cutile": _liger("cutile", "cuTile"),
    "cutedsl-sm90": _liger("cutedsl", "CuTe DSL for sm_90"),
    # A plain loop of torch operations over chunks of tokens, taken where no native kernel fits the GPU.
    "fallback": _liger("python", "torch fallback"),
}

GPUS: Mapping[str, Gpu] = {
    "NVIDIA A100-SXM4-40GB": Gpu("NVIDIA A100", "sm_80", "SXM4-40GB"),
    "NVIDIA A100-SXM4-80GB": Gpu("NVIDIA A100", "sm_80", "SXM4-80GB"),
    "NVIDIA H100 80GB HBM3": Gpu("NVIDIA H100", "sm_90", "80GB HBM3"),
    "NVIDIA H100 PCIe": Gpu("NVIDIA H100", "sm_90", "PCIe"),
    "NVIDIA H100 NVL": Gpu("NVIDIA H100", "sm_90", "NVL"),
    "NVIDIA H200": Gpu("NVIDIA H200", "sm_90"),
    "NVIDIA B200": Gpu("NVIDIA B200", "sm_100"),
    "NVIDIA B300 SXM6 PC": Gpu("NVIDIA B300", "sm_103", "SXM6 PC"),
    "NVIDIA GeForce RTX 3090": Gpu("NVIDIA GeForce RTX 3090", "sm_86"),
    "NVIDIA GeForce RTX 4090": Gpu("NVIDIA GeForce RTX 4090", "sm_89"),
}

PASSES: Mapping[str, Pass] = {
    "forward": Pass("forward pass", "the module forward pass"),
    "backward": Pass("backward pass", "the backward pass of the module output given a random upstream gradient"),
    "full": Pass("forward and backward pass", "the forward pass plus the backward pass"),
    "no-grad-forward": Pass("forward pass without autograd", "the module forward pass with autograd switched off"),
}

_UNRECORDED = (
    "The upstream CSV records no CUDA, driver, or torch version; the Liger release rides each run's labels. "
    "Comparable only within one kernel, workload, {subject}, and GPU."
)


def latency_protocol(mode: str) -> dict[str, Any]:
    """The BenchmarkProtocol spec of the speed rows of a mode."""
    notes = (
        f"Timed: {PASSES[mode].sentence}, via triton.testing.do_bench with quantiles 0.5/0.2/0.8 "
        f"(median with p20/p80 spread). {_UNRECORDED.format(subject='timed pass')}"
    )
    return {
        "harness": dict(HARNESS),
        "measurement": {"timer": "cuda_events", "primaryStatistic": "median"},
        "comparability": {"family": FAMILY, "notes": notes},
    }


def memory_protocol(mode: str) -> dict[str, Any]:
    """The BenchmarkProtocol spec of the memory rows of a mode; nothing is timed, the allocator's peak is read."""
    notes = (
        f"Measured: the peak of torch's allocator (max_memory_allocated, reset before each call) over "
        f"{PASSES[mode].sentence}, with quantiles 0.5/0.2/0.8; what was allocated before the call counts. "
        f"{_UNRECORDED.format(subject='measured pass')}"
    )
    return {
        "harness": dict(HARNESS),
        "measurement": {"timer": "allocator_peak", "primaryStatistic": "median"},
        "comparability": {"family": FAMILY + "_memory", "notes": notes},
    }
