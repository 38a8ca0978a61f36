"""JSON Schemas of the values that the API answers with, read from the types of the reads themselves.

A field of a dataclass is a property of its object, all of them required and no other allowed: what `runs.views.json`
writes is described here without anybody having to write it twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from runs.reads.neighbours import Neighbours
from runs.reads.reruns.values import RunRerun

Schema = dict[str, Any]

REF: Final = "#/components/schemas/"
# Types of different modules may share a name; these modules' get a word before theirs.
_PREFIXES: Final = {
    "runs.reads.compare": "Compare",
    "runs.policy.comparison": "Compare",
    "runs.reads.operations.values": "Operation",
    "runs.reads.reruns.values": "Rerun",
    "runs.reads.search.values": "Search",
    "runs.reads.run_page": "Run",
    "runs.reads.runners": "Runner",
    "attestations.reads.values": "Community",
    "attestations.environment": "Community",
}
# Names that a module of values imports for type checkers alone.
_LATE: Final = {"Neighbours": Neighbours, "RunRerun": RunRerun}
_PLAIN: Final[dict[Any, Schema]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    UUID: {"type": "string", "format": "uuid"},
    datetime: {"type": "string", "format": "date-time"},
    Any: {},
}


class Components:
    """The schemas that a document's operations refer to, by name."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}
        self._owners: dict[str, Any] = {}

    def ref(self, of: Any) -> Schema:
        """A reference to the schema of a dataclass, which is added together with all that it refers to."""
        name = component_name(of)
        owner = self._owners.setdefault(name, of)
        if owner is not of:
            raise ValueError(f"{of!r} and {owner!r} would both be called {name}")
        if name not in self.schemas:
            self.schemas[name] = {}  # a type may refer to itself
            self.schemas[name] = self.object(of)
        return {"$ref": REF + name}

    def object(self, of: Any, *, optional: bool = False, more: Mapping[str, Schema] | None = None) -> Schema:
        """The schema of a dataclass itself. `optional`: a reader may choose among its fields."""
        hints = get_type_hints(of, localns=_LATE)
        names = field_names(of)
        schema: Schema = {
            "type": "object",
            "description": cleandoc(of.__doc__ or "").replace("\n", " "),
            "properties": {**{name: self.of(hints[name]) for name in names}, **(more or {})},
            "additionalProperties": False,
        }
        # Python writes a signature where a dataclass has no docstring.
        if schema["description"].startswith(f"{of.__name__}("):
            del schema["description"]
        if not optional:
            schema["required"] = list(names)
        return schema

    def of(self, hint: Any) -> Schema:
        """The schema of an annotation."""
        if hint in _PLAIN:
            return dict(_PLAIN[hint])
        if is_dataclass(hint):
            return self.ref(hint)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType):
            return self._union(arguments)
        if origin is Literal:
            return {"type": "string", "enum": list(arguments)}
        if origin in (tuple, list):
            return self._array(arguments)
        if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1]) or True}
        raise TypeError(f"no schema for {hint!r}")

    def _union(self, arguments: Sequence[Any]) -> Schema:
        parts = [self.of(argument) for argument in arguments]
        if len(parts) == 2 and parts[1] == {"type": "null"} and isinstance(parts[0].get("type"), str):
            return {**parts[0], "type": [parts[0]["type"], "null"]}
        return {"anyOf": parts}

    def _array(self, arguments: Sequence[Any]) -> Schema:
        if len(arguments) == 1 or arguments[1] is Ellipsis:
            return {"type": "array", "items": self.of(arguments[0])}
        exact = len(arguments)
        return {"type": "array", "prefixItems": list(map(self.of, arguments)), "minItems": exact, "maxItems": exact}


def component_name(of: Any) -> str:
    """What a type is called in the document: its own name, behind its module's word where that has one."""
    prefix = _PREFIXES.get(of.__module__, "")
    return str(of.__name__ if of.__name__.startswith(prefix) else prefix + of.__name__)


def field_names(of: Any) -> tuple[str, ...]:
    """The fields of a dataclass, in order."""
    return tuple(field.name for field in fields(of))


components: Final = Components()
"""Those of the one document that this site serves."""


def chosen_of(of: Any, *, include: Mapping[str, Schema] | None = None) -> Schema:
    """A value of which a reader may choose fields, and have others come along under `included`."""
    more = {}
    if include:
        more["included"] = {"type": "object", "properties": dict(include), "additionalProperties": False}
    name = f"{component_name(of)}Chosen"
    components.schemas[name] = components.object(of, optional=True, more=more)
    return {"$ref": REF + name}


def list_of(name: str, row: Schema, *, more: Mapping[str, Schema] | None = None, back: bool = True) -> Schema:
    """A page of a list: its rows, and where it goes on."""
    link = {"type": ["string", "null"], "description": "The address of that page, or null at the end of the list."}
    properties = {**(more or {}), "rows": {"type": "array", "items": row}, "next": link}
    if back:
        properties["previous"] = link
    components.schemas[name] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"$ref": REF + name}
