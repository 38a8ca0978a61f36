"""The project's own vectors, whose canonical text, digests and keys were made by another implementation."""

import pytest

from runs.manifests.canonical import canonical_json, manifest_digest
from runs.manifests.keys import comparison_key, correctness_key, metric_key, primary_measurement
from runs.manifests.kinds.registry import SPECS
from runs.manifests.manifest import parse_manifest
from tests.manifests.vectors import key_vectors, manifest, vectors

each_vector = pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["title"])


@each_vector
def test_it_gives_the_canonical_text_and_digest_of_the_other_implementation(vector):
    parsed = parse_manifest(vector["manifest"])
    assert parsed.canonical().decode() == vector["canonical"]
    assert parsed.digest == vector["digest"]
    assert manifest_digest(vector["manifest"]) == vector["digest"]


@each_vector
def test_it_gives_the_document_back_as_it_was(vector):
    parsed = parse_manifest(vector["manifest"])
    assert parsed.document() == vector["manifest"]
    assert parsed == parse_manifest(parsed.document())
    assert (parsed.kind, parsed.api_version) == (vector["manifest"]["kind"], vector["manifest"]["apiVersion"])


def test_there_is_a_vector_for_every_kind():
    assert {vector["manifest"]["kind"] for vector in vectors()} == set(SPECS)


@pytest.mark.parametrize("group", key_vectors(), ids=lambda group: group["title"])
def test_it_gives_the_keys_of_the_other_implementation(group):
    run, workload = manifest(group["run"])["spec"], manifest(group["workload"])["spec"]
    metric = metric_key(primary_measurement(run))
    assert metric == group["metric"]
    assert correctness_key(workload) == group["correctnessKey"]
    assert (
        comparison_key(
            operation=workload["operationSpecDigest"],
            workload=run["workloadDigest"],
            protocol=run["protocolDigest"],
            environment=run["environmentDigest"],
            correctness=group["correctnessKey"],
            metric=metric,
        )
        == group["comparisonKey"]
    )


def test_metadata_never_enters_the_digest():
    first = manifest("run")
    second = {**first, "metadata": {"name": "another-name", "title": "Another title"}}
    assert parse_manifest(first).digest == parse_manifest(second).digest
    assert parse_manifest(second).metadata.title == "Another title"


def test_a_manifest_does_not_change_with_the_document_it_was_read_from():
    document = manifest("serving configuration")
    parsed = parse_manifest(document)
    document["spec"]["options"]["1"] = "changed"
    document["metadata"]["name"] = "changed"
    assert canonical_json({name: parsed.document()[name] for name in ("apiVersion", "kind", "spec")}) == (
        parsed.canonical()
    )
    assert parsed.spec.root["options"]["1"] == 4
    assert parsed.metadata.name == "example-configuration"
