"""What a page says of the physical floor of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.policy.hardware import FIGURES, Figures, Sheet
from runs.policy.reasons import sentence
from runs.policy.roofline import Floor, floor
from runs.reads.values import Figure, Reason, RunFloor, SheetRow

Document = Mapping[str, Any]


def run_floor(
    operation: Document, workload: Document, protocol: Document, environment: Document, primary: Figure | None
) -> RunFloor | None:
    """The floor of a run, from the specs of what it refers to; None where it measures no latency in ns.

    Where nothing is claimed, the answer says why.
    """
    if primary is None or (primary.metric, primary.unit) != ("latency", "ns"):
        return None
    claim = floor(operation, workload, protocol, environment)
    if not isinstance(claim, Floor):
        return RunFloor(reason=Reason(claim.reason, sentence(claim.reason)))
    amount = claim.traffic if claim.binding == "bandwidth" else claim.operations
    return RunFloor(
        ns=claim.ns,
        share=claim.share(primary.value),
        below=claim.is_above(primary.value),
        impossible_ns=claim.impossible_ns,
        binding=claim.binding,
        amount=amount,
        rate=round(amount * 1e9 / claim.ns),
        timed_pass=claim.timed_pass,
        sheets=sheet_rows(claim.sheets),
        version=claim.version,
    )


@dataclass(frozen=True, slots=True)
class DataSheet:
    """The vendor's figures of a product: bytes/s, bytes, operations/s by dtype, and where they are printed."""

    bandwidth: int
    cache: int | None
    peak: tuple[tuple[str, int], ...]
    sheets: tuple[SheetRow, ...]


def data_sheet(hardware: str) -> DataSheet | None:
    """The figures of a hardware slug, or None where none are known."""
    figures: Figures | None = FIGURES.get(hardware)
    if figures is None:
        return None
    return DataSheet(figures.bandwidth, figures.cache, tuple(sorted(figures.peak.items())), sheet_rows(figures.sheets))


def sheet_rows(sheets: tuple[Sheet, ...]) -> tuple[SheetRow, ...]:
    """Publications of a vendor's, as a page shows them."""
    return tuple(SheetRow(sheet.title, sheet.url) for sheet in sheets)
