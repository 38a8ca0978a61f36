"""What publication takes in, refuses, and leaves as it was."""

from __future__ import annotations

import copy
import dataclasses
import json
from typing import Any

import pytest

from runs.manifests.bundle import Bundle, Record
from runs.models import (
    Artifact,
    ComparisonGroup,
    Environment,
    ExternalId,
    Implementation,
    Measurement,
    Operation,
    OperationAlias,
    Project,
    Protocol,
    Run,
    Source,
    SourceSnapshot,
    Standing,
    Workload,
)
from runs.publication import publish
from runs.refusals import PublicationRefused
from runs.sources.synthetic import synthesize

pytestmark = pytest.mark.django_db

EVERYTHING = (
    Source,
    SourceSnapshot,
    Project,
    Operation,
    OperationAlias,
    Workload,
    Implementation,
    Protocol,
    Environment,
    Run,
    Measurement,
    ExternalId,
    Standing,
    ComparisonGroup,
)


def rows() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in EVERYTHING}


def changed(bundle: Bundle, kind: str, change: Any, **attributes: Any) -> Bundle:
    """The bundle with the last record of a kind changed."""
    records = list(bundle.records)
    place = max(index for index, record in enumerate(records) if record.manifest["kind"] == kind)
    manifest = copy.deepcopy(records[place].manifest)
    change(manifest)
    records[place] = dataclasses.replace(records[place], manifest=manifest, **attributes)
    return dataclasses.replace(bundle, records=records)


def refusals(bundle: Bundle) -> list[tuple[str, str]]:
    before = rows()
    with pytest.raises(PublicationRefused) as refused:
        publish(bundle)
    assert rows() == before, "a refused bundle left something behind"
    return [(refusal.code, str(refusal)) for refusal in refused.value.refusals]


def test_it_publishes_every_record_of_a_bundle():
    bundle = synthesize(0, 12)
    outcome = publish(bundle)
    assert sum(outcome.created.values()) == len(bundle.records)
    assert Run.objects.count() == 12 == len(outcome.runs)
    assert Measurement.objects.count() == 24
    run = Run.objects.get(id=outcome.runs[0])
    assert json.loads(run.canonical)["spec"] == bundle.records[-12].manifest["spec"]
    assert run.metadata == bundle.records[-12].manifest["metadata"]
    assert run.illustrative


def test_a_second_time_it_writes_nothing():
    publish(synthesize(0, 12))
    before, groups = rows(), list(ComparisonGroup.objects.order_by("key").values())
    outcome = publish(synthesize(0, 12))
    assert rows() == before
    assert list(ComparisonGroup.objects.order_by("key").values()) == groups
    assert not +outcome.created
    assert outcome.existing["BenchmarkRun"] == 12


def test_a_record_that_stands_twice_in_a_bundle_is_published_once():
    bundle = synthesize(0, 6)
    publish(dataclasses.replace(bundle, records=[*bundle.records, *bundle.records]))
    assert Run.objects.count() == 6


def test_other_metadata_is_the_same_record():
    bundle = synthesize(0, 6)
    publish(bundle)
    outcome = publish(changed(bundle, "BenchmarkRun", lambda m: m["metadata"].update(title="A better title")))
    assert outcome.existing["BenchmarkRun"] == 6
    assert not Run.objects.filter(title="A better title").exists()


def test_it_refuses_a_digest_that_is_not_the_manifests():
    codes = refusals(changed(synthesize(0, 6), "BenchmarkRun", lambda m: None, digest="sha256:" + "0" * 64))
    assert [code for code, _ in codes] == ["DIGEST_MISMATCH"]
    assert "synthetic-run-5" in codes[0][1]


@pytest.mark.parametrize("name", ["implementationDigest", "workloadDigest", "protocolDigest", "environmentDigest"])
def test_it_refuses_a_run_whose_references_are_missing(name):
    codes = refusals(
        changed(synthesize(0, 6), "BenchmarkRun", lambda m: m["spec"].update({name: "sha256:" + "1" * 64}))
    )
    assert [code for code, _ in codes] == ["MISSING_REFERENCE"]
    assert name in codes[0][1]


def test_it_refuses_a_workload_of_an_unknown_operation():
    bundle = changed(
        synthesize(0, 6), "WorkloadCase", lambda m: m["spec"].update(operationSpecDigest="sha256:" + "2" * 64)
    )
    assert "MISSING_REFERENCE" in {code for code, _ in refusals(bundle)}


def test_it_refuses_an_implementation_of_an_unknown_project():
    bundle = changed(synthesize(0, 6), "ImplementationRevision", lambda m: None, project="nobody")
    assert "MISSING_REFERENCE" in {code for code, _ in refusals(bundle)}


def test_it_refuses_a_run_whose_implementation_computes_another_operation():
    bundle = synthesize(0, 400)
    other = next(r for r in reversed(bundle.records) if r.manifest["kind"] == "BenchmarkRun")
    bundle = changed(
        synthesize(0, 400),
        "BenchmarkRun",
        lambda m: m["spec"].update(implementationDigest=bundle.records[-400].manifest["spec"]["implementationDigest"]),
        implementation=None,
    )
    assert other.manifest["spec"]["implementationDigest"]
    assert [code for code, _ in refusals(bundle)] == ["REFERENCE_MISMATCH"]


def test_it_names_every_invalid_record_and_publishes_none():
    bundle = synthesize(0, 6)
    broken = [Record({**record.manifest, "spec": {}}) for record in bundle.records[-3:]]
    codes = refusals(dataclasses.replace(bundle, records=[*bundle.records[:-3], *broken]))
    assert [code for code, _ in codes] == ["INVALID_MANIFEST"] * 3


def test_it_stops_explaining_after_a_hundred_refusals():
    broken = Record({"apiVersion": "kernelindex.dev/v1alpha1", "kind": "BenchmarkRun", "metadata": {}, "spec": {}})
    bundle = dataclasses.replace(synthesize(0, 6), records=[broken] * 1000)
    assert len(refusals(bundle)) == 100


def two_entries_of_one_digest() -> Bundle:
    """Two implementations whose manifests differ in metadata alone, and a run of each."""
    bundle = synthesize(0, 2)
    records = []
    for record in bundle.records:
        manifest = copy.deepcopy(record.manifest)
        name = record.implementation
        if manifest["kind"] == "ImplementationRevision":
            manifest["spec"]["callable"]["language"] = "python"
            manifest["spec"]["projectRevision"] = {}
        records.append(dataclasses.replace(record, manifest=manifest, implementation=name))
    return dataclasses.replace(bundle, records=records)


def test_implementations_of_one_digest_are_told_apart_by_name():
    from runs.manifests.canonical import manifest_digest

    bundle = two_entries_of_one_digest()
    digests = {manifest_digest(r.manifest) for r in bundle.records if r.manifest["kind"] == "ImplementationRevision"}
    assert len(digests) == 1
    digest = digests.pop()
    records = [
        dataclasses.replace(r, manifest={**r.manifest, "spec": {**r.manifest["spec"], "implementationDigest": digest}})
        if r.manifest["kind"] == "BenchmarkRun"
        else r
        for r in bundle.records
    ]
    named = dataclasses.replace(bundle, records=records)
    unnamed = dataclasses.replace(
        bundle, records=[dataclasses.replace(record, implementation=None) for record in records]
    )
    assert {code for code, _ in refusals(unnamed)} == {"AMBIGUOUS_REFERENCE"}
    publish(named)
    assert set(Run.objects.values_list("implementation__name", flat=True)) == {
        record.implementation for record in records if record.implementation
    }
    assert Implementation.objects.values("digest").distinct().count() == 1


def test_a_slug_that_is_taken_gets_the_start_of_the_digest():
    publish(synthesize(0, 6))
    publish(
        changed(synthesize(0, 6), "SoftwareProject", lambda m: m["spec"].update(name="Another project of that name"))
    )
    slugs = sorted(Project.objects.values_list("slug", flat=True))
    assert slugs[0] == "synthetic"
    assert slugs[1].startswith("synthetic-")


def test_columns_say_what_the_manifest_says():
    publish(synthesize(0, 6))
    for run in Run.objects.select_related("workload", "environment"):
        spec = json.loads(run.canonical)["spec"]
        assert run.value == spec["timing"]["latencyNs"]["median"]
        assert (run.metric, run.statistic, run.unit) == ("latency", "median", "ns")
        assert run.observed_at.isoformat(timespec="milliseconds").replace("+00:00", "Z") == spec["observedAt"]
        assert run.hardware == run.environment.hardware
        axes = json.loads(run.workload.canonical)["spec"]["axes"]
        assert run.workload.summary == f"rows = {axes['rows']} · hidden = {axes['hidden']} · {run.workload.dtype}"


def test_every_file_that_a_manifest_names_is_an_artifact():
    def name(manifest):
        for place, members in (("evidence", ("logs", "rawSamples")), ("timing", ("rawSamples",))):
            for member in members:
                digest = "sha256:" + (place + member).encode().hex().ljust(64, "0")[:64]
                uri = f"https://example.org/{place}/{member}"
                manifest["spec"].setdefault(place, {})[member] = {"uri": uri, "digest": digest}

    publish(changed(synthesize(0, 6), "BenchmarkRun", name))
    assert set(Artifact.objects.values_list("role", "uri")) == {
        ("logs", "https://example.org/evidence/logs"),
        ("rawSamples", "https://example.org/evidence/rawSamples"),
        ("timingSamples", "https://example.org/timing/rawSamples"),
    }
