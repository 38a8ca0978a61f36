"""The hardware that runs were measured on: what its vendor states, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from runs.reads.floor import DataSheet, data_sheet
from runs.reads.links import environment_link, hardware_link, operation_link
from runs.reads.places import read_place, write_place
from runs.reads.rows import fetch
from runs.reads.run_list import run_rows
from runs.reads.values import Link, RunRow

PAGE: Final = 100
LATEST: Final = 10
_MOST: Final = 500

_LIST: Final = """
SELECT h.hardware, h.vendor, h.product, h.form_factor, h.architecture, h.environments,
    (SELECT coalesce(sum(g.run_count), 0) FROM runs_comparisongroup g
     JOIN runs_environment v ON v.id = g.environment_id WHERE v.hardware = h.hardware) AS runs
FROM (
    SELECT hardware, min(vendor) AS vendor, min(product) AS product, min(form_factor) AS form_factor,
        min(architecture) AS architecture, count(*) AS environments
    FROM runs_environment WHERE {condition} GROUP BY hardware ORDER BY hardware LIMIT {limit}) h
ORDER BY h.hardware
"""
_ENVIRONMENTS: Final = f"""
SELECT v.digest, v.title, count(g.key) AS found, coalesce(sum(g.run_count), 0) AS runs
FROM runs_environment v LEFT JOIN runs_comparisongroup g ON g.environment_id = v.id
WHERE v.hardware = %s GROUP BY v.id, v.digest, v.title ORDER BY v.title, v.digest LIMIT {_MOST}
"""  # noqa: S608 — a constant of ours
OPERATIONS: Final = f"""
SELECT o.slug, o.name, o.family, count(*) AS found, sum(g.run_count) AS runs,
    count(DISTINCT g.workload_id) AS workloads
FROM runs_comparisongroup g JOIN runs_operation o ON o.id = g.operation_id
WHERE g.{{condition}}
GROUP BY o.id, o.slug, o.name, o.family ORDER BY o.family, o.name, o.slug LIMIT {_MOST}
"""  # noqa: S608 — a constant of ours


@dataclass(frozen=True, slots=True)
class HardwareRow:
    """A product in the list; `sheet` is None where no data-sheet figures are known."""

    link: Link
    vendor: str
    architecture: str
    environments: int
    runs: int
    sheet: DataSheet | None


@dataclass(frozen=True, slots=True)
class HardwareList:
    rows: tuple[HardwareRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class EnvironmentRow:
    link: Link
    groups: int
    runs: int


@dataclass(frozen=True, slots=True)
class MeasuredOperation:
    """What was measured of an operation in one place."""

    link: Link
    family: str
    groups: int
    workloads: int
    runs: int


@dataclass(frozen=True, slots=True)
class HardwarePage:
    """Everything that a product's page shows."""

    row: HardwareRow
    environments: tuple[EnvironmentRow, ...]
    operations: tuple[MeasuredOperation, ...]
    latest: tuple[RunRow, ...]


def hardware_list(after: str = "") -> HardwareList:
    """One page of the products. One statement. Raises InvalidCursor."""
    place = read_place(after, 1)
    found = _products("hardware > %s" if place else "1 = 1", place or (), PAGE + 1)
    more = len(found) > PAGE
    return HardwareList(tuple(found[:PAGE]), write_place(found[PAGE - 1].link.slug) if more else None)


def hardware_page(slug: str) -> HardwarePage | None:
    """What is known of a product, or None where nothing was measured on it. Four statements."""
    found = _products("hardware = %s", (slug,), 1)
    if not found:
        return None
    there = "environment_id IN (SELECT id FROM runs_environment WHERE hardware = %s)"
    return HardwarePage(
        found[0],
        tuple(
            EnvironmentRow(environment_link(row["digest"], row["title"]), row["found"], int(row["runs"]))
            for row in fetch(_ENVIRONMENTS, [slug])
        ),
        measured_operations(there, slug),
        run_rows("r.hardware = %s", [slug], limit=LATEST),
    )


def measured_operations(condition: str, value: Any) -> tuple[MeasuredOperation, ...]:
    """The operations that have comparison groups under a condition of this package's own making."""
    return tuple(map(_measured, fetch(OPERATIONS.format(condition=condition), [value])))


def _measured(row: Mapping[str, Any]) -> MeasuredOperation:
    link = operation_link(row["slug"], row["name"])
    return MeasuredOperation(link, row["family"], row["found"], row["workloads"], int(row["runs"]))


def _products(condition: str, params: tuple[str, ...], limit: int) -> list[HardwareRow]:
    return [
        HardwareRow(
            hardware_link(row["hardware"], " ".join(filter(None, (row["product"], row["form_factor"])))),
            row["vendor"],
            row["architecture"],
            row["environments"],
            int(row["runs"]),
            data_sheet(row["hardware"]),
        )
        for row in fetch(_LIST.format(condition=condition, limit=limit), params)
    ]
