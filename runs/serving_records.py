"""Publication of serving runs: like that of kernel runs, into tables of their own, without ranks.

The specs of these kinds are still in motion. They are kept as they are; a column is empty where a spec does not say it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils import timezone

from runs import derivation
from runs.manifests.bundle import Bundle, Record
from runs.models import (
    ModelRevision,
    Project,
    ServingConfiguration,
    ServingMeasurement,
    ServingRun,
    ServingStackRevision,
    ServingWithdrawal,
    ServingWorkload,
)
from runs.models.base import new_id
from runs.publication import source_of
from runs.reading import Parsed, parse
from runs.records import Outcome, RecordWriter
from runs.refusals import PublicationRefused, Refusal
from runs.storage import insert, one_writer

TABLES: dict[str, type[models.Model]] = {
    "ModelRevision": ModelRevision,
    "ServingStackRevision": ServingStackRevision,
    "ServingConfiguration": ServingConfiguration,
    "ServingWorkload": ServingWorkload,
    "ServingRun": ServingRun,
}


class _Writer(RecordWriter):
    tables = TABLES

    def refer(self, model: type[models.Model], item: Parsed, name: str) -> UUID | None:
        found = self.ids[model].get(str(item.spec.get(name)))
        if found is None:
            self.refuse("MISSING_REFERENCE", item, f"{name} is {str(item.spec.get(name))[:100]}.")
        return found

    def fresh(self, kind: str, **references: type[models.Model]) -> list[Parsed]:
        """The new records of a kind, after the ids of what they refer to were looked up."""
        items = self.items(kind)
        for name, model in references.items():
            self.look_up(model, (str(item.spec.get(name)) for item in items))
        return self.new(self.tables[kind], items)

    def serving_subjects(self) -> None:
        self.plain(ModelRevision, "ModelRevision", _named)
        self.stacks()
        self.configurations()
        self.plain(ServingWorkload, "ServingWorkload", _named)

    def stacks(self) -> None:
        items = self.fresh("ServingStackRevision")
        named = {item.record.project for item in items}
        found = Project.objects.filter(Q(slug__in=named) | Q(digest__in=named)).values_list("slug", "digest", "id")
        projects = {key: id_ for slug, digest, id_ in found for key in (slug, digest)}
        rows = []
        for item in items:
            project = projects.get(item.record.project or "")
            if item.record.project and project is None:
                self.refuse("MISSING_REFERENCE", item, f"Its project is {item.record.project}.")
            else:
                rows.append(self.row(item, {"name": _name(item), "project_id": project}))
        self.save(ServingStackRevision, rows)

    def configurations(self) -> None:
        rows = []
        for item in self.fresh("ServingConfiguration", stackDigest=ServingStackRevision):
            stack = self.refer(ServingStackRevision, item, "stackDigest")
            if stack:
                rows.append(self.row(item, {"name": _name(item), "stack_id": stack}))
        self.save(ServingConfiguration, rows)

    def serving_runs(self, source: UUID, snapshot: UUID | None) -> None:
        rows, figures = [], []
        references: dict[str, type[models.Model]] = {
            "modelDigest": ModelRevision,
            "configurationDigest": ServingConfiguration,
            "workloadDigest": ServingWorkload,
        }
        for item in self.fresh("ServingRun", **references):
            ids = {name: self.refer(model, item, name) for name, model in references.items()}
            if all(ids.values()):
                columns = {
                    "title": derivation.title(item.metadata, item.name),
                    "model_id": ids["modelDigest"],
                    "configuration_id": ids["configurationDigest"],
                    "workload_id": ids["workloadDigest"],
                    "source_id": source,
                    "snapshot_id": snapshot,
                    **run_columns(item.spec),
                }
                rows.append(self.row(item, columns))
                figures += measurements(rows[-1]["id"], item.spec)
        self.save(ServingRun, rows)
        insert(ServingMeasurement, figures)
        self.outcome.runs = [row["id"] for row in rows]


def publish_serving(bundle: Bundle, *, partial: bool = False) -> Outcome:
    """Publish records of the serving kinds, all or nothing, or in part. Raises PublicationRefused."""
    reading = parse(bundle.records, partial=partial, kinds=TABLES.keys())
    with one_writer():
        now = timezone.now()
        writer = _Writer(reading, now, partial=partial)
        source, snapshot = source_of(bundle, now)
        writer.serving_subjects()
        writer.serving_runs(source, snapshot)
        return writer.finish()


def publish_serving_subjects(subjects: Sequence[Record]) -> Outcome:
    """Publish records of what serving runs refer to, in part where some are refused."""
    reading = parse(subjects, partial=True, kinds=TABLES.keys() - {"ServingRun"})
    with one_writer():
        writer = _Writer(reading, timezone.now(), partial=True)
        writer.serving_subjects()
        return writer.finish()


def withdraw_serving(
    digest: str, *, reason: str, actor: str, successor: str | None = None, at: datetime | None = None
) -> ServingWithdrawal:
    """Retract a serving run, or say which published one takes its place. Raises PublicationRefused."""
    place = "serving run"
    with one_writer():
        run = ServingRun.objects.filter(digest=digest).first()
        corrected = ServingRun.objects.filter(digest=successor).first() if successor else None
        if run is None or (successor and corrected is None):
            raise PublicationRefused([Refusal("UNKNOWN_RUN", place, f"{digest if run is None else successor}.")])
        if ServingWithdrawal.objects.filter(run=run).exists():
            raise PublicationRefused([Refusal("ALREADY_RETRACTED", place, f"{digest}.")])
        if corrected == run:
            raise PublicationRefused([Refusal("SUPERSEDED_BY_ITSELF", place, f"{digest}.")])
        now = timezone.now()
        return ServingWithdrawal.objects.create(
            run=run, successor=corrected, reason=reason, actor=actor, at=min(at or now, now)
        )


def _name(item: Parsed) -> str:
    return derivation.title(item.metadata, item.name)


def _named(spec: derivation.Document, metadata: derivation.Document) -> derivation.Columns:
    return {"name": derivation.title(metadata, "unnamed")}


def run_columns(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What a list shows of a serving run, as far as its spec says it in the way that is usual today."""
    topology = spec.get("topology")
    topology = topology if isinstance(topology, Mapping) else {}
    each, nodes = topology.get("acceleratorsPerNode"), topology.get("nodeCount", 1)
    whole = all(type(count) is int and 0 <= count < 2**15 for count in (each, nodes))
    return {
        "status": _text(spec.get("status"), 40),
        "accelerator": _text(topology.get("acceleratorModel"), 200),
        "accelerators": each * nodes if whole and each else None,
        "observed_at": _instant(spec.get("observedAt")),
    }


def measurements(run_id: UUID, spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the figures that the spec lists, without those that are not written as figures usually are."""
    listed = spec.get("measurements")
    return [
        {
            "id": new_id(),
            "run_id": run_id,
            "position": position,
            "metric": entry["metric"],
            "statistic": entry.get("statistic", ""),
            "unit": entry.get("unit", ""),
            "value": float(entry["value"]),
            "samples": entry.get("sampleCount"),
        }
        for position, entry in enumerate(listed if isinstance(listed, list) else ())
        if _is_figure(entry) and position < 2**15
    ]


def _is_figure(entry: Any) -> bool:
    return (
        isinstance(entry, Mapping)
        and all(isinstance(entry.get(name, ""), str) for name in ("metric", "statistic", "unit"))
        and all(len(entry.get(name, "")) <= 100 for name in ("metric", "statistic", "unit"))
        and bool(entry.get("metric"))
        and type(entry.get("value")) in (int, float)
        and (entry.get("sampleCount") is None or type(entry["sampleCount"]) is int)
    )


def _text(value: Any, longest: int) -> str:
    return value[:longest] if isinstance(value, str) else ""


def _instant(value: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
