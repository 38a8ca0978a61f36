"""Canonical JSON and plain digests."""

import hashlib
import json

import pytest

from runs.manifests.canonical import canonical_json, manifest_digest, object_digest
from runs.manifests.errors import ManifestError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, False, None]}, '{"a":[true,false,null],"b":1}'),
        (1e-06, "0.000001"),
        (1e-07, "1e-7"),
        (3.0, "3"),
        (-0.0, "0"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (5e-324, "5e-324"),
        (2**53 - 1, "9007199254740991"),
        (0.0739263966679573, "0.0739263966679573"),
        ("µ€\n\x7f\x1f", '"µ€\\n\x7f\\u001f"'),
        ({"\ufb33": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ufb33":1}'),
    ],
)
def test_it_writes_values_as_rfc_8785_has_them(value, text):
    assert canonical_json(value) == text.encode()


@pytest.mark.parametrize("double", [2.0**53, 1e17, -1e20, 999999999999999900000.0, 1e21])
def test_canonical_text_read_back_stays_what_it_was(double):
    text = canonical_json({"value": [double]})
    assert canonical_json(json.loads(text)) == text


def test_an_object_digest_is_the_sha_256_of_the_canonical_text():
    assert object_digest({"b": 1, "a": 2}) == "sha256:" + hashlib.sha256(b'{"a":2,"b":1}').hexdigest()


@pytest.mark.parametrize(
    ("value", "place", "code"),
    [
        ({"a": [1, float("nan")]}, "a[1]", "number"),
        ({"a": {"b": float("-inf")}}, "a.b", "number"),
        ({"a": 2**53 + 1}, "a", "integer"),
        ([-(2**60)], "[0]", "integer"),
        ([10**400], "[0]", "integer"),
        ({"a": "\ud800"}, "a", "unicode"),
        ({"\udfff": 1}, "", "unicode"),
        ({"a": {1: 2}}, "a", "key"),
        ({"a": {1, 2}}, "a", "type"),
        ({"needs quotes": b"bytes"}, '["needs quotes"]', "type"),
    ],
)
def test_it_names_the_place_of_what_has_no_canonical_form(value, place, code):
    with pytest.raises(ManifestError) as caught:
        canonical_json(value)
    assert [(problem.place, problem.code) for problem in caught.value.problems] == [(place, code)]


def test_it_refuses_nesting_without_an_end():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ManifestError, match="nested too deeply"):
        canonical_json(endless)


def test_a_digest_needs_version_kind_and_spec():
    with pytest.raises(ManifestError) as caught:
        manifest_digest({"kind": "BenchmarkRun"})
    assert [problem.place for problem in caught.value.problems] == ["apiVersion", "spec"]
