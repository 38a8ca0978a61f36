"""What holds for any manifest: normal form, digest, and what can never matter to it."""

import json
import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.manifests.canonical import canonical_json
from runs.manifests.errors import ManifestError
from runs.manifests.intake import load_document
from runs.manifests.kinds.registry import KERNEL_KINDS, SPECS
from runs.manifests.manifest import parse_manifest
from tests.manifests.strategies import json_value, manifests
from tests.manifests.vectors import REMOVED, changed, manifest, problems_of, vectors

each_kind = pytest.mark.parametrize("kind", SPECS)
thorough = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

# Objects whose keys are free, so that another key is no unknown field.
MAPS = {
    "axes",
    "environmentVariables",
    "labels",
    "libraries",
    "metrics",
    "parameters",
    "requirements",
    "scalars",
    "tensors",
}


def again(document: dict[str, Any], text: bytes) -> dict[str, Any]:
    """The document whose canonical text is given, with the metadata that the text leaves out."""
    return {**load_document(text), "metadata": document["metadata"]}


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        return {key: shuffled(value[key], chance) for key in chance.sample(list(value), len(value))}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


def respelled(value: Any, chance: random.Random) -> str:
    """JSON text of a value in which each number is spelled in one of the ways that JSON has for it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {respelled(item, chance)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[ " + ",".join(respelled(item, chance) for item in value) + "]"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return json.dumps(value, ensure_ascii=chance.random() < 0.5)
    exact = Decimal(repr(value))
    spellings = [repr(value), f"{exact:e}", f"{exact:E}"]
    if abs(value) < 1e15:
        spellings.append(f"{exact:f}" if "." in f"{exact:f}" else f"{exact:f}.00")
    return chance.choice(spellings)


@each_kind
@thorough
@given(data=st.data())
def test_a_manifest_survives_its_canonical_form_with_its_digest(kind, data):
    document = data.draw(manifests(kind))
    first = parse_manifest(document)
    second = parse_manifest(again(document, first.canonical()))
    assert (second.canonical(), second.digest) == (first.canonical(), first.digest)
    assert second.spec == first.spec
    assert parse_manifest(first.document()).document() == first.document()
    assert canonical_json(json.loads(first.canonical())) == first.canonical()


@each_kind
@thorough
@given(data=st.data(), chance=st.randoms(use_true_random=False))
def test_neither_the_order_of_members_nor_the_spelling_of_numbers_matters(kind, data, chance):
    document = data.draw(manifests(kind))
    text = respelled(shuffled(document, chance), chance)
    assert parse_manifest(load_document(text)).digest == parse_manifest(document).digest


@pytest.mark.parametrize(("one", "other"), [("1e-06", "0.000001"), ("3.0", "3"), ("30e-1", "3"), ("-0.0", "0")])
def test_two_spellings_of_a_number_are_one_record(one, other):
    text = json.dumps(changed(manifest("run"), ("spec", "sourceNative", "metrics"), {"value": "HERE"}))
    first, second = (parse_manifest(load_document(text.replace('"HERE"', number))) for number in (one, other))
    assert first.digest == second.digest


@pytest.mark.parametrize("spelling", ["73728.0", "7.3728e4", '"73.728 us"', '"0.073728 ms"', '"73728 ns"'])
def test_every_spelling_of_a_duration_is_one_record(spelling):
    text = json.dumps(changed(manifest("run"), ("spec", "timing", "latencyNs", "median"), "HERE"))
    assert parse_manifest(load_document(text.replace('"HERE"', spelling))) == parse_manifest(manifest("run"))


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    """Every value below a document with its path."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [(path, value)]
    for step, item in items:
        found.extend(places(item, (*path, step)))
    return found


def kernel_vectors() -> list[dict[str, Any]]:
    return [vector["manifest"] for vector in vectors() if vector["manifest"]["kind"] in KERNEL_KINDS]


def test_an_unknown_field_is_refused_in_every_object_of_every_kind():
    tried = 0
    for document in kernel_vectors():
        for path, value in places(document):
            if not isinstance(value, dict) or (path and path[-1] in MAPS):
                continue
            with pytest.raises(ManifestError) as caught:
                parse_manifest(changed(document, (*path, "unheardOf"), 1))
            assert [problem.code for problem in caught.value.problems] == ["unknown_field"], path
            assert caught.value.problems[0].place.endswith("unheardOf")
            tried += 1
    assert tried > 100


def test_null_is_refused_in_place_of_every_value_of_every_kind():
    for document in kernel_vectors():
        for path, _ in places(document)[1:]:
            problems = problems_of(parse_manifest, changed(document, path, None))
            assert problems is not None
            codes = {problem.code for problem in problems}
            assert codes <= {"null", "api_version", "kind"}, (path, problems)


def test_taking_a_value_away_makes_another_record_or_none():
    for document in kernel_vectors():
        digest = parse_manifest(document).digest
        for path, _ in places(document["spec"])[1:]:
            smaller = changed(document, ("spec", *path), REMOVED)
            problems = problems_of(parse_manifest, smaller)
            if problems is None:
                assert parse_manifest(smaller).digest != digest, path
            else:
                assert problems[0].place.startswith("spec")


@thorough
@given(json_value, st.sampled_from(list(SPECS)))
def test_any_data_is_a_manifest_or_refused(value, kind):
    for document in (value, {**manifest("run"), "kind": kind, "spec": value}, {**manifest("run"), "metadata": value}):
        problems = problems_of(parse_manifest, document)
        assert problems is None or problems
