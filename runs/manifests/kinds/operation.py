"""OperationSpec: what is computed, for any shape."""

from typing import Any, Literal, Self

from pydantic import ConfigDict, model_validator

from runs.manifests.fields import AxisExpression, Dimension, Integer, Items, Label, Maybe, Slug, Text, Token, fault
from runs.manifests.kinds.base import Artifact, Strict

Layout = Literal["row_major", "col_major", "contiguous", "strided"]


def _needs(role: str, field: str) -> dict[str, Any]:
    """The JSON Schema that says that axes of a role need a field."""
    return {"if": {"properties": {"role": {"const": role}}}, "then": {"required": [field]}}


class Axis(Strict):
    """A named dimension or size of the operation."""

    model_config = ConfigDict(
        json_schema_extra={"allOf": [_needs("constant", "value"), _needs("derived", "expression")]},
    )

    role: Literal["variable", "constant", "derived"]
    """variable: each workload gives it; constant: fixed by the operation; derived: computed from other axes."""
    type: Literal["integer"]
    """Axes are integers."""
    value: Maybe[Integer] = None
    """The value of a constant axis."""
    minimum: Maybe[Integer] = None
    """The least value that makes sense."""
    maximum: Maybe[Integer] = None
    """The greatest value that makes sense."""
    expression: Maybe[AxisExpression] = None
    """How a derived axis is computed: integers, axis names, + - * % // and parentheses."""

    @model_validator(mode="after")
    def _role_has_what_it_needs(self) -> Self:
        if self.role == "constant" and self.value is None:
            raise fault("axis", "a constant axis needs a value; add one, or make its role variable")
        if self.role == "derived" and self.expression is None:
            raise fault("axis", "a derived axis needs an expression, such as hidden // heads; add one")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise fault("axis", f"minimum {self.minimum} is above maximum {self.maximum}; exchange or correct them")
        return self


class TensorSpec(Strict):
    """A tensor of the operation, in terms of its axes."""

    shape: Items[Dimension]
    """Each dimension: an integer or the name of an axis."""
    dtype: Token
    """The element type, such as bf16, or a class of types such as float."""
    layout: Maybe[Layout] = None
    """The order of the elements in memory."""


class ScalarSpec(Strict):
    """A scalar of the operation."""

    dtype: Token
    """The type, such as fp32."""


class Operand(Strict):
    """An input or output: a tensor or a scalar."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["tensor"]}, {"required": ["scalar"]}]})

    name: Label
    """The name, unique among the inputs or among the outputs."""
    tensor: Maybe[TensorSpec] = None
    """Present where the operand is a tensor."""
    scalar: Maybe[ScalarSpec] = None
    """Present where the operand is a scalar."""

    @model_validator(mode="after")
    def _is_one_of_the_two(self) -> Self:
        if (self.tensor is None) == (self.scalar is None):
            raise fault("operand", "an operand is either a tensor or a scalar; give exactly one of the two")
        return self


class Semantics(Strict):
    """What the operation does to its inputs and how far its result is fixed."""

    expression: Maybe[Text] = None
    """The computation in words or a formula."""
    mutation: Literal["none", "in_place", "destination"]
    """Whether inputs are overwritten, or a destination is handed in."""
    determinism: Literal["deterministic", "nondeterministic", "unspecified"]
    """Whether equal inputs give equal bits."""


class Reference(Strict):
    """An implementation that defines the right result."""

    language: Token
    """The language it is written in."""
    artifact: Maybe[Artifact] = None
    """The file."""


class OperationSpec(Strict):
    """What is computed, for any shape."""

    family: Slug
    """The family of operations, such as rmsnorm."""
    axes: dict[Token, Axis]
    """The axes by name."""
    inputs: Items[Operand]
    """What goes in, in order."""
    outputs: Items[Operand]
    """What comes out, in order."""
    semantics: Semantics
    """Mutation and determinism."""
    reference: Maybe[Reference] = None
    """An implementation that defines the right result."""
