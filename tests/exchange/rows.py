"""Exports to test with: the rows that another index would write of a bundle, and of serving runs."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import zstandard

from runs.manifests.bundle import Bundle
from runs.manifests.canonical import manifest_digest
from runs.manifests.keys import comparison_key, correctness_key, metric_key, primary_measurement

API = "kernelindex.dev/v1alpha1"
Entry = dict[str, Any]
AT = "2026-08-15T02:11:52.743Z"
_ORDER = (
    "sources",
    "projects",
    "operations",
    "operation_aliases",
    "workloads",
    "implementations",
    "benchmark_runs",
    "measurements",
    "record_events",
    "artifacts",
    "model_revisions",
    "serving_stack_revisions",
    "serving_configurations",
    "serving_workloads",
    "serving_runs",
    "serving_measurements",
)


def id_of(table: str, name: object) -> str:
    return str(uuid5(NAMESPACE_URL, f"another-index:{table}/{name}"))


def export_of(bundle: Bundle) -> list[Entry]:
    """What an index that publishes this bundle exports."""
    records = {manifest_digest(record.manifest): record for record in bundle.records}
    by_kind: dict[str, list[tuple[str, Any]]] = {}
    for digest, record in records.items():
        by_kind.setdefault(record.manifest["kind"], []).append((digest, record))
    source = bundle.source
    policy = {name: getattr(source, name) for name in ("url", "license", "attribution", "terms")}
    rows: list[Entry] = []

    def add(table: str, **row: Any) -> None:
        rows.append({"table": table, "row": row})

    add(
        "sources",
        id=id_of("sources", source.slug),
        slug=source.slug,
        kind=source.kind,
        name=source.name,
        policy={name: value for name, value in policy.items() if value},
        createdAt=AT,
    )
    for _, record in by_kind.get("SoftwareProject", ()):
        name = record.manifest["metadata"]["name"]
        add("projects", id=id_of("projects", name), slug=name, name=name, manifest=record.manifest, createdAt=AT)
    for digest, record in by_kind.get("OperationSpec", ()):
        operation = id_of("operations", digest)
        add("operations", id=operation, semanticDigest=digest, manifest=record.manifest, tags=["a-tag"], createdAt=AT)
        for alias in record.aliases:
            add("operation_aliases", operationId=operation, alias=alias)
    for kind in ("WorkloadCase", "WorkloadSuite"):
        for digest, record in by_kind.get(kind, ()):
            operation = id_of("operations", record.manifest["spec"]["operationSpecDigest"])
            add(
                "workloads",
                id=id_of("workloads", digest),
                operationId=operation,
                workloadDigest=digest,
                manifest=record.manifest,
            )
    for digest, record in by_kind.get("ImplementationRevision", ()):
        name = record.manifest["metadata"]["name"]
        add(
            "implementations",
            id=id_of("implementations", name),
            projectId=id_of("projects", record.project) if record.project else None,
            operationId=id_of("operations", record.manifest["spec"]["operation"]["specDigest"]),
            slug=f"slug-of-{name}",
            implementationDigest=digest,
            manifest=record.manifest,
            createdAt=AT,
        )
    names = {digest: record.manifest["metadata"]["name"] for digest, record in by_kind["ImplementationRevision"]}
    for digest, record in by_kind.get("BenchmarkRun", ()):
        rows += _run(digest, record, records, names, source.slug)
    return _finished(rows)


def _finished(rows: list[Entry]) -> list[Entry]:
    """The rows by table, none of which a test shares with another, each with the date that it was created at."""
    for entry in rows:
        if entry["table"] not in ("operation_aliases", "benchmark_runs", "measurements", "serving_measurements"):
            entry["row"].setdefault("createdAt", AT)
    return copy.deepcopy(sorted(rows, key=lambda entry: _ORDER.index(entry["table"])))


def _run(digest: str, record: Any, records: dict[str, Any], names: dict[str, str], source: str) -> list[Entry]:
    spec = record.manifest["spec"]
    workload = records[spec["workloadDigest"]].manifest["spec"]
    correctness, primary = correctness_key(workload), primary_measurement(spec)
    run_id = id_of("benchmark_runs", digest)
    row = {
        "id": run_id,
        "runDigest": digest,
        "implementationId": id_of("implementations", record.implementation or names[spec["implementationDigest"]]),
        "workloadId": id_of("workloads", spec["workloadDigest"]),
        "sourceId": id_of("sources", source),
        "status": spec["status"],
        "observedAt": spec["observedAt"],
        "publishedAt": AT,
        "protocolKey": spec["protocolDigest"],
        "environmentKey": spec["environmentDigest"],
        "correctnessKey": correctness,
        "comparisonKey": comparison_key(
            operation=workload["operationSpecDigest"],
            workload=spec["workloadDigest"],
            protocol=spec["protocolDigest"],
            environment=spec["environmentDigest"],
            correctness=correctness,
            metric=metric_key(primary),
        ),
        "primaryMetric": primary.metric if primary else "none",
        "primaryStatistic": primary.statistic if primary else None,
        "primaryUnit": primary.unit if primary else None,
        "primaryValue": primary.value if primary else None,
        "sampleCount": primary.samples if primary else None,
        "uncertaintyLow": primary.low if primary else None,
        "uncertaintyHigh": primary.high if primary else None,
        "sourceNative": "sourceNative" in spec,
        "manifest": {
            "run": record.manifest,
            "protocol": records[spec["protocolDigest"]].manifest,
            "environment": records[spec["environmentDigest"]].manifest,
        },
        "supersedesId": None,
        "retractedAt": None,
        "retractionReason": None,
    }
    figures = [("latency", name, "ns", value) for name, value in spec.get("timing", {}).get("latencyNs", {}).items()]
    figures += [
        (each["metric"], each["statistic"], each["unit"], each["value"]) for each in spec.get("measurements", ())
    ]
    measured = [
        {
            "table": "measurements",
            "row": {
                "id": id_of("measurements", (digest, place)),
                "runId": run_id,
                "metric": metric,
                "statistic": statistic,
                "unit": unit,
                "value": value,
                "sampleCount": None,
            },
        }
        for place, (metric, statistic, unit, value) in enumerate(figures)
    ]
    return [{"table": "benchmark_runs", "row": row}, *measured]


def manifest(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, "title": name.replace("-", " ")}, "spec": spec}


def serving(count: int = 2, source: str = "a-serving-benchmark") -> list[Entry]:
    """Serving runs of one configuration, with all that they refer to."""
    model = manifest("ModelRevision", "a-model-70b", {"model": "A model 70B"})
    stack = manifest("ServingStackRevision", "a-stack", {"project": {"name": "A server"}, "revision": {"version": "1"}})
    configuration = manifest(
        "ServingConfiguration", "a-setup", {"dtype": "fp8", "stackDigest": manifest_digest(stack), "options": {"tp": 8}}
    )
    workload = manifest("ServingWorkload", "a-load", {"streaming": True, "loadGeneration": "open_loop"})
    rows = [
        {
            "table": "sources",
            "row": {"id": id_of("sources", source), "slug": source, "kind": "benchmark", "name": "A serving benchmark"},
        }
    ]
    ids = {}
    for table, column, record in (
        ("model_revisions", "modelDigest", model),
        ("serving_stack_revisions", "stackDigest", stack),
        ("serving_configurations", "configurationDigest", configuration),
        ("serving_workloads", "workloadDigest", workload),
    ):
        ids[table] = id_of(table, 0)
        rows.append({"table": table, "row": {"id": ids[table], column: manifest_digest(record), "manifest": record}})
    for number in range(count):
        run = manifest(
            "ServingRun",
            f"a-serving-run-{number}",
            {
                "status": "valid",
                "modelDigest": manifest_digest(model),
                "configurationDigest": manifest_digest(configuration),
                "workloadDigest": manifest_digest(workload),
                "topology": {"acceleratorModel": "Example GPU", "acceleratorsPerNode": 8, "nodeCount": 2},
                "measurements": [
                    {"metric": "throughput", "statistic": "mean", "unit": "tokens_s", "value": 1000.5 + number}
                ],
                "observedAt": f"2026-01-{1 + number:02d}T00:00:00Z",
            },
        )
        run_id = id_of("serving_runs", number)
        rows.append(
            {
                "table": "serving_runs",
                "row": {
                    "id": run_id,
                    "runDigest": manifest_digest(run),
                    "sourceId": id_of("sources", source),
                    "publishedAt": AT,
                    "cohortKey": "a-cohort",
                    "manifest": run,
                    "supersedesId": None,
                    "retractedAt": None,
                    "retractionReason": None,
                },
            }
        )
        rows.append(
            {
                "table": "serving_measurements",
                "row": {
                    "id": id_of("serving_measurements", number),
                    "runId": run_id,
                    **run["spec"]["measurements"][0],
                    "sampleCount": None,
                },
            }
        )
    return _finished(rows)


def write(path: Path, rows: list[Entry]) -> Path:
    """An export file of these rows, compressed where its name ends in .zst."""
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    path.write_bytes(zstandard.ZstdCompressor().compress(data) if path.suffix == ".zst" else data)
    return path


def of(rows: list[Entry], table: str) -> list[dict[str, Any]]:
    """The rows of one table."""
    return [entry["row"] for entry in rows if entry["table"] == table]


def changed(rows: list[Entry]) -> list[Entry]:
    """A copy that a test may change."""
    return copy.deepcopy(rows)
