"""Every published sample comes out with the digest and the keys that the public index gives it."""

from typing import Any

import pytest

from runs.manifests.keys import comparison_key, correctness_key, metric_key, primary_measurement
from runs.manifests.manifest import API_VERSION, Manifest, parse_manifest
from tests.shared_data import export_rows, liger_vectors, needs_shared

pytestmark = needs_shared

DIGEST_COLUMNS = {
    "operations": "semanticDigest",
    "workloads": "workloadDigest",
    "implementations": "implementationDigest",
    "model_revisions": "modelDigest",
    "serving_stack_revisions": "stackDigest",
    "serving_configurations": "configurationDigest",
    "serving_workloads": "workloadDigest",
    "serving_runs": "runDigest",
}


def parsed(kind: str, spec: dict[str, Any]) -> Manifest:
    return parse_manifest({"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": "sample"}, "spec": spec})


@pytest.mark.parametrize(
    ("table", "kind", "count"),
    [
        ("operations", "OperationSpec", 35),
        ("protocols", "BenchmarkProtocol", 3),
        ("environments", "ExecutionEnvironment", 6),
        ("projects", "SoftwareProject", 5),
    ],
)
def test_the_subjects_of_the_liger_benchmarks_have_their_published_digests(table, kind, count):
    records = liger_vectors()[table]
    assert len(records) == count
    for record in records.values():
        assert parsed(kind, record["spec"]).digest == record["digest"]


def test_the_liger_samples_have_their_published_digests_and_comparison_keys():
    samples = liger_vectors()["samples"]
    assert len(samples) == 39
    for sample in samples:
        workload = parsed("WorkloadCase", sample["workload"]["spec"])
        assert workload.digest == sample["workload"]["digest"]
        implementation = parsed("ImplementationRevision", sample["implementation"]["spec"])
        assert implementation.digest == sample["implementation"]["digest"]
        run = parse_manifest(sample["run"]["manifest"])
        assert run.digest == sample["run"]["digest"]
        assert run.document() == sample["run"]["manifest"]
        spec = sample["run"]["manifest"]["spec"]
        assert (
            comparison_key(
                operation=sample["workload"]["spec"]["operationSpecDigest"],
                workload=workload.digest,
                protocol=spec["protocolDigest"],
                environment=spec["environmentDigest"],
                correctness=correctness_key(sample["workload"]["spec"]),
                metric=metric_key(primary_measurement(spec)),
            )
            == sample["comparisonKey"]
        )


@pytest.mark.parametrize("table", DIGEST_COLUMNS)
def test_the_exported_records_have_the_digest_that_stands_beside_them(table):
    rows = export_rows(table)
    assert rows
    for row in rows:
        record = parse_manifest(row["manifest"])
        assert record.digest == row[DIGEST_COLUMNS[table]]
        assert record.document() == row["manifest"]


def test_the_exported_projects_are_valid():
    rows = export_rows("projects")
    assert rows
    for row in rows:
        assert parse_manifest(row["manifest"]).document() == row["manifest"]


def test_the_exported_runs_have_their_digests_keys_and_primary_columns():
    workloads = {row["workloadDigest"]: row["manifest"]["spec"] for row in export_rows("workloads")}
    rows = export_rows("benchmark_runs")
    assert len(rows) == 36
    for row in rows:
        run, protocol, environment = (
            parse_manifest(row["manifest"][name]) for name in ("run", "protocol", "environment")
        )
        spec = row["manifest"]["run"]["spec"]
        assert (run.digest, protocol.digest, environment.digest) == (
            row["runDigest"],
            row["protocolKey"],
            row["environmentKey"],
        )
        assert (spec["protocolDigest"], spec["environmentDigest"]) == (protocol.digest, environment.digest)
        workload = workloads[spec["workloadDigest"]]
        assert correctness_key(workload) == row["correctnessKey"]
        primary = primary_measurement(spec)
        columns = tuple(row[f"primary{name}"] for name in ("Metric", "Statistic", "Unit", "Value"))
        if primary is None:
            assert columns == ("none", None, None, None)
        else:
            assert columns == (primary.metric, primary.statistic, primary.unit, primary.value)
            assert (row["sampleCount"], row["uncertaintyLow"], row["uncertaintyHigh"]) == (
                primary.samples,
                primary.low,
                primary.high,
            )
        assert (
            comparison_key(
                operation=workload["operationSpecDigest"],
                workload=spec["workloadDigest"],
                protocol=protocol.digest,
                environment=environment.digest,
                correctness=row["correctnessKey"],
                metric=metric_key(primary),
            )
            == row["comparisonKey"]
        )
