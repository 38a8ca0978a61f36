"""Runs, kernel and serving, as rows of an export."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from uuid import UUID

from django.db import models

from runs.export_rows import (
    API_VERSION,
    Emit,
    Ids,
    Row,
    Stated,
    availability,
    batches,
    dated,
    envelope,
    instant,
    part_id,
)
from runs.models import (
    ComparisonGroup,
    ModelRevision,
    Run,
    ServingConfiguration,
    ServingRun,
    ServingStackRevision,
    ServingWorkload,
)
from runs.policy.level import EvidenceLevel
from runs.sources.catalog.build import RENAMED

_LEVELS: Final = {level.slug: level for level in EvidenceLevel}


def _kernel_runs() -> models.QuerySet[Run]:
    """What is exported: made-up runs are no evidence, and of a removed one nothing is left."""
    return Run.objects.filter(illustrative=False).exclude(canonical="")


def runs(ids: Ids) -> Emit:
    related = ("protocol", "environment", "implementation", "retraction", "evidence_level", "published_by")
    had: dict[UUID, Row] = {}  # what can be had of an implementation, by its id
    for batch in batches(_kernel_runs().select_related(*related)):
        named = ids.of("benchmark_runs", [run.id for run in batch])
        workloads = ids.ids("workloads", [run.workload_id for run in batch])
        entries = ids.of("implementations", [run.implementation_id for run in batch])
        sources = ids.ids("sources", [run.source_id for run in batch])
        keys = dict(
            ComparisonGroup.objects.filter(key__in={run.comparison_key for run in batch}).values_list(
                "key", "correctness_key"
            )
        )
        former = _former(Run, batch, ids, "benchmark_runs")
        for run in batch:
            external, stated = named[run.id]
            manifest = {
                "run": envelope(run),
                "protocol": envelope(run.protocol),
                "environment": envelope(run.environment),
            }
            entry = run.implementation
            if entry.id not in had:
                had[entry.id] = availability(envelope(entry)["spec"], entries[entry.id][1])
            yield (
                "benchmark_runs",
                {
                    "id": external,
                    "runDigest": run.digest,
                    "implementationId": entries[entry.id][0],
                    "workloadId": workloads[run.workload_id],
                    "sourceId": sources[run.source_id],
                    "status": run.status,
                    "observedAt": instant(run.observed_at),
                    "publishedAt": dated(run, stated, "publishedAt"),
                    **_environment(run, manifest),
                    "correctnessKey": keys[run.comparison_key],
                    "comparisonKey": run.comparison_key,
                    "primaryMetric": run.metric or "none",
                    "primaryValue": _number(run.value),
                    "primaryUnit": run.unit or None,
                    "sampleCount": run.samples,
                    "uncertaintyLow": _number(run.low),
                    "uncertaintyHigh": _number(run.high),
                    **_evidence(run),
                    **had[entry.id],
                    "licenseExpression": entry.license or None,
                    "primaryStatistic": run.statistic or None,
                    "hasRawEvidence": bool(manifest["run"]["spec"].get("evidence")),
                    "sourceNative": run.source_native,
                    "manifest": manifest,
                    "supersedesId": former.get(run.id),
                    **_retraction(getattr(run, "retraction", None)),
                },
            )


def _environment(run: Run, manifest: Mapping[str, Any]) -> Row:
    spec = manifest["environment"]["spec"]
    software = spec["software"]
    framework = software.get("framework")
    words = (
        f"CUDA {software['cudaToolkit']}" if "cudaToolkit" in software else "",
        f"{framework['name']} {framework['version']}" if framework else "",
        run.protocol.harness,
    )
    return {
        "hardwareVendor": run.environment.vendor,
        "hardwareModel": run.environment.product,
        "hardwareArchitecture": run.environment.architecture,
        "driverMajor": _major(software.get("driver")),
        "cudaMajor": _major(software.get("cudaToolkit")),
        "protocolKey": run.protocol.digest,
        "environmentKey": run.environment.digest,
        "environmentSummary": " · ".join(filter(None, words)),
    }


def _evidence(run: Run) -> Row:
    derived = getattr(run, "evidence_level", None)
    level = _LEVELS[derived.level] if derived else EvidenceLevel.REPORTED
    return {
        "reported": getattr(run, "published_by", None) is None,
        "reproducedByKernelindex": level >= EvidenceLevel.VERIFIED,
        "independentReplicationCount": int(level),
    }


def _retraction(retraction: Any) -> Row:
    return {
        "retractedAt": instant(retraction.at) if retraction else None,
        "retractionReason": retraction.reason if retraction else None,
    }


def _former(model: type[Any], batch: list[Any], ids: Ids, table: str) -> dict[Any, str]:
    """Ids of the runs that these runs supersede; where there are several, the first by id."""
    how = "supersession" if model is Run else "withdrawal"
    pairs = model.objects.filter(**{f"{how}__successor__in": batch}).values_list(f"{how}__successor", "id")
    found = list(pairs)
    named = ids.of(table, [id_ for _, id_ in found])
    former: dict[Any, str] = {}
    for successor, id_ in found:
        former[successor] = min(named[id_][0], former.get(successor, named[id_][0]))
    return former


def figures(ids: Ids) -> Emit:
    """The figures of the kernel runs, each under its run's id."""
    for batch in batches(_kernel_runs().only("id", "digest", "canonical", "metadata")):
        named = ids.of("benchmark_runs", [run.id for run in batch])
        for run in batch:
            yield from _figures("measurements", named[run.id][0], envelope(run)["spec"])


def _figures(table: str, run_id: str, spec: Mapping[str, Any]) -> Emit:
    timing = spec.get("timing", {})
    listed = [
        {"metric": "latency", "statistic": RENAMED.get(name, name), "unit": "ns", "value": value}
        | ({"sampleCount": timing["samples"]} if "samples" in timing else {})
        for name, value in timing.get("latencyNs", {}).items()
        if name != "confidence95"
    ]
    for place, entry in enumerate([*listed, *_listed(spec)]):
        yield (
            table,
            {
                "id": part_id(table, run_id, place),
                "runId": run_id,
                "metric": entry["metric"],
                "statistic": entry["statistic"],
                "unit": entry["unit"],
                "value": entry["value"],
                "sampleCount": entry.get("sampleCount"),
            },
        )


def _listed(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The measurements that a spec lists; of a serving spec, those that are written as measurements are."""
    listed = spec.get("measurements")
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, Mapping) and all(entry.get(name) for name in ("metric", "statistic", "unit")):
            yield entry


def serving_subjects(ids: Ids) -> Emit:
    def model(row: ModelRevision, external: str, stated: Stated) -> Row:
        return {
            "id": external,
            "slug": stated.get("slug") or row.metadata.get("name"),
            "modelDigest": row.digest,
            "name": row.name,
            **{name: stated.get(name) for name in ("parameterCount", "contextLength", "tokenizer", "license")},
            **_manifest(row, stated),
        }

    yield from _emitted("model_revisions", ids, ModelRevision.objects.all(), model)
    for batch in batches(ServingStackRevision.objects.all()):
        named = ids.of("serving_stack_revisions", [row.id for row in batch])
        makers = ids.ids("projects", [row.project_id for row in batch if row.project_id])
        for row in batch:
            external, stated = named[row.id]
            revision = envelope(row)["spec"].get("revision")
            yield (
                "serving_stack_revisions",
                {
                    "id": external,
                    "projectId": makers[row.project_id] if row.project_id else None,
                    "slug": stated.get("slug") or row.metadata.get("name"),
                    "stackDigest": row.digest,
                    "name": stated.get("name") or row.name,
                    "version": revision.get("version") if isinstance(revision, Mapping) else None,
                    **_manifest(row, stated),
                },
            )
    yield from _configurations(ids)

    def workload(row: ServingWorkload, external: str, stated: Stated) -> Row:
        spec = envelope(row)["spec"]
        return {
            "id": external,
            "workloadDigest": row.digest,
            "slug": stated.get("slug") or row.metadata.get("name"),
            "name": row.name,
            "streaming": spec.get("streaming"),
            "loadGeneration": spec.get("loadGeneration"),
            **_manifest(row, stated),
        }

    yield from _emitted("serving_workloads", ids, ServingWorkload.objects.all(), workload)


def _emitted(table: str, ids: Ids, rows: models.QuerySet[Any], make: Callable[[Any, str, Stated], Row]) -> Emit:
    for batch in batches(rows):
        named = ids.of(table, [row.id for row in batch])
        for row in batch:
            yield table, make(row, *named[row.id])


def _manifest(row: Any, stated: Stated) -> Row:
    return {"schemaVersion": API_VERSION, "manifest": envelope(row), "createdAt": dated(row, stated)}


def _configurations(ids: Ids) -> Emit:
    for batch in batches(ServingConfiguration.objects.all()):
        named = ids.of("serving_configurations", [row.id for row in batch])
        stacks = ids.ids("serving_stack_revisions", [row.stack_id for row in batch])
        for row in batch:
            external, stated = named[row.id]
            yield (
                "serving_configurations",
                {
                    "id": external,
                    "stackRevisionId": stacks[row.stack_id],
                    "configurationDigest": row.digest,
                    "dtype": envelope(row)["spec"].get("dtype"),
                    "quantization": stated.get("quantization"),
                    "tensorParallel": stated.get("tensorParallel"),
                    "summary": stated.get("summary") or row.name,
                    **_manifest(row, stated),
                },
            )


def serving_runs(ids: Ids) -> Emit:
    for batch in batches(ServingRun.objects.select_related("withdrawal")):
        named = ids.of("serving_runs", [run.id for run in batch])
        references = {
            "modelRevisionId": ids.ids("model_revisions", [run.model_id for run in batch]),
            "configurationId": ids.ids("serving_configurations", [run.configuration_id for run in batch]),
            "workloadId": ids.ids("serving_workloads", [run.workload_id for run in batch]),
            "sourceId": ids.ids("sources", [run.source_id for run in batch]),
        }
        former = _former(ServingRun, batch, ids, "serving_runs")
        for run in batch:
            external, stated = named[run.id]
            owners = (run.model_id, run.configuration_id, run.workload_id, run.source_id)
            withdrawal = getattr(run, "withdrawal", None)
            yield (
                "serving_runs",
                {
                    "id": external,
                    "runDigest": run.digest,
                    **{name: of[owner] for (name, of), owner in zip(references.items(), owners, strict=True)},
                    "status": run.status or None,
                    "observedAt": instant(run.observed_at),
                    "publishedAt": dated(run, stated, "publishedAt"),
                    **{name: stated.get(name) for name in ("cohortKey", "protocolKey", "metricSetKey")},
                    **_topology(envelope(run)["spec"]),
                    "totalAccelerators": run.accelerators,
                    "reported": True,
                    **_manifest(run, stated),
                    "supersedesId": former.get(run.id),
                    **_retraction(withdrawal if withdrawal and withdrawal.successor_id is None else None),
                },
            )


def _topology(spec: Mapping[str, Any]) -> Row:
    topology, native = spec.get("topology"), spec.get("sourceNative")
    topology = topology if isinstance(topology, Mapping) else {}
    return {
        "qualityPolicy": spec.get("qualityPolicy"),
        "scenario": native.get("scenario") if isinstance(native, Mapping) else None,
        "acceleratorVendor": topology.get("acceleratorVendor"),
        "acceleratorModel": topology.get("acceleratorModel"),
        "acceleratorCount": topology.get("acceleratorsPerNode"),
        "nodeCount": topology.get("nodeCount"),
    }


def serving_figures(ids: Ids) -> Emit:
    for batch in batches(ServingRun.objects.only("id", "digest", "canonical", "metadata")):
        named = ids.of("serving_runs", [run.id for run in batch])
        for run in batch:
            yield from _figures("serving_measurements", named[run.id][0], {**envelope(run)["spec"], "timing": {}})


def _major(version: Any) -> int | None:
    first = version.partition(".")[0] if isinstance(version, str) else ""
    return int(first) if first.isascii() and first.isdigit() and len(first) <= 6 else None


def _number(value: float | None) -> float | int | None:
    """A figure as RFC 8785 writes it: a whole number without a fraction."""
    return int(value) if value is not None and value.is_integer() and abs(value) < 2**53 else value
