"""JSON Schemas (draft 2020-12) of the kinds, generated from the models that check them."""

from functools import cache
from typing import Any, Literal

from pydantic import Field, create_model
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from runs.manifests.kinds.base import Metadata, Strict
from runs.manifests.kinds.registry import SPECS
from runs.manifests.manifest import API_VERSION

KINDS: tuple[str, ...] = tuple(SPECS)
"""The kinds; what a record refers to comes before it."""


class _Generator(GenerateJsonSchema):
    """Leaves out `"default": null`, for null is an error, and titles, which would only repeat names; bounds keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        described = super().dict_schema(schema)
        # A pattern for keys alone would let every other key pass.
        for pattern, values in described.pop("patternProperties", {}).items():
            described |= {"propertyNames": {"pattern": pattern}, "additionalProperties": values}
        return described

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def json_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a whole manifest of `kind`, a fresh copy. Raises `KeyError` for a kind that does not exist."""
    envelope = _envelope(kind)
    schema = envelope.model_json_schema(schema_generator=_Generator)
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema, "title": kind}


@cache
def _envelope(kind: str) -> type[Strict]:
    model = SPECS[kind]
    types: dict[str, Any] = {
        "api_version": (Literal[API_VERSION], Field(description="The version of the record format.")),
        "kind": (Literal[kind], Field(description="The kind of the record.")),
        "metadata": (Metadata, Field(description="Editorial; it never enters the digest.")),
        "spec": (model, Field(description="What the record says.")),
    }
    envelope: type[Strict] = create_model(f"{kind}Manifest", __base__=Strict, __doc__=model.__doc__, **types)
    return envelope
