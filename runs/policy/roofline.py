"""The physical floor: the least time in which the hardware of a run could do what the run says it did.

Two things bound a call from below: the bytes that have to cross the memory interface, over its bandwidth, and the
operations of the dense matrix products that it consists of, over the peak of their dtype. The larger one binds. What
has to be moved is declared by operation and pass in `traffic`, what the hardware can do in `hardware`.

The cache takes away from the bytes. Outputs may stay in it after the call, up to its size, whatever happened before. Of
the inputs it may hold what the protocol's flush left: nothing is known without a flush, so up to its size; a
flush writes 256 MB, and a cache that replaced lines at random would keep e^(−256 MB / size) of what it held.

Figures of data sheets are rounded and boards run above the clock that a sheet's peak is stated at. So there are two
times: `ns`, the floor by the data sheet, of which a run reaches a share; and `impossible_ns`, with headroom for both,
below which a run is *below the physical floor*.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runs.manifests.errors import ManifestError
from runs.policy.hardware import FIGURES, Figures, Sheet, slug
from runs.policy.traffic import BACKWARD, FORWARD, FULL, NO_GRAD, TRAFFIC, Amount, Work, signature

VERSION: Final = "floor-v1"

BANDWIDTH_HEADROOM: Final = 1.03
"""An H100 PCIe moves 2.0 % more than the 2 TB/s that its data sheet prints: 1,593 MHz, twice, over 5,120 bits."""
CLOCK_HEADROOM: Final = 1.25
"""An H100 SXM may run 8 % above the clock of its stated peak, GeForce boards up to a quarter."""
FLUSH_BYTES: Final = 256_000_000
"""What triton's do_bench overwrites before each call."""

_BYTES: Final = {
    **dict.fromkeys(("bool", "int8", "uint8", "fp8_e4m3", "fp8_e5m2"), 1),
    **dict.fromkeys(("fp16", "bf16", "int16"), 2),
    **dict.fromkeys(("fp32", "int32"), 4),
    **dict.fromkeys(("fp64", "int64"), 8),
}
# A product of fp32 operands may be taken in TF32, whose mantissa is no longer than that of fp16.
_PEAK_OF: Final = {"fp32": "fp16"}

# How a protocol's notes name the timed pass.
_SENTENCES: Final = {
    "the module forward pass": FORWARD,
    "the backward pass of the module output given a random upstream gradient": BACKWARD,
    "the forward pass plus the backward pass": FULL,
    "the module forward pass with autograd switched off": NO_GRAD,
}
_TIMED: Final = re.compile(r"Timed: (?P<sentence>[^,]+), ")
_FLUSHES: Final = re.compile(r"triton\.testing\.do_bench\b")


@dataclass(frozen=True, slots=True)
class Floor:
    """The least time of a run.

    `traffic` in bytes is what crosses the memory interface, `operations` what the matrix products take; `binding` says
    which of the two bounds the time, bandwidth or arithmetic.
    """

    ns: float
    impossible_ns: float
    binding: str
    timed_pass: str
    hardware: str
    traffic: int
    operations: int
    sheets: tuple[Sheet, ...]
    version: str = VERSION

    def share(self, value_ns: float) -> float:
        """The share of the floor that a latency in ns reaches: 1.0 is as fast as the data sheet allows."""
        return self.ns / value_ns

    def is_above(self, value_ns: float) -> bool:
        """Whether a latency in ns is below the physical floor, so that this floor stands above it."""
        return value_ns < self.impossible_ns


@dataclass(frozen=True, slots=True)
class NoClaim:
    """Nothing is said about the floor; `reason` is a code of `reasons`."""

    reason: str


def timed_pass(protocol: Mapping[str, Any]) -> str | None:
    """The pass that a BenchmarkProtocol spec says it times, or None where it does not say."""
    match = _TIMED.match(protocol.get("comparability", {}).get("notes", ""))
    return _SENTENCES.get(match["sentence"]) if match else None


def flushes_cache(protocol: Mapping[str, Any]) -> bool:
    """Whether a BenchmarkProtocol spec says that each call is timed after do_bench's flush of the cache."""
    return _FLUSHES.search(protocol.get("comparability", {}).get("notes", "")) is not None


def floor(
    operation: Mapping[str, Any],
    workload: Mapping[str, Any],
    protocol: Mapping[str, Any],
    environment: Mapping[str, Any],
) -> Floor | NoClaim:
    """The floor of a latency measured so, from the specs of what the run refers to; or why nothing is claimed.

    Nothing that is not a latency has a floor; asking is left to the caller, who knows the run's metric.
    """
    hardware = slug(environment)
    figures = FIGURES.get(hardware)
    if figures is None:
        return NoClaim("FLOOR_HARDWARE_UNKNOWN")
    if environment["hardware"].get("count", 1) != 1:
        return NoClaim("FLOOR_SEVERAL_DEVICES")
    declared = _declared(operation, workload, protocol)
    if isinstance(declared, NoClaim):
        return declared
    timed, work, flushed = declared
    try:
        traffic = _traffic(work, workload, figures, flushed=flushed)
        operations, peak = _arithmetic(work.operations, workload, figures)
    except (ManifestError, KeyError):
        # The workload has another dtype or other axes than the operation's signature promises.
        return NoClaim("FLOOR_TRAFFIC_UNKNOWN")
    moving, computing = 1e9 * traffic / figures.bandwidth, 1e9 * operations / peak
    if moving == computing == 0:
        return NoClaim("FLOOR_NEGLIGIBLE")
    return Floor(
        ns=max(moving, computing),
        impossible_ns=max(moving / BANDWIDTH_HEADROOM, computing / CLOCK_HEADROOM),
        binding="bandwidth" if moving >= computing else "arithmetic",
        timed_pass=timed,
        hardware=hardware,
        traffic=traffic,
        operations=operations,
        sheets=figures.sheets,
    )


def _declared(
    operation: Mapping[str, Any], workload: Mapping[str, Any], protocol: Mapping[str, Any]
) -> tuple[str, Work, bool] | NoClaim:
    """The timed pass, what one call of it has to do, and whether the cache is flushed before it."""
    known = TRAFFIC.get(signature(operation))
    if known is None or "tensors" not in workload:
        return NoClaim("FLOOR_TRAFFIC_UNKNOWN")
    timed = timed_pass(protocol)
    if timed is None:
        return NoClaim("FLOOR_PASS_UNKNOWN")
    work = known.passes.get(timed)
    if work is None:
        return NoClaim("FLOOR_PASS_UNBOUNDED")
    return timed, work, flushes_cache(protocol) and not known.repeated_warm


def _arithmetic(amount: Amount | None, workload: Mapping[str, Any], figures: Figures) -> tuple[int, int]:
    """Operations and the peak that bounds them; no operations where no peak of their dtype is known."""
    if amount is None:
        return 0, 1
    dtype = workload["tensors"][amount.tensor]["dtype"]
    peak = figures.peak.get(_PEAK_OF.get(dtype, dtype))
    return (0, 1) if peak is None else (_count(amount, workload), peak)


def _traffic(work: Work, workload: Mapping[str, Any], figures: Figures, *, flushed: bool) -> int:
    """Bytes that have to cross the memory interface."""
    if figures.cache is None:
        return 0
    kept = math.ceil(figures.cache * math.exp(-FLUSH_BYTES / figures.cache)) if flushed else figures.cache
    read, written = _bytes(work.reads, workload), _bytes(work.writes, workload)
    return max(0, read - kept) + max(0, written - figures.cache)


def _bytes(amounts: Iterable[Amount], workload: Mapping[str, Any]) -> int:
    return sum(_count(each, workload) * _BYTES[workload["tensors"][each.tensor]["dtype"]] for each in amounts)


def _count(amount: Amount, workload: Mapping[str, Any]) -> int:
    if amount.count is not None:
        return amount.count.evaluate(workload["axes"])
    return math.prod(workload["tensors"][amount.tensor]["shape"])
