"""Hypothesis strategies that make valid manifests of every kind from the models themselves."""

import builtins
import typing
from functools import cache
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel

from runs.manifests import fields
from runs.manifests.canonical import MAX_INTEGER
from runs.manifests.kinds.base import Metadata
from runs.manifests.kinds.operation import Axis, Operand
from runs.manifests.kinds.registry import SPECS
from runs.manifests.kinds.run import Latency
from runs.manifests.kinds.serving import ServingSpec
from runs.manifests.manifest import API_VERSION

text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


def _word(first: str, rest: str) -> st.SearchStrategy[str]:
    return st.tuples(st.sampled_from(first), st.text(rest, max_size=6)).map("".join)


letters, digits = "abz", "059"
token = _word(letters, letters + digits + "_")
integer = st.integers(-MAX_INTEGER, MAX_INTEGER)
count = st.integers(0, MAX_INTEGER)
number = integer | st.floats(allow_nan=False, allow_infinity=False)
written_duration = st.tuples(st.integers(0, 9_000_000), st.sampled_from([" ns", "us", " µs", " ms", "s"])).map(
    lambda parts: f"{parts[0]}{parts[1]}"
)
json_value = st.recursive(
    st.none() | st.booleans() | number | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=12,
)

LEAVES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (fields.Text, text),
    (fields.Label, text.filter(bool)),
    (fields.Digest, st.binary(min_size=32, max_size=32).map(lambda data: f"sha256:{data.hex()}")),
    (fields.Token, token),
    (fields.Slug, _word(letters + digits, letters + digits + "-")),
    (fields.Name, _word(letters + digits, letters + digits + "._-")),
    (fields.HttpsUrl, _word("ab", "a.:-").map("https://".__add__) | st.just("https://example.org/a?b=c#d")),
    (fields.Uri, _word(letters, letters + "+.-").map(lambda scheme: f"{scheme}:a/b@c")),
    (fields.Commit, st.binary(min_size=20, max_size=20).map(bytes.hex)),
    (
        fields.Instant,
        st.datetimes().map(lambda moment: f"{moment.isoformat()}Z"),
    ),
    (fields.AxisExpression, st.sampled_from(["hidden // heads", "a", "2 * (a + 1) % 7", "-a"])),
    (fields.Licence, st.sampled_from(["MIT", "MIT OR Apache-2.0", "(GPL-2.0+ WITH x) AND LicenseRef-y"])),
    (fields.Integer, integer),
    (fields.Count, count),
    (fields.Positive, st.integers(1, MAX_INTEGER)),
    (fields.Number, number),
    (fields.Amount, number.map(abs)),
    (fields.Ratio, st.floats(0, 1) | st.integers(0, 1)),
    (fields.Scalar, number | st.booleans() | text),
    (fields.Duration, count | written_duration),
    (fields.Dimension, count | token),
]


def values_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Valid JSON values for a field annotation."""
    known = next((strategy for leaf, strategy in LEAVES if annotation == leaf), None)
    if known is not None:
        return known
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    match origin:
        case None:
            made = st.booleans() if annotation is bool else objects_of(annotation)
        case typing.Literal:
            made = st.sampled_from(arguments)
        case builtins.tuple if arguments[1] is not ...:
            made = st.tuples(*map(values_of, arguments)).map(list)
        case builtins.tuple:
            made = st.lists(values_of(arguments[0]), max_size=2)
        case builtins.dict:
            made = st.dictionaries(values_of(arguments[0]), values_of(arguments[1]), max_size=2)
        case _:  # Annotated[type, …] and type | None
            made = values_of(arguments[0])
    return made


@cache
def objects_of(model: type[BaseModel]) -> st.SearchStrategy[dict[str, Any]]:
    """Valid JSON objects for a model, with any choice of its optional fields."""
    if model is ServingSpec:
        return st.dictionaries(text, json_value, max_size=5)
    annotations = typing.get_type_hints(model, include_extras=True)
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for name, info in model.model_fields.items():
        target = required if info.is_required() else optional
        target[info.alias or name] = values_of(annotations[name])
    made = st.fixed_dictionaries(required, optional=optional)
    if model is Axis:
        return made.map(_complete_axis)
    if model is Operand:
        tensor, scalar = optional["tensor"], optional["scalar"]
        return st.fixed_dictionaries(required | {"tensor": tensor}) | st.fixed_dictionaries(
            required | {"scalar": scalar}
        )
    if model is Latency:
        optional["confidence95"] = st.tuples(count, count).map(sorted)
        required["median"] = optional.pop("median")
        return st.fixed_dictionaries(required, optional=optional)
    return made


def _complete_axis(axis: dict[str, Any]) -> dict[str, Any]:
    axis = {"value": 1, "expression": "a + 1"} | axis
    if "minimum" in axis and "maximum" in axis:
        axis["minimum"], axis["maximum"] = sorted((axis["minimum"], axis["maximum"]))
    return axis


@cache
def manifests(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just(API_VERSION),
            "kind": st.just(kind),
            "metadata": objects_of(Metadata),
            "spec": objects_of(SPECS[kind]),
        }
    )
