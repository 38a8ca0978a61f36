"""The OpenAPI document as a page lays it out: operations by subject, with their parameters and answers in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runs.api.schemas import REF

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TypeText:
    """A type in words, with the name of the schema that it refers to, where it does."""

    text: str
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class ParameterRow:
    name: str
    place: str  # "path" | "query"
    type: TypeText
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class AnswerRow:
    status: str
    description: str
    type: TypeText | None


@dataclass(frozen=True, slots=True)
class OperationRow:
    id: str
    method: str
    path: str
    summary: str
    description: str
    scopes: tuple[str, ...]
    parameters: tuple[ParameterRow, ...]
    body: TypeText | None
    answers: tuple[AnswerRow, ...]


@dataclass(frozen=True, slots=True)
class PropertyRow:
    name: str
    type: TypeText
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class SchemaRow:
    name: str
    description: str
    properties: tuple[PropertyRow, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    name: str
    operations: tuple[OperationRow, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """All of it."""

    subjects: tuple[Subject, ...]
    schemas: tuple[SchemaRow, ...]


def reference(document: Schema) -> Reference:
    """What the page shows of a document."""
    subjects: dict[str, list[OperationRow]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            subjects.setdefault(operation["tags"][0], []).append(_operation(path, method, operation))
    return Reference(
        tuple(Subject(name, tuple(rows)) for name, rows in subjects.items()),
        tuple(_schema(name, schema) for name, schema in document["components"]["schemas"].items()),
    )


def _operation(path: str, method: str, operation: Schema) -> OperationRow:
    body = operation.get("requestBody")
    return OperationRow(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        description=operation.get("description", ""),
        scopes=tuple(scope for entry in operation.get("security", ()) for scopes in entry.values() for scope in scopes),
        parameters=tuple(
            ParameterRow(
                each["name"],
                each["in"],
                type_text(each["schema"]),
                each.get("required", False),
                each.get("description", ""),
            )
            for each in operation.get("parameters", ())
        ),
        body=type_text(_content(body)) if body else None,
        answers=tuple(
            AnswerRow(status, answer["description"], type_text(_content(answer)) if "content" in answer else None)
            for status, answer in operation["responses"].items()
        ),
    )


def _content(holder: Schema) -> Schema:
    [content] = holder["content"].values()
    found: Schema = content["schema"]
    return found


def _schema(name: str, schema: Schema) -> SchemaRow:
    required = schema.get("required", ())
    return SchemaRow(
        name,
        schema.get("description", ""),
        tuple(
            PropertyRow(field, type_text(inner), field in required, inner.get("description", ""))
            for field, inner in schema.get("properties", {}).items()
        ),
    )


def type_text(schema: Schema) -> TypeText:
    """A schema in words: `array of RunRow`, `string or null`, `integer, 1 to 100`."""
    referred = list(_refs(schema))
    return TypeText(_words(schema), referred[0] if referred else None)


def _refs(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(REF)
        for inner in schema.values():
            yield from _refs(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _refs(inner)


def _words(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(REF)
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(_words(inner) for inner in schema[several])
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    kind = schema.get("type", "any value")
    kinds = [kind] if isinstance(kind, str) else list(kind)
    return " or ".join(_named(each, schema) for each in kinds)


def _named(kind: str, schema: Schema) -> str:
    if kind == "array":
        if "prefixItems" in schema:
            return f"array of {' and '.join(map(_words, schema['prefixItems']))}"
        return f"array of {_words(schema['items'])}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {_words(schema['additionalProperties'])}"
    if kind == "integer" and "minimum" in schema and "maximum" in schema:
        return f"integer, {schema['minimum']:,} to {schema['maximum']:,}"
    if kind == "string" and "format" in schema:
        return f"string ({schema['format']})"
    return kind
