"""From validated manifests to rows. `runs.publication` drives it, inside its one transaction."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Q

from runs import derivation, floor, outbox, projections
from runs.manifests.bundle import Record
from runs.manifests.keys import comparison_key, correctness_key, metric_key, primary_measurement
from runs.models import (
    Artifact,
    Environment,
    ExternalId,
    Implementation,
    Measurement,
    Operation,
    OperationAlias,
    Project,
    Protocol,
    Run,
    Workload,
    WorkloadAxis,
)
from runs.models.base import new_id
from runs.reading import MAX_REFUSALS, Parsed, Reading
from runs.refusals import PublicationRefused, Refusal
from runs.storage import chunks, insert


@dataclass(slots=True)
class Outcome:
    """How many records of each kind were new, and how many were there before."""

    created: Counter[str] = field(default_factory=Counter)
    existing: Counter[str] = field(default_factory=Counter)
    runs: list[UUID] = field(default_factory=list)  # of the new runs, in the bundle's order
    ids: list[UUID | None] = field(default_factory=list)  # of all records, in the bundle's order; None where refused
    new: set[UUID] = field(default_factory=set)  # of the new records
    refused: list[tuple[Record, Refusal]] = field(default_factory=list)  # where publishing in part was asked for


TABLES: dict[str, type[models.Model]] = {
    "SoftwareProject": Project,
    "OperationSpec": Operation,
    "WorkloadCase": Workload,
    "WorkloadSuite": Workload,
    "BenchmarkProtocol": Protocol,
    "ExecutionEnvironment": Environment,
    "BenchmarkRun": Run,
}


class RecordWriter:
    """One bundle on its way into the tables, inside `one_writer`. Ids of what is published are kept by digest.

    In part: a record that is refused, or refers to one that is, stays out, and the others are written. So are runs of
    an implementation at another operation than its own, which other indexes publish (as failed ones, mostly).
    """

    tables: Mapping[str, type[models.Model]] = TABLES

    def __init__(self, reading: Reading, now: datetime, *, partial: bool = False) -> None:
        self.reading = reading
        self.parsed: dict[str, list[Parsed]] = defaultdict(list)
        for item in reading.items:
            if item is not None:
                self.parsed[item.kind].append(item)
        self.now = now
        self.partial = partial
        self.outcome = Outcome(refused=list(reading.refused))
        self.ids: dict[type[models.Model], dict[str, UUID]] = defaultdict(dict)
        # An implementation's digest may belong to several entries: name -> (id, operation) for each.
        self.entries: dict[str, dict[str, tuple[UUID, UUID]]] = defaultdict(dict)
        self.operation_of: dict[UUID, UUID] = {}  # workload -> operation

    def refuse(self, code: str, item: Parsed, detail: str) -> None:
        if self.partial or len(self.outcome.refused) < MAX_REFUSALS:
            self.outcome.refused.append((item.record, Refusal(code, f"{item.kind} {item.name}", detail)))

    def id_of(self, item: Parsed) -> UUID | None:
        """The id under which a record is published, now that all are written."""
        if item.kind == "ImplementationRevision":
            found = self.entries[item.digest].get(item.entry)
            return found[0] if found else None
        return self.ids[self.tables[item.kind]].get(item.digest)

    def finish(self) -> Outcome:
        """What became of the records. Raises PublicationRefused for any that was refused, unless in part."""
        if self.outcome.refused and not self.partial:
            raise PublicationRefused([refusal for _, refusal in self.outcome.refused])
        self.outcome.ids = [self.id_of(item) if item else None for item in self.reading.items]
        return self.outcome

    def items(self, *kinds: str) -> list[Parsed]:
        return [item for kind in kinds for item in self.parsed.get(kind, ())]

    def look_up(self, model: type[models.Model], digests: Iterable[str]) -> None:
        """Learn the ids of what is published already."""
        missing = set(digests) - self.ids[model].keys()
        for chunk in chunks(missing):
            self.ids[model].update(model._default_manager.filter(digest__in=chunk).values_list("digest", "id"))

    def refer(self, model: type[models.Model], item: Parsed, name: str) -> UUID | None:
        """The id behind a reference of the item's spec, or a refusal."""
        digest = item.spec[name]
        found = self.ids[model].get(digest)
        if found is None:
            self.refuse("MISSING_REFERENCE", item, f"{name} is {digest}.")
        return found

    def row(self, item: Parsed, columns: Mapping[str, Any]) -> dict[str, Any]:
        self.outcome.created[item.kind] += 1
        id_ = new_id()
        self.outcome.new.add(id_)
        return {
            "id": id_,
            "digest": item.digest,
            "canonical": item.canonical,
            "metadata": item.metadata,
            "published_at": self.now,
            **columns,
        }

    def new(self, model: type[models.Model], items: Sequence[Parsed]) -> list[Parsed]:
        """The items that are not published yet, each digest once."""
        self.look_up(model, (item.digest for item in items))
        fresh = {item.digest: item for item in items if item.digest not in self.ids[model]}
        for item in items:
            self.outcome.existing[item.kind] += item.digest not in fresh
        return list(fresh.values())

    def save(self, model: type[models.Model], rows: list[dict[str, Any]]) -> None:
        insert(model, rows)
        self.ids[model].update((row["digest"], row["id"]) for row in rows)

    def slugs(self, model: type[models.Model], items: Sequence[Parsed]) -> list[str]:
        """A slug for each item: its name, or where another record has that, its name and the start of its digest."""
        wanted = [derivation.slugify(item.name)[:180] for item in items]
        taken: set[str] = set()
        for chunk in chunks(set(wanted)):
            taken.update(model._default_manager.filter(slug__in=chunk).values_list("slug", flat=True))
        slugs = []
        for slug, item in zip(wanted, items, strict=True):
            free = slug if slug not in taken else f"{slug}-{item.digest[7:19]}"
            taken.add(free)
            slugs.append(free)
        return slugs

    def named(self, model: type[models.Model], kind: str, derive: Callable[..., derivation.Columns]) -> None:
        items = self.new(model, self.items(kind))
        slugs = self.slugs(model, items)
        self.save(
            model,
            [
                self.row(item, {"slug": slug, **derive(item.spec, item.metadata)})
                for slug, item in zip(slugs, items, strict=True)
            ],
        )

    def plain(self, model: type[models.Model], kind: str, derive: Callable[..., derivation.Columns]) -> None:
        items = self.new(model, self.items(kind))
        self.save(model, [self.row(item, derive(item.spec, item.metadata)) for item in items])

    def aliases(self) -> None:
        wanted = {
            (self.ids[Operation][item.digest], alias)
            for item in self.items("OperationSpec")
            for alias in item.record.aliases
        }
        ids = [operation for operation, _ in wanted]
        for chunk in chunks(ids):
            wanted -= set(OperationAlias.objects.filter(operation__in=chunk).values_list("operation_id", "alias"))
        rows = [{"id": new_id(), "operation_id": operation, "alias": alias} for operation, alias in sorted(wanted)]
        insert(OperationAlias, rows)

    def workloads(self) -> None:
        items = self.items("WorkloadCase", "WorkloadSuite")
        self.look_up(Operation, (item.spec["operationSpecDigest"] for item in items))
        rows, axes = [], []
        for item in self.new(Workload, items):
            operation = self.refer(Operation, item, "operationSpecDigest")
            if operation:
                columns = derivation.workload(item.kind, item.spec)
                rows.append(self.row(item, {"operation_id": operation, **columns}))
                axes += derivation.axes(rows[-1]["id"], item.spec)
        self.save(Workload, rows)
        insert(WorkloadAxis, axes)

    def learn_entries(self, digests: Iterable[str]) -> None:
        for chunk in chunks(set(digests)):
            known = Implementation.objects.filter(digest__in=chunk).values_list("digest", "name", "id", "operation_id")
            for digest, name, id_, operation in known:
                self.entries[digest][name] = (id_, operation)

    def implementations(self) -> None:
        items = self.items("ImplementationRevision")
        self.learn_entries(item.digest for item in items)
        self.look_up(Operation, (item.spec["operation"]["specDigest"] for item in items))
        named = {item.record.project for item in items}
        found = Project.objects.filter(Q(slug__in=named) | Q(digest__in=named)).values_list("slug", "digest", "id")
        projects = {key: id_ for slug, digest, id_ in found for key in (slug, digest)}
        fresh = {(item.digest, item.entry): item for item in items if item.entry not in self.entries[item.digest]}
        self.outcome.existing["ImplementationRevision"] += len(items) - len(fresh)
        rows = []
        for slug, item in zip(self.slugs(Implementation, list(fresh.values())), fresh.values(), strict=True):
            operation = self.ids[Operation].get(digest := item.spec["operation"]["specDigest"])
            project = projects.get(item.record.project) if item.record.project else None
            if operation is None:
                self.refuse("MISSING_REFERENCE", item, f"operation.specDigest is {digest}.")
            elif item.record.project and project is None:
                self.refuse("MISSING_REFERENCE", item, f"Its project is {item.record.project}.")
            else:
                columns = {"operation_id": operation, "project_id": project, "slug": slug, "name": item.entry}
                columns |= derivation.implementation(item.spec, item.metadata)
                rows.append(self.row(item, columns))
                self.entries[item.digest][item.entry] = (rows[-1]["id"], operation)
        insert(Implementation, rows)

    def entry(self, item: Parsed) -> tuple[UUID, UUID] | None:
        """The implementation entry that a run means, with its operation."""
        entries = self.entries.get(digest := item.spec["implementationDigest"], {})
        name = item.record.implementation
        if name is not None and name in entries:
            return entries[name]
        if not entries or name is not None:
            self.refuse("MISSING_REFERENCE", item, f"implementationDigest is {digest}{f' ({name})' if name else ''}.")
        elif len(entries) > 1:
            self.refuse("AMBIGUOUS_REFERENCE", item, f"Its implementation is one of {', '.join(sorted(entries))}.")
        else:
            return next(iter(entries.values()))
        return None

    def runs(self, source: UUID, snapshot: UUID | None, illustrative: bool) -> None:
        items = self.new(Run, self.items("BenchmarkRun"))
        self.learn_entries(item.spec["implementationDigest"] for item in items)
        for model, name in ((Workload, "workload"), (Protocol, "protocol"), (Environment, "environment")):
            self.look_up(model, (item.spec[f"{name}Digest"] for item in items))
        workloads = {item.spec["workloadDigest"] for item in items}
        facts: dict[UUID, tuple[UUID, str, str]] = {}  # workload -> operation, its digest, correctness key
        for chunk in chunks(workloads):
            known = Workload.objects.filter(digest__in=chunk).select_related("operation")
            for workload in known.only("id", "canonical", "operation__digest"):
                key = correctness_key(json.loads(workload.canonical)["spec"])
                facts[workload.id] = (workload.operation_id, workload.operation.digest, key)
        hardware = {
            id_: slug
            for chunk in chunks({item.spec["environmentDigest"] for item in items})
            for id_, slug in Environment.objects.filter(digest__in=chunk).values_list("id", "hardware")
        }
        rows, measured, named, files = [], [], [], []
        groups: dict[str, projections.GroupFacts] = {}
        for item in items:
            spec = item.spec
            entry = self.entry(item)
            workload_id = self.refer(Workload, item, "workloadDigest")
            protocol_id = self.refer(Protocol, item, "protocolDigest")
            environment_id = self.refer(Environment, item, "environmentDigest")
            if not (entry and workload_id and protocol_id and environment_id):
                continue
            operation_id, operation_digest, correctness = facts[workload_id]
            if entry[1] != operation_id and not self.partial:
                self.refuse("REFERENCE_MISMATCH", item, "Its implementation computes another operation.")
                continue
            columns = derivation.run(spec)
            metric = metric_key(primary_measurement(spec))
            key = comparison_key(
                operation=operation_digest,
                workload=spec["workloadDigest"],
                protocol=spec["protocolDigest"],
                environment=spec["environmentDigest"],
                correctness=correctness,
                metric=metric,
            )
            row = self.row(
                item,
                {
                    "title": derivation.title(item.metadata, item.name),
                    "operation_id": operation_id,
                    "workload_id": workload_id,
                    "implementation_id": entry[0],
                    "protocol_id": protocol_id,
                    "environment_id": environment_id,
                    "source_id": source,
                    "snapshot_id": snapshot,
                    "hardware": hardware[environment_id],
                    "comparison_key": key,
                    "illustrative": illustrative,
                    **columns,
                },
            )
            rows.append(row)
            groups[key] = projections.GroupFacts(
                operation_id, workload_id, protocol_id, environment_id, correctness, metric
            )
            measured += derivation.measurements(row["id"], spec)
            files += derivation.artifacts(row["id"], spec)
            if external := spec.get("sourceNative", {}).get("externalId"):
                named.append({"id": new_id(), "run_id": row["id"], "source_id": source, "value": external})
        if self.outcome.refused and not self.partial:
            return
        self.save(Run, rows)
        insert(Measurement, measured)
        insert(Artifact, files)
        insert(ExternalId, named)
        self.outcome.runs = [row["id"] for row in rows]
        records = projections.rebuild(groups, self.now)
        if not illustrative:
            outbox.announce_runs(rows, records, self.now)
            outbox.announce_below_floor(floor.below_floor(rows), self.now)
