"""What other indexes call our records: kept beside the evidence, by publication's rules and in its transactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from django.db import models

from runs.models import (
    ExternalRecord,
    Implementation,
    ModelRevision,
    NamedFile,
    Operation,
    Project,
    Run,
    ServingConfiguration,
    ServingRun,
    ServingStackRevision,
    ServingWorkload,
    Source,
    Workload,
)
from runs.models.base import new_id
from runs.storage import chunks, insert, one_writer

MODELS: Final[dict[str, type[models.Model]]] = {
    "sources": Source,
    "projects": Project,
    "operations": Operation,
    "workloads": Workload,
    "implementations": Implementation,
    "benchmark_runs": Run,
    "artifacts": NamedFile,
    "model_revisions": ModelRevision,
    "serving_stack_revisions": ServingStackRevision,
    "serving_configurations": ServingConfiguration,
    "serving_workloads": ServingWorkload,
    "serving_runs": ServingRun,
}
"""The tables of an export whose rows have an id, and ours."""


def known(table: str, ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """The records here that rows of a table are, by their ids there."""
    found: dict[UUID, UUID] = {}
    for chunk in chunks(set(ids)):
        rows = ExternalRecord.objects.filter(export_table=table, external_id__in=chunk)
        found.update(rows.values_list("external_id", "record"))
    return found


def keep(table: str, entries: Sequence[tuple[UUID, UUID, Mapping[str, Any]]]) -> list[tuple[UUID, UUID]]:
    """Keep external id, record and stated columns of rows, each id once.

    Returns external id and record of those whose id means another record here already: the first meaning stays.
    """
    with one_writer():
        before = known(table, (external for external, _, _ in entries))
        fresh = {external: (record, stated) for external, record, stated in entries if external not in before}
        insert(
            ExternalRecord,
            [
                {
                    "id": new_id(),
                    "export_table": table,
                    "external_id": external,
                    "record": record,
                    "stated": dict(stated),
                }
                for external, (record, stated) in fresh.items()
            ],
        )
    return [(external, record) for external, record, _ in entries if before.get(external, record) != record]


def publish_files(files: Sequence[Mapping[str, Any]]) -> list[tuple[UUID, bool]]:
    """Publish what is said of files; the id of each, and whether it is new. Rows are columns of NamedFile."""
    with one_writer():
        wanted = {_identity(row): row for row in files}
        ids: dict[tuple[str, str, str], UUID] = {}
        for chunk in chunks({row["digest"] for row in files}):
            for digest, uri, kind, id_ in NamedFile.objects.filter(digest__in=chunk).values_list(
                "digest", "uri", "kind", "id"
            ):
                ids[digest, uri, kind] = id_
        rows = [{"id": new_id(), **row} for identity, row in wanted.items() if identity not in ids]
        insert(NamedFile, rows)
        new = {_identity(row): row["id"] for row in rows}
    return [(new[identity], True) if identity in new else (ids[identity], False) for identity in map(_identity, files)]


def _identity(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["digest"], row["uri"], row["kind"]
