"""The JSON Schemas: generated from the models, in agreement with them, and documented throughout."""

import math
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from runs.manifests.errors import ManifestError
from runs.manifests.kinds.serving import SERVING_KINDS
from runs.manifests.manifest import parse_manifest
from runs.manifests.schemas import KINDS, json_schema
from tests.manifests.test_invalid_documents import CASES, steps
from tests.manifests.vectors import changed, manifest, vectors

# What a schema cannot say: relations between values, the calendar, the grammar of expressions and licences, numbers
# that JSON has no spelling for, and the bounds of an opaque spec.
BEYOND_SCHEMA = {"axis", "latency", "instant", "expression", "licence", "duration", "size"}


def validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json_schema(kind))


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every part of a schema that describes an object with fields."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


@pytest.mark.parametrize("kind", KINDS)
def test_every_schema_is_one(kind):
    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"] == kind
    assert schema["properties"]["kind"]["const"] == kind
    assert schema["required"] == ["apiVersion", "kind", "metadata", "spec"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_object_is_closed_and_every_field_has_its_help_text(kind):
    schema = json_schema(kind)
    for described in objects(schema):
        assert described["additionalProperties"] is False
        assert described["description"]
        for name, field in described["properties"].items():
            target = schema["$defs"][field["$ref"].rpartition("/")[2]] if "$ref" in field else {}
            assert field.get("description") or target.get("description"), (described.get("title"), name)
            assert "default" not in field


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["title"])
def test_every_vector_satisfies_its_schema(vector):
    validator(vector["manifest"]["kind"]).validate(vector["manifest"])


@pytest.mark.parametrize(("subject", "path", "value", "place", "code"), CASES)
def test_a_schema_refuses_what_the_models_refuse(subject, path, value, place, code):
    valid = manifest(subject)
    invalid = changed(valid, steps(path), value)
    accepted = validator(valid["kind"]).is_valid(invalid)
    if accepted:
        opaque = valid["kind"] in SERVING_KINDS
        # Python's $ also matches before a last line break; in JSON Schema it does not.
        beyond = code in BEYOND_SCHEMA or opaque or value in (float("inf"), "\ud800", 2**53 + 1, "trailing\n")
        beyond = beyond or (isinstance(value, float) and math.isnan(value))
        assert beyond, f"the schema takes {place or path}"


def test_a_schema_is_a_fresh_copy():
    json_schema("BenchmarkRun")["properties"].clear()
    assert json_schema("BenchmarkRun")["properties"]


def test_there_is_no_schema_of_a_kind_that_does_not_exist():
    with pytest.raises(KeyError):
        json_schema("BenchmarkRuns")
    with pytest.raises(ManifestError):
        parse_manifest({**manifest("run"), "kind": "BenchmarkRuns"})
