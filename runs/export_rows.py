"""The records as rows of an export: the tables and columns that the public index exports, from what is published here.

Rows come in the order of their digests, and hold nothing that depends on when they are exported. A record that came
from another index keeps the id and the dates that it has there; any other has an id that follows from its content.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final, TypeVar
from uuid import UUID, uuid5

from django.db import models

from runs.exchange import MODELS
from runs.manifests.order import display_order
from runs.models import (
    ExternalRecord,
    Implementation,
    NamedFile,
    Operation,
    OperationAlias,
    Project,
    Source,
    Workload,
)
from runs.storage import chunks

API_VERSION: Final = "kernelindex.dev/v1alpha1"
BATCH: Final = 500
NAMESPACE: Final = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
"""Of names that are addresses (RFC 4122): ids are those of `kernelindex:TABLE/IDENTITY`."""

Row = dict[str, Any]
Stated = Mapping[str, Any]
Emit = Iterator[tuple[str, Row]]
Record = TypeVar("Record", bound=models.Model)
# Of each table, what besides the table's name an id follows from where no other index has given one.
_IDENTITY: Final[dict[str, tuple[str, ...]]] = {
    "sources": ("slug",),
    "implementations": ("digest", "name"),
    "artifacts": ("digest", "kind", "uri"),
}


class Ids:
    """Ids that records have in an export, with what other indexes state of them."""

    def __init__(self) -> None:
        self._subjects: dict[tuple[str, UUID], tuple[str, Stated]] = {}

    def of(self, table: str, ids: Sequence[UUID], *, remember: bool = False) -> dict[UUID, tuple[str, Stated]]:
        """Id and stated columns of these records; `remember` those that many rows refer to."""
        found = {id_: self._subjects[table, id_] for id_ in ids if (table, id_) in self._subjects}
        for chunk in chunks(id_ for id_ in dict.fromkeys(ids) if id_ not in found):
            fresh = _ids(table, chunk)
            found |= fresh
            if remember:
                self._subjects |= {(table, id_): (external, {}) for id_, (external, _) in fresh.items()}
        return found

    def ids(self, table: str, ids: Sequence[UUID]) -> dict[UUID, str]:
        """The ids of records that rows refer to."""
        return {id_: external for id_, (external, _) in self.of(table, ids, remember=True).items()}


def _ids(table: str, ids: Sequence[UUID]) -> dict[UUID, tuple[str, Stated]]:
    named: dict[UUID, tuple[str, Stated]] = {}
    rows = ExternalRecord.objects.filter(export_table=table, record__in=ids)
    for record, external, stated in rows.values_list("record", "external_id", "stated"):
        if record not in named or str(external) < named[record][0]:
            named[record] = (str(external), stated)
    rest = [id_ for id_ in ids if id_ not in named]
    columns = _IDENTITY.get(table, ("digest",))
    own = MODELS[table]._default_manager.filter(id__in=rest).values_list("id", *columns)
    for id_, *identity in own:
        named[id_] = (str(uuid5(NAMESPACE, f"kernelindex:{table}/{'/'.join(map(str, identity))}")), {})
    return named


def part_id(table: str, whole: str, *place: object) -> str:
    """The id of a row that is a part of another: of a figure of a run."""
    return str(uuid5(NAMESPACE, f"kernelindex:{table}/{whole}/{'/'.join(map(str, place))}"))


def instant(at: datetime | None) -> str | None:
    """A point in time as the format writes it: UTC, in milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None


def envelope(record: Any) -> Row:
    """A published manifest as a plain document; it digests to the record's digest."""
    manifest: Row = json.loads(record.canonical)
    return {**manifest, "metadata": record.metadata}


def dated(record: Any, stated: Stated, name: str = "createdAt") -> str | None:
    """When a record was published first: as the index says that it came from, else here."""
    return stated.get(name) or instant(record.published_at)


def batches(rows: models.QuerySet[Record]) -> Iterator[list[Record]]:
    """Rows in the order of their digests, and of their names where several share one."""
    held: list[Record] = []
    ordered = rows.order_by("digest").iterator(chunk_size=BATCH)
    for _, same in groupby(ordered, key=lambda row: row.digest):  # type: ignore[attr-defined]
        held += sorted(same, key=lambda row: getattr(row, "name", ""))
        if len(held) >= BATCH:
            yield held
            held = []
    if held:
        yield held


def sources(ids: Ids) -> Emit:
    found = {source.slug: source for source in Source.objects.all()}
    named = ids.of("sources", [source.id for source in found.values()])
    for slug in sorted(found):
        source = found[slug]
        external, stated = named[source.id]
        terms = {
            "url": source.url,
            "terms": source.terms,
            "license": source.license,
            "attribution": source.attribution,
            **stated.get("policy", {}),
        }
        policy = {name: value for name, value in terms.items() if value not in ("", None)}
        yield (
            "sources",
            {
                "id": external,
                "slug": slug,
                "kind": source.kind,
                "name": source.name,
                "policy": policy or None,
                "createdAt": stated.get("createdAt") or instant(source.created_at),
            },
        )


def _emit(table: str, ids: Ids, rows: models.QuerySet[Record], make: Callable[[Record, str, Stated], Row]) -> Emit:
    for batch in batches(rows):
        named = ids.of(table, [row.pk for row in batch])
        for row in batch:
            yield table, make(row, *named[row.pk])


def projects(ids: Ids) -> Emit:
    def row(project: Project, external: str, stated: Stated) -> Row:
        name = stated.get("name") or project.name
        return {
            "id": external,
            "slug": project.slug,
            "name": name,
            "normalizedName": name.lower(),
            "canonicalUrl": project.url or None,
            "licenseExpression": None,
            "manifest": envelope(project),
            "createdAt": dated(project, stated),
        }

    return _emit("projects", ids, Project.objects.all(), row)


def operations(ids: Ids) -> Emit:
    def row(operation: Operation, external: str, stated: Stated) -> Row:
        return {
            "id": external,
            "slug": stated.get("slug") or operation.slug,
            "family": operation.family,
            "name": operation.name,
            "schemaVersion": API_VERSION,
            "semanticDigest": operation.digest,
            "manifest": envelope(operation),
            "tags": stated.get("tags", []),
            "createdAt": dated(operation, stated),
            "supersedesId": stated.get("supersedesId"),
        }

    yield from _emit("operations", ids, Operation.objects.all(), row)
    for batch in batches(Operation.objects.all()):
        named = ids.ids("operations", [operation.id for operation in batch])
        aliases: dict[UUID, list[str]] = {}
        for operation_id, alias in OperationAlias.objects.filter(operation__in=batch).values_list(
            "operation_id", "alias"
        ):
            aliases.setdefault(operation_id, []).append(alias)
        for operation in batch:
            for alias in sorted(aliases.get(operation.id, ())):
                yield "operation_aliases", {"operationId": named[operation.id], "alias": alias}


def workloads(ids: Ids) -> Emit:
    for batch in batches(Workload.objects.all()):
        named = ids.of("workloads", [workload.id for workload in batch])
        owners = ids.ids("operations", [workload.operation_id for workload in batch])
        for workload in batch:
            external, stated = named[workload.id]
            manifest = envelope(workload)
            tensors = manifest["spec"].get("tensors", {})
            first = next((tensors[name]["shape"] for name in display_order(tensors)), None)
            row = {
                "id": external,
                "operationId": owners[workload.operation_id],
                "workloadDigest": workload.digest,
                "schemaVersion": API_VERSION,
                "manifest": manifest,
                "shapeSummary": workload.summary if first is None else json.dumps(first),
                "dtypes": sorted({tensor["dtype"] for tensor in tensors.values()}),
                "layoutKeys": ["contiguous"]
                if tensors and not any("strides" in tensor for tensor in tensors.values())
                else [],
                "createdAt": dated(workload, stated),
            }
            yield "workloads", row


def implementations(ids: Ids) -> Emit:
    for batch in batches(Implementation.objects.all()):
        named = ids.of("implementations", [entry.id for entry in batch])
        owners = ids.ids("operations", [entry.operation_id for entry in batch])
        makers = ids.ids("projects", [entry.project_id for entry in batch if entry.project_id])
        for entry in batch:
            external, stated = named[entry.id]
            yield "implementations", _implementation(entry, external, stated, owners, makers)


def _implementation(
    entry: Implementation, external: str, stated: Stated, owners: Mapping[UUID, str], makers: Mapping[UUID, str]
) -> Row:
    manifest = envelope(entry)
    spec = manifest["spec"]
    install = next((variant["install"] for variant in spec.get("buildVariants", ())), None)
    return {
        "id": external,
        "projectId": makers[entry.project_id] if entry.project_id else None,
        "operationId": owners[entry.operation_id],
        "slug": stated.get("slug") or entry.slug,
        "implementationDigest": entry.digest,
        "sourceRevision": entry.revision or None,
        "language": entry.language,
        "framework": stated.get("framework"),
        "targetArchitectures": spec["support"]["hardwareArchitectures"],
        "licenseExpression": entry.license or None,
        **availability(spec, stated),
        "title": entry.title,
        "installKind": install["kind"] if install else None,
        "installCommand": install.get("command") if install else None,
        "licenseDeclared": spec["licensing"].get("declared"),
        "manifest": manifest,
        "createdAt": dated(entry, stated),
        "supersedesId": stated.get("supersedesId"),
    }


def availability(spec: Stated, stated: Stated) -> Row:
    """Whether an implementation's source can be had, and whether it can be installed."""
    had = "source" in spec or "repository" in spec["projectRevision"]
    return {
        "sourceAvailable": stated.get("sourceAvailable", had),
        "installable": stated.get("installable", bool(spec.get("buildVariants"))),
    }


def files(ids: Ids) -> Emit:
    for _, same in groupby(NamedFile.objects.order_by("digest").iterator(chunk_size=BATCH), key=lambda row: row.digest):
        rows = sorted(same, key=lambda row: (row.kind, row.uri))
        named = ids.of("artifacts", [row.id for row in rows])
        for row in rows:
            external, stated = named[row.id]
            yield (
                "artifacts",
                {
                    "id": external,
                    "contentDigest": row.digest,
                    "kind": row.kind,
                    "mediaType": row.media_type or None,
                    "sizeBytes": row.size,
                    "storage": stated.get("storage"),
                    "uri": row.uri,
                    "license": row.license or None,
                    "createdAt": stated.get("createdAt"),
                },
            )
