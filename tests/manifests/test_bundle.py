"""Bundles and the JSON file that carries one."""

import json
from typing import Any

import pytest

from runs.manifests.bundle import Bundle, Record, Snapshot, Source, bundle_from_document, bundle_to_document
from runs.manifests.errors import ManifestError
from tests.manifests.vectors import REMOVED, changed, manifest, vectors

FULL = Bundle(
    Source(
        "example",
        "Example benchmarks",
        "benchmark",
        url="https://example.org/",
        license="June 9 Licence v1.0",
        attribution="Example",
        terms="Show with attribution.",
    ),
    Snapshot(
        "example-data",
        "1.0",
        "sha256:" + "a" * 64,
        1234,
        "BSD-2-Clause",
        url="https://example.org/data.csv",
        retrieved_at="2026-02-28T00:23:31.000Z",
    ),
    (
        Record(manifest("operation"), aliases=("rms", "RMSNorm")),
        Record(manifest("implementation"), project="example-kernels"),
        Record(
            manifest("run"),
            digest=next(vector["digest"] for vector in vectors() if vector["title"] == "run with every field"),
            implementation="example-scaled-rms-norm",
        ),
    ),
    illustrative=True,
)


@pytest.mark.parametrize("bundle", [FULL, Bundle(Source("example", "Example", "benchmark"), None, ())])
def test_a_bundle_survives_its_document(bundle):
    document = bundle_to_document(bundle)
    assert bundle_from_document(json.loads(json.dumps(document))) == bundle


def test_what_is_absent_is_not_written():
    document = bundle_to_document(Bundle(Source("example", "Example", "benchmark"), None, [Record({})]))
    assert document == {
        "source": {"slug": "example", "name": "Example", "kind": "benchmark"},
        "records": [{"manifest": {}}],
    }


@pytest.mark.parametrize(
    ("path", "value", "place", "code"),
    [
        (("source",), REMOVED, "source", "missing"),
        (("source", "slug"), "Example", "source.slug", "slug"),
        (("source", "licence"), "MIT", "source.licence", "unknown_field"),
        (("source", "url"), None, "source.url", "null"),
        (("snapshot",), None, "snapshot", "null"),
        (("snapshot", "size"), "1234", "snapshot.size", "integer"),
        (("snapshot", "retrieved_at"), "2026-02-28T00:23:31.000Z", "snapshot.retrieved_at", "unknown_field"),
        (("snapshot", "retrievedAt"), "yesterday", "snapshot.retrievedAt", "instant"),
        (("records",), {}, "records", "list"),
        (("records", 0, "manifest"), REMOVED, "records[0].manifest", "missing"),
        (("records", 1, "digest"), "sha256:abc", "records[1].digest", "digest"),
        (("records", 1, "extra"), 1, "records[1].extra", "unknown_field"),
        (("illustrative",), "yes", "illustrative", "boolean"),
        (("version",), 1, "version", "unknown_field"),
    ],
)
def test_it_refuses_an_invalid_document_at_its_place(path: tuple[str | int, ...], value: Any, place: str, code: str):
    with pytest.raises(ManifestError) as caught:
        bundle_from_document(changed(bundle_to_document(FULL), path, value))
    assert [(problem.place, problem.code) for problem in caught.value.problems] == [(place, code)]


@pytest.mark.parametrize("document", [None, [], "text"])
def test_it_refuses_what_is_no_object(document):
    with pytest.raises(ManifestError):
        bundle_from_document(document)
