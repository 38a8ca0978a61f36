"""How an output is compared with its float64 reference: a metric, and a tolerance for each dtype.

Metric ``scaled_error``: |a − r| ÷ (|r| + ρ), where ρ is the root mean square of the whole reference tensor; an element
near zero is thereby judged by the tensor's scale, a large one by its own. Beside its maximum the relative norm
‖a − r‖₂ ÷ ‖r‖₂ is bounded (‖r‖₂ at least ρ√n over the n elements looked at), which a uniform bias exceeds before any
single element does.

Some gradients lose digits whoever computes them in 16 bits: a softmax's, where one probability is nearly 1, is a
difference of nearly equal numbers. Two things allow for that, and neither excuses an element that is not finite:

- The same formula is also evaluated by plain PyTorch in the inputs' narrowest dtype, and an implementation may be off
  by four times as much as that is, where this is more than the dtype's tolerance and up to a limit that no wrong
  result stays under.
- Hard inputs are made to bring about such elements, and how far one is off is chance: of two million, plain PyTorch
  itself has one beyond any useful bound. So on hard inputs in 16 bits the few largest scaled errors are set aside, one
  in 2,000 and at least four (fewer in a tensor of under 1,000 elements, none under 250), of the plain evaluation as of
  the implementation. That is less than half a row of a thousand rows. The norm is still taken over all elements, and
  on normal inputs nothing is set aside.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

METRIC = "scaled_error"

# dtype → (largest scaled error, largest relative norm). 16 and 5 units in the last place for the 16-bit types, whose
# rounding dominates; the float32 bounds leave room for sums of 10⁵ terms in another order and for fast exponentials.
TOLERANCES: Mapping[torch.dtype, tuple[float, float]] = {
    torch.float64: (1e-9, 1e-10),
    torch.float32: (1e-3, 1e-4),
    torch.float16: (2**-7, 5 * 2**-11),
    torch.bfloat16: (2**-4, 5 * 2**-8),
}

# Kernel and output → factor on both bounds, where the algorithm itself rounds more often than once.
LOOSENED: Mapping[tuple[str, str], float] = {
    # The matrix's gradient is summed over chunks of tokens in the matrix's own 16-bit type.
    ("fused_linear_cross_entropy", "grad.weight"): 4.0,
    ("fused_linear_jsd", "grad.student_weight"): 4.0,
    # A difference of nearly equal distributions is divided by nothing and rounded in 16 bits beforehand.
    ("fused_linear_jsd", "loss"): 4.0,
    ("fused_linear_jsd", "grad.student_input"): 4.0,
}


OF_PLAIN = 4.0
LIMIT_ELEMENT, LIMIT_NORM = 0.5, 0.25

_SET_ASIDE_ONE_IN, _SET_ASIDE_LEAST, _SET_ASIDE_AT_MOST_ONE_IN = 2000, 4, 250


@dataclass(frozen=True)
class Bounds:
    """Tolerance of one output."""

    element: float
    norm: float

    def widened(self, plain: "Errors | None") -> "Bounds":
        """The bounds an implementation is held to beside a plain evaluation's own errors (None where there is none)."""
        if plain is None or not plain.finite:
            return self
        element = max(self.element, min(OF_PLAIN * plain.element, LIMIT_ELEMENT))
        return Bounds(element, max(self.norm, min(OF_PLAIN * plain.norm, LIMIT_NORM)))


@dataclass(frozen=True)
class Errors:
    """How far chosen elements are off.

    ``element`` is the largest scaled error once some were set aside, ``largest`` that of all; ``norm`` the relative
    norm, ``absolute`` the largest absolute error.
    """

    element: float
    largest: float
    norm: float
    absolute: float
    matched_ratio: float
    not_finite: int

    @property
    def finite(self) -> bool:
        """Whether every element is finite where the reference is."""
        return self.not_finite == 0


def bounds_for(kernel: str, name: str, dtype: torch.dtype) -> Bounds:
    """The stated tolerance of an output; ``dtype`` is the narrowest that took part in computing it."""
    element, norm = TOLERANCES[dtype]
    factor = LOOSENED.get((kernel, name), 1.0) if dtype in (torch.bfloat16, torch.float16) else 1.0
    return Bounds(element * factor, norm * factor)


def narrowest(dtypes: Sequence[torch.dtype]) -> torch.dtype:
    """The floating dtype with the widest tolerance among those given."""
    floating = [dtype for dtype in dtypes if dtype in TOLERANCES]
    return max(floating, key=lambda dtype: TOLERANCES[dtype][1])


def take_blocks(tensor: Tensor, blocks: Sequence[tuple[int, int]]) -> Tensor:
    """The chosen elements of a tensor in logical (row-major) order, as one flat tensor."""
    flat = tensor.reshape(-1)
    return torch.cat([flat[start:end] for start, end in blocks])


def set_aside(elements: int, dtype: torch.dtype, distribution: str) -> int:
    """How many of the elements looked at may be off by more than the bound; ``dtype`` as for ``bounds_for``."""
    if distribution != "hard" or dtype not in (torch.bfloat16, torch.float16):
        return 0
    return min(max(elements // _SET_ASIDE_ONE_IN, _SET_ASIDE_LEAST), elements // _SET_ASIDE_AT_MOST_ONE_IN)


def errors(
    actual: Tensor, reference: Tensor, blocks: Sequence[tuple[int, int]], element: float, aside: int = 0
) -> Errors:
    """How far the chosen elements ``actual`` (flat, in the order of ``blocks``) are off a whole float64 reference.

    ``element`` is the bound on the scaled error that ``matched_ratio`` counts by, ``aside`` how many of the largest
    scaled errors are set aside.
    """
    tiny = torch.finfo(torch.float64).tiny
    wanted = take_blocks(reference, blocks)
    given = actual.to(wanted.device, torch.float64)
    finite = torch.isfinite(given)
    difference = torch.where(finite, (given - wanted).abs(), torch.full_like(wanted, torch.inf))
    scale = reference.square().mean().sqrt()
    scaled = difference / (wanted.abs() + scale).clamp_min(tiny)
    whole = max(float(wanted.norm()), float(scale) * wanted.numel() ** 0.5, tiny)
    top = torch.topk(scaled, aside + 1).values
    return Errors(
        element=float(top[-1]),
        largest=float(top[0]),
        norm=float(difference.norm()) / whole,
        absolute=float(difference.max()),
        matched_ratio=float((scaled <= element).double().mean()),
        not_finite=int((~finite & torch.isfinite(wanted)).sum()),
    )


def compare(
    actual: Tensor,
    reference: Tensor,
    blocks: Sequence[tuple[int, int]],
    stated: Bounds,
    plain: Tensor | None,
    *,
    aside: int = 0,
) -> dict[str, Any]:
    """Compare chosen elements with a whole float64 reference, in the light of a whole plain evaluation.

    Returns plain values: ``matched`` (bool), ``scaled_error`` (what is held against the tolerance: the largest once
    ``set_aside`` were), ``max_scaled_error`` (the largest of all), ``relative_norm``, ``max_absolute_error``,
    ``matched_ratio``, ``element_tolerance``, ``norm_tolerance``, ``checked``, ``elements``, ``not_finite`` (how many
    elements are NaN or infinite where the reference is not).
    """
    beside = None if plain is None else errors(take_blocks(plain, blocks), reference, blocks, stated.element, aside)
    bounds = stated.widened(beside)
    found = errors(actual, reference, blocks, bounds.element, aside)
    return {
        "matched": found.finite and found.element <= bounds.element and found.norm <= bounds.norm,
        "scaled_error": _plain(found.element),
        "set_aside": aside,
        "max_scaled_error": _plain(found.largest),
        "relative_norm": _plain(found.norm),
        "max_absolute_error": _plain(found.absolute),
        "matched_ratio": found.matched_ratio,
        "element_tolerance": bounds.element,
        "norm_tolerance": bounds.norm,
        "checked": actual.numel(),
        "elements": reference.numel(),
        "not_finite": found.not_finite,
    }


def _plain(value: float) -> float | None:
    """JSON has no infinity: an error without bound is null."""
    return value if value < float("inf") else None


_FINGERPRINT_CHUNK = 1 << 24
_WIDTHS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def fingerprint(tensor: Tensor) -> list[int]:
    """Two 64-bit sums over a tensor's bits, one weighted by position: equal for equal tensors, in any process."""
    real = torch.view_as_real(tensor.detach()) if tensor.is_complex() else tensor.detach()
    flat = real.reshape(-1).view(_WIDTHS[real.element_size()])
    plain = weighted = 0
    for start in range(0, flat.numel(), _FINGERPRINT_CHUNK):
        bits = flat[start : start + _FINGERPRINT_CHUNK].to(torch.int64)
        places = torch.arange(start, start + bits.numel(), device=bits.device) % 65_521 + 1
        plain += int(bits.sum())
        weighted += int((bits * places).sum())
    return [plain % (1 << 64), weighted % (1 << 64)]
