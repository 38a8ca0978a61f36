"""What pydantic found, told as problems: place, code, and a sentence that says how to mend it."""

import dataclasses
import difflib
import typing
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from runs.manifests.errors import MAX_PROBLEMS, Problem, place_of
from runs.manifests.fields import PATTERNS

_WANTED = {
    "string_type": ("text", "text; put it in quotes"),
    "string_unicode": ("text", "valid Unicode, but it holds a lone surrogate"),
    "bool_type": ("boolean", "true or false, without quotes"),
    "dict_type": ("object", "an object: names with values"),
    "model_type": ("object", "an object: names with values"),
    "dataclass_type": ("object", "an object: names with values"),
    "tuple_type": ("list", "a list"),
    "list_type": ("list", "a list"),
}


def problems_of(root: Any, prefix: tuple[str | int, ...], errors: Iterable[ErrorDetails]) -> list[Problem]:
    """The first problems of a value validated as `root` that stands at `prefix` of its document."""
    return [_problem(root, prefix, error) for error in islice(errors, MAX_PROBLEMS)]


def unknown_field(name: str, known: Sequence[str]) -> str:
    """The sentence for a field that the format does not have."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known here are {', '.join(known)}"
    return f"unknown field; remove it, or correct its name: {hint}"


def _problem(root: Any, prefix: tuple[str | int, ...], error: ErrorDetails) -> Problem:
    path = tuple(step for step in error["loc"] if step != "[key]")
    in_key = len(path) != len(error["loc"])
    kind, context = error["type"], error.get("ctx", {})
    code, message = _told(root, path, kind, context, error)
    if error["input"] is None and kind != "missing":
        code, message = "null", "null is not a value here; leave the field out"
    if in_key:
        message = f"this key: {message}"
    return Problem(place_of((*prefix, *path)), code, message)


def _told(
    root: Any, path: tuple[str | int, ...], kind: str, context: dict[str, Any], error: ErrorDetails
) -> tuple[str, str]:
    match kind:
        case "missing":
            wanted = path[-1] if isinstance(path[-1], str) else "an item"
            told = ("missing", f"{wanted} is required; add it")
        case "extra_forbidden" | "unexpected_keyword_argument":
            told = ("unknown_field", unknown_field(str(path[-1]), fields_at(root, path[:-1])))
        case "string_pattern_mismatch":
            told = PATTERNS[context["pattern"]]
        case "literal_error":
            told = ("choice", f"expected {context['expected']}")
        case "string_too_long":
            told = ("too_long", f"at most {context['max_length']} characters are allowed; shorten it")
        case "too_long":
            told = ("too_long", f"at most {context['max_length']} items are allowed; remove some")
        case "string_too_short":
            told = ("too_short", "the text is empty; fill it in, or leave the field out where that is allowed")
        case _ if kind in _WANTED:
            told = (_WANTED[kind][0], f"expected {_WANTED[kind][1]}")
        case _:
            told = (kind, error["msg"])
    return told


def fields_at(root: Any, path: Sequence[str | int]) -> list[str]:
    """The names of the fields that the object at `path` below a value of type `root` may have."""
    here = _record_in(root)
    for step in path:
        known = _annotations(here)
        if step in known:
            here = _record_in(known[step])
    return [str(name) for name in _annotations(here)]


def _annotations(record: Any) -> dict[str | int, Any]:
    """The fields of a model or dataclass as documents spell them, with their annotations."""
    if isinstance(record, type) and issubclass(record, BaseModel):
        return {info.alias or name: info.annotation for name, info in record.model_fields.items()}
    if dataclasses.is_dataclass(record):
        return {to_camel(item.name): item.type for item in dataclasses.fields(record)}
    return {}


def _record_in(annotation: Any) -> Any:
    """The model or dataclass inside an annotation such as `Annotated[tuple[Model, ...] | None, …]`."""
    arguments = typing.get_args(annotation)
    if arguments:
        return next((found for argument in arguments if (found := _record_in(argument)) is not None), None)
    is_record = isinstance(annotation, type) and (
        issubclass(annotation, BaseModel) or dataclasses.is_dataclass(annotation)
    )
    return annotation if is_record else None
