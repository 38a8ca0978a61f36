"""The records of the Liger source are the published ones, digest for digest."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from runs.manifests.bundle import bundle_from_document
from runs.manifests.canonical import manifest_digest
from runs.manifests.manifest import parse_manifest
from runs.sources.liger.build import build_bundle
from runs.sources.liger.layouts import LAYOUTS
from tests.shared_data import SHARED, liger_vectors, needs_shared
from tests.sources.expected import identities, manifests

DATA = Path(__file__).parent / "data"
SEED = Path(__file__).parents[2] / "runs" / "sources" / "seed" / "bundle.json"


def from_samples():
    samples = liger_vectors()["samples"]
    text = io.StringIO()
    writer = csv.DictWriter(text, samples[0]["row"])
    writer.writeheader()
    writer.writerows(sample["row"] for sample in samples)
    return build_bundle({"all_benchmark_data.csv": text.getvalue().encode()})


@needs_shared
def test_every_published_sample_comes_out_equal():
    bundle, report = from_samples()
    found = identities(bundle)
    known = manifests(bundle)
    assert report.published == len(liger_vectors()["samples"]) == 39
    for sample in liger_vectors()["samples"]:
        identity = found[sample["externalId"]]
        assert identity["workload"] == sample["workload"]["digest"]
        assert identity["implementation"] == sample["implementation"]["digest"]
        assert identity["comparison_key"] == sample["comparisonKey"]
        assert known[identity["run"]] == sample["run"]["manifest"]


@needs_shared
@pytest.mark.parametrize("kind", ["operations", "protocols", "projects", "environments"])
def test_every_published_subject_comes_out_equal(kind):
    rows = [dict(sample["row"]) for sample in liger_vectors()["samples"]]
    every = [
        rows[0] | {"kernel_operation_mode": mode, "gpu_name": gpu, "kernel_provider": provider}
        for mode in liger_vectors()["protocols"]
        for gpu in liger_vectors()["environments"]
        for provider in liger_vectors()["providers"]
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows + every)
    bundle, _ = build_bundle({"all.csv": text.getvalue().encode()})
    assert {subject["digest"] for subject in liger_vectors()[kind].values()} <= manifests(bundle).keys()


@needs_shared
def test_the_h200_files_are_published_whole():
    files = {path.name: path for path in sorted((SHARED / "h200").glob("*.csv"))}
    bundle, report = build_bundle(files)
    assert report.rows == report.published == 352
    assert len(identities(bundle)) == 352


def test_every_layout_gives_the_records_it_always_gave():
    bundle, report = build_bundle({"layouts.csv": DATA / "layouts.csv"})
    assert report.published == report.rows
    assert identities(bundle) == json.loads((DATA / "layouts.json").read_text())


def test_the_layout_file_has_every_layout():
    _, report = build_bundle({"layouts.csv": DATA / "layouts.csv"})
    speed = [cell for cell in report.cells.elements() if cell.metric == "speed"]
    assert len(speed) == sum(len(layouts) for layouts in LAYOUTS.values())


def test_every_record_is_a_valid_manifest():
    bundle, _ = build_bundle({"layouts.csv": DATA / "layouts.csv"})
    for record in bundle.records:
        assert parse_manifest(record.manifest).metadata.title


def test_what_is_referred_to_comes_first():
    bundle, _ = build_bundle({"layouts.csv": DATA / "layouts.csv"})
    seen: set[str] = set()
    projects: set[str] = set()
    names: dict[str, set[str]] = {}
    for record in bundle.records:
        spec, digest = record.manifest["spec"], manifest_digest(record.manifest)
        referred = [value for key, value in spec.items() if key.endswith("Digest")]
        assert seen.issuperset([*referred, *([spec["operation"]["specDigest"]] if "operation" in spec else [])])
        assert record.project is None or record.project in projects
        if record.manifest["kind"] == "BenchmarkRun":
            assert record.implementation in names[spec["implementationDigest"]]
        if record.manifest["kind"] == "SoftwareProject":
            projects.add(record.manifest["metadata"]["name"])
        seen.add(digest)
        names.setdefault(digest, set()).add(record.manifest["metadata"]["name"])


def test_a_memory_row_has_measurements_and_no_timing():
    bundle, _ = build_bundle({"layouts.csv": DATA / "layouts.csv"})
    runs = [record.manifest["spec"] for record in bundle.records if record.manifest["kind"] == "BenchmarkRun"]
    memory = [run for run in runs if "timing" not in run]
    assert memory
    for run in memory:
        first = run["measurements"][0]
        assert (first["metric"], first["statistic"], first["unit"]) == ("peak_memory", "median", "bytes")
        assert first["value"] == round(run["sourceNative"]["metrics"]["mb_50"] * 2**20)
        assert "/memory/" in run["sourceNative"]["externalId"]


def test_the_bundle_that_the_project_carries_is_what_its_rows_give():
    carried = bundle_from_document(json.loads(SEED.read_text()))
    bundle, _ = build_bundle({"all_benchmark_data.csv": DATA / "seed.csv"})
    assert [record.manifest for record in carried.records] == [record.manifest for record in bundle.records]
    assert [record.digest for record in carried.records] == [manifest_digest(each.manifest) for each in bundle.records]
    (first, second) = identities(carried).values()
    assert first["comparison_key"] == second["comparison_key"]
    assert second["comparison_key"].startswith("sha256:632687a0a3d057a5")
    assert second["run"].startswith("sha256:5cde9b90d5f90633")
