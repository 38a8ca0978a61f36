"""What can be rerun: operations, providers and modes, declared in one table. Needs no torch, so that a page can ask."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runs.reruns.harness.recipes.schedule import (
    MODES,
    Schedule,
    parse_release,
    schedule_for,
)

LIGER, TRANSFORMERS, TORCH = "liger-kernel", "transformers", "torch"


@dataclass(frozen=True)
class Entry:
    """One operation that can be rerun.

    ``kernel`` is its name in the benchmark files and in the table of torch code, ``providers`` the provider names with
    the package each one's code comes from, ``mutates`` the inputs a provider overwrites by design, ``version`` grows
    whenever inputs, callables or reference change.
    """

    kernel: str
    module: str
    providers: Mapping[str, str]
    mutates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    modes: tuple[str, ...] = MODES
    version: int = 1


@dataclass(frozen=True)
class Recipe:
    """How one claim is rerun: which callable, timed how, checked against what."""

    id: str
    version: int
    operation: str
    kernel: str
    module: str
    provider: str
    mode: str
    package: str
    release: tuple[int, ...]
    schedule: Schedule
    mutates: tuple[str, ...]

    def as_document(self) -> dict[str, Any]:
        """Plain JSON-able values: {id, version, schedule}."""
        return {"id": self.id, "version": self.version, "schedule": self.schedule.as_document()}


@dataclass(frozen=True)
class NotRerunnable:
    """Why a claim has no recipe: a code and its sentence."""

    code: str
    reason: str


# "huggingface" was the files' name for the plain PyTorch side of several scripts.
_LIGER_TORCH = {"liger": LIGER, "torch": TORCH}
_LIGER_TORCH_OLD_NAME = {**_LIGER_TORCH, "huggingface": TORCH}
_LIGER_TRANSFORMERS = {"liger": LIGER, "huggingface": TRANSFORMERS}

OPERATIONS: Mapping[str, Entry] = {
    "liger-rms-norm": Entry("rms_norm", "norms", {"liger": LIGER, "huggingface": TORCH}),
    "liger-layer-norm": Entry("layer_norm", "norms", _LIGER_TORCH_OLD_NAME),
    "liger-group-norm": Entry("group_norm", "norms", _LIGER_TORCH_OLD_NAME),
    "liger-poly-norm": Entry("poly_norm", "norms", _LIGER_TORCH),
    "liger-dyt": Entry("dyt", "norms", {**_LIGER_TORCH, "torch_compile": TORCH}),
    "liger-fused-add-rms-norm": Entry(
        "fused_add_rms_norm",
        "norms",
        {"liger_fused_add_rms_norm": LIGER, "liger_rms_norm": LIGER, "torch": TORCH, "huggingface": TORCH},
    ),
    "liger-softmax": Entry("softmax", "pointwise", _LIGER_TORCH),
    "liger-sparsemax": Entry("sparsemax", "pointwise", _LIGER_TORCH),
    "liger-relu-squared": Entry("relu_squared", "pointwise", _LIGER_TORCH),
    "liger-swiglu": Entry("swiglu", "layers", _LIGER_TRANSFORMERS),
    "liger-geglu": Entry("geglu", "layers", _LIGER_TRANSFORMERS),
    "liger-embedding": Entry("embedding", "layers", {**_LIGER_TORCH_OLD_NAME, "torch_compile": TORCH}),
    # liger's rotary kernel writes its result over q and k.
    "liger-rope": Entry("rope", "positions", _LIGER_TRANSFORMERS, {"liger": ("q", "k")}),
    "liger-llama4-rope": Entry("llama4_rope", "positions", _LIGER_TRANSFORMERS, {"liger": ("q", "k")}),
    # liger's cross-entropy stores the gradient over the logits it was given.
    "liger-cross-entropy": Entry("cross_entropy", "losses", _LIGER_TORCH_OLD_NAME, {"liger": ("logits",)}),
    "liger-kl-div": Entry("kl_div", "losses", _LIGER_TORCH),
    "liger-jsd": Entry("jsd", "losses", _LIGER_TORCH),
    "liger-tvd": Entry("tvd", "losses", _LIGER_TORCH),
    "liger-fused-linear-cross-entropy": Entry(
        "fused_linear_cross_entropy", "fused_losses", {**_LIGER_TORCH_OLD_NAME, "liger-fp32-accum": LIGER}
    ),
    "liger-fused-linear-jsd": Entry("fused_linear_jsd", "fused_losses", _LIGER_TORCH),
}


def find_recipe(operation_slug: str, provider: str, mode: str, liger_version: str | None) -> Recipe | NotRerunnable:
    """The recipe of a claim, or why there is none.

    ``liger_version`` is the release whose script made the claim: its timing arguments are the claim's protocol.
    """
    entry = OPERATIONS.get(operation_slug)
    if entry is None:
        return NotRerunnable("operation_without_recipe", "No recipe has been written for this operation.")
    if provider not in entry.providers:
        return NotRerunnable("provider_without_recipe", "No recipe has been written for this implementation.")
    if mode not in entry.modes:
        return NotRerunnable("mode_without_recipe", "No recipe times this pass of the operation.")
    try:
        release = parse_release(liger_version or "")
    except ValueError:
        return NotRerunnable("release_unknown", "The claim does not name the release whose script measured it.")
    schedule = schedule_for(entry.kernel, provider, mode, release)
    if schedule is None:
        return NotRerunnable(
            "protocol_unpublished", "The release that made the claim was published without its benchmark scripts."
        )
    return Recipe(
        id=f"{operation_slug}/{provider}/{mode}",
        version=entry.version,
        operation=operation_slug,
        kernel=entry.kernel,
        module=entry.module,
        provider=provider,
        mode=mode,
        package=entry.providers[provider],
        release=release,
        schedule=schedule,
        mutates=entry.mutates.get(provider, ()),
    )
