"""Reading JSON and YAML that anyone may have written."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from runs.manifests.errors import ManifestError
from runs.manifests.intake import MAX_BYTES, load_document
from runs.manifests.manifest import parse_manifest
from tests.manifests.vectors import manifest, problems_of, vectors

LAUGHS = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
)

INVALID = {
    "empty": ("", "", "syntax"),
    "only white space": (" \n ", "", "syntax"),
    "too long": ('{"a": "' + "x" * MAX_BYTES + '"}', "", "size"),
    "too long in UTF-8 alone": ('{"a": "' + "é" * (MAX_BYTES // 2) + '"}', "", "size"),
    "not UTF-8": (b'{"a":\n "\xff"}', "line 2", "encoding"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "line 1", "encoding"),
    "JSON cut short": ('{"a":\n  [1, 2', "line 2, column 8", "syntax"),
    "JSON with a comma too many": ('{"a": 1,}', "line 1, column 9", "syntax"),
    "JSON with single quotes": ("{'a': 1}", "line 1, column 2", "syntax"),
    "JSON with more after it": ('{"a": 1} {"b": 2}', "line 1, column 10", "syntax"),
    "JSON with a raw line break in a string": ('{"a": "x\ny"}', "line 1, column 9", "syntax"),
    "JSON with a duplicate key": ('{"a": {"b": 1, "b": 2}}', "a", "duplicate_key"),
    "JSON with a duplicate key in a list": ('{"a": [0, {"b": 1, "\\u0062": 2}]}', "a[1]", "duplicate_key"),
    "JSON with NaN": ('{"spec": {"value": NaN}}', "spec.value", "number"),
    "JSON with an infinity": ('{"spec": [-Infinity]}', "spec[0]", "number"),
    "JSON with a number no double holds": ('{"spec": {"value": 1e999}}', "spec.value", "number"),
    "JSON with an endless integer": ('{"spec": {"value": ' + "9" * 5000 + "}}", "spec.value", "integer"),
    "JSON nested too deeply": ('{"a":' + "[" * 64 + "]" * 64 + "}", "", "depth"),
    "JSON nested beyond reading": ("[" * 100_000, "", "depth"),
    "YAML with a duplicate key": ("a:\n  b: 1\n  b: 2\n", "line 3, column 3", "duplicate_key"),
    "YAML with a tag": ("a: !!python/object/apply:os.system [id]\n", "line 1, column 4", "tag"),
    "YAML with a tag of its own": ("a: !thing x\n", "line 1, column 4", "tag"),
    "YAML with a standard tag": ("a: !!str 1\n", "line 1, column 4", "tag"),
    "YAML with NaN": ("a: .nan\n", "line 1, column 4", "number"),
    "YAML with an infinity": ("a: -.inf\n", "line 1, column 4", "number"),
    "YAML with a number no double holds": ("a: 1e999\n", "line 1, column 4", "number"),
    "YAML with an endless integer": ("a: " + "9" * 5000, "line 1, column 4", "integer"),
    "YAML with too many aliases": ("a: &a x\nb: [" + ", ".join(["*a"] * 101) + "]\n", None, "aliases"),
    "YAML whose aliases multiply": (LAUGHS, None, "size"),
    "YAML with an alias to nothing": ("a: *b\n", None, "aliases"),
    "YAML that holds itself": ("a: &a\n  b: *a\n", "line 2, column 6", "aliases"),
    "YAML with a bad indent": ("a: 1\n b: 2\n", "line 2, column 3", "syntax"),
    "YAML with a tab": ("a:\n\tb: 1\n", "line 2, column 1", "syntax"),
    "YAML with a control character": ("a: b\nc: \x01\n", "line 2", "syntax"),
    "YAML with two documents": ("a: 1\n---\nb: 2\n", "line 2, column 1", "syntax"),
    "YAML with a number as a key": ("1: a\n", "line 1, column 1", "key"),
    "YAML with a list as a key": ("? [a]\n: b\n", "line 1, column 3", "key"),
    "YAML with an alias to a list as a key": ("a: &a [1]\n*a : b\n", "line 2, column 1", "key"),
    "YAML nested too deeply": ("a: " + "[" * 64 + "]" * 64, "line 1, column 67", "depth"),
    "YAML nested beyond reading": ("- " * 50_000, None, "depth"),
    "YAML with an open quote": ('a: "b\n', None, "syntax"),
}


@pytest.mark.parametrize(("text", "place", "code"), INVALID.values(), ids=INVALID)
def test_it_refuses_a_text_at_its_place(text, place, code):
    with pytest.raises(ManifestError) as caught:
        load_document(text)
    (problem,) = caught.value.problems
    assert problem.code == code
    if place is None:
        assert problem.place.startswith("line ")
    else:
        assert problem.place == place


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1e-06", 1e-06),
        ("a: 1.5", 1.5),
        ("a: .5", 0.5),
        ("a: +3", 3),
        ("a: no", "no"),
        ("a: on", "on"),
        ("a: true", True),
        ("a: ~", None),
        ("a:", None),
        ("a: 2026-02-28T00:23:31.000Z", "2026-02-28T00:23:31.000Z"),
        ("a: 2026-02-28", "2026-02-28"),
        ("a: 1:30", "1:30"),
        ("a: 1_000", "1_000"),
        ("a: 0x10", "0x10"),
        ("a: '1'", "1"),
        ('a: "null"', "null"),
        ("a: |\n  x\n  y\n", "x\ny\n"),
        ("b: &b {c: [1]}\na: *b", {"c": [1]}),
        ("a: {y: 1, n: 2}", {"y": 1, "n": 2}),
        ("\ufeffa: 1", 1),
        ("%YAML 1.2\n---\na: 1\n...\n", 1),
    ],
)
def test_it_reads_yaml_as_json_data(text, value):
    result = load_document(text)["a"]
    assert result == value
    assert type(result) is type(value)


def test_it_reads_json_at_the_bound_of_nesting():
    text = "[" * 64 + "]" * 64
    assert load_document(text) == json.loads(text)


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["title"])
def test_yaml_and_json_of_a_manifest_are_one_record(vector):
    as_json = json.dumps(vector["manifest"], ensure_ascii=False).encode()
    as_yaml = yaml.safe_dump(vector["manifest"])
    for text in (as_json, as_yaml, b"\xef\xbb\xbf" + as_json):
        assert parse_manifest(load_document(text)).digest == vector["digest"]


def test_a_manifest_written_by_a_person_is_brought_into_normal_form():
    written = """
    apiVersion: kernelindex.dev/v1alpha1
    kind: BenchmarkProtocol
    metadata: {name: by-hand}
    spec:
      harness: {name: my harness}
      measurement:
        timer: cuda_events
        warmupDuration: 25 ms
        primaryStatistic: median
    """
    parsed = parse_manifest(load_document(written))
    assert b'"warmupDuration":25000000' in parsed.canonical()
    assert parsed.document()["spec"]["measurement"]["warmupDuration"] == 25_000_000
    assert parsed.spec.measurement.warmup_duration == 25_000_000


def test_sets_are_sorted_and_without_duplicates_before_they_are_digested():
    document = manifest("implementation")
    expected = parse_manifest(document)
    document["spec"]["support"]["dtypes"] = ["fp16", "bf16", "fp16"]
    document["spec"]["support"]["productsTested"].reverse()
    assert parse_manifest(document) == expected
    assert parse_manifest(document).document() == expected.document()


def test_sets_are_sorted_by_utf_16_code_units():
    document = manifest("implementation")
    document["spec"]["support"]["layouts"] = ["\ufb33", "\U0001f600"]
    assert parse_manifest(document).spec.support.layouts == ("\U0001f600", "\ufb33")


@given(st.binary(max_size=300) | st.text(max_size=300) | st.text(alphabet='{}[]",:&*a1-! \n#|>?', max_size=80))
def test_any_text_is_read_or_refused(data):
    problems = problems_of(load_document, data)
    if problems is None:
        json.dumps(load_document(data), allow_nan=False)
    else:
        assert problems
