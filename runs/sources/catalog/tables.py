"""The tables of an export: their order, the columns that an import needs, and what of a row no manifest says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """What is known of a table.

    `digest` is the column that holds the digest of the row's manifest, `parent` the column that names the row which
    this one is a part of, `needed` further columns that must hold text, `stated` those that are kept because nothing
    else says them. `runs`: its rows are runs of a source and can be retracted. `counted`: its rows follow from others,
    and are counted alone.
    """

    name: str
    digest: str | None = None
    parent: str | None = None
    needed: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    has_id: bool = True
    counted: bool = False
    runs: bool = False


_TABLES: Final = (
    Table("sources", needed=("slug", "kind", "name"), stated=("createdAt",)),
    Table("projects", kinds=("SoftwareProject",), stated=("createdAt", "name")),
    Table(
        "operations", "semanticDigest", kinds=("OperationSpec",), stated=("createdAt", "tags", "supersedesId", "slug")
    ),
    Table("operation_aliases", parent="operationId", needed=("alias",), has_id=False),
    Table("workloads", "workloadDigest", kinds=("WorkloadCase", "WorkloadSuite"), stated=("createdAt",)),
    Table(
        "implementations",
        "implementationDigest",
        kinds=("ImplementationRevision",),
        stated=("createdAt", "slug", "framework", "sourceAvailable", "installable", "supersedesId"),
    ),
    Table(
        "benchmark_runs",
        "runDigest",
        needed=("implementationId", "sourceId"),
        stated=("publishedAt",),
        runs=True,
    ),
    Table("measurements", parent="runId", needed=("metric", "statistic", "unit")),
    Table("record_events", counted=True),
    Table("artifacts", needed=("contentDigest", "kind", "uri"), stated=("createdAt", "storage")),
    Table(
        "model_revisions",
        "modelDigest",
        kinds=("ModelRevision",),
        stated=("createdAt", "slug", "parameterCount", "contextLength", "tokenizer", "license"),
    ),
    Table(
        "serving_stack_revisions",
        "stackDigest",
        kinds=("ServingStackRevision",),
        stated=("createdAt", "slug", "name"),
    ),
    Table(
        "serving_configurations",
        "configurationDigest",
        kinds=("ServingConfiguration",),
        stated=("createdAt", "summary", "quantization", "tensorParallel"),
    ),
    Table("serving_workloads", "workloadDigest", kinds=("ServingWorkload",), stated=("createdAt", "slug")),
    Table(
        "serving_runs",
        "runDigest",
        needed=("sourceId",),
        kinds=("ServingRun",),
        stated=("createdAt", "publishedAt", "cohortKey", "protocolKey", "metricSetKey"),
        runs=True,
    ),
    Table("serving_measurements", parent="runId", needed=("metric", "statistic", "unit")),
)
TABLES: Final = {table.name: table for table in _TABLES}
"""By name, in an order in which what is referred to comes first."""

LONGEST_STATED: Final = 2_000
"""A column that is kept as it stands may be this long, in characters."""


def fault(table: Table, row: Row) -> str | None:
    """What a row lacks to be looked at, in words; None where nothing."""
    return next(_faults(table, row), None)


def _faults(table: Table, row: Row) -> Iterator[str]:
    ids = [name for name in table.needed if name.endswith("Id")]
    for name in (*(["id"] if table.has_id else []), *([table.parent] if table.parent else []), *ids):
        if not is_id(row.get(name)):
            yield f"{name} is no UUID"
    for name in table.needed:
        value = row.get(name)
        if not isinstance(value, str) or not value or "\0" in value:
            yield f"{name} is no text"
    manifest = row.get("manifest")
    if table.kinds and not (isinstance(manifest, dict) and manifest.get("kind") in table.kinds):
        yield f"manifest is no {' or '.join(table.kinds)}"
    if table.name == "benchmark_runs" and not _has_three(manifest):
        yield "manifest has no run, protocol and environment"


def _has_three(manifest: Any) -> bool:
    kinds = {"run": "BenchmarkRun", "protocol": "BenchmarkProtocol", "environment": "ExecutionEnvironment"}
    return isinstance(manifest, dict) and all(
        isinstance(manifest.get(name), dict) and manifest[name].get("kind") == kind for name, kind in kinds.items()
    )


def is_id(value: Any) -> bool:
    """Whether this is a UUID in its usual spelling."""
    if not isinstance(value, str) or len(value) != 36:
        return False
    try:
        return str(UUID(value)) == value
    except ValueError:
        return False


def stated(table: Table, row: Row) -> dict[str, Any]:
    """The columns of a row that are kept as they stand: short text, numbers, and lists of short text."""
    return {name: row[name] for name in table.stated if _keepable(row.get(name))}


def _keepable(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) <= 100 and all(isinstance(item, str) and _keepable(item) for item in value)
    if isinstance(value, str):
        return len(value) <= LONGEST_STATED and "\0" not in value
    return isinstance(value, bool | int | float)
