"""WorkloadCase: one concrete case. WorkloadSuite: a list of cases with one published score."""

from typing import Literal

from runs.manifests.fields import (
    Amount,
    Count,
    Digest,
    Integer,
    Items,
    Label,
    Maybe,
    Number,
    Positive,
    Ratio,
    Scalar,
    Text,
    Token,
)
from runs.manifests.kinds.base import Artifact, Strict

Policy = Literal["reject", "exact_match", "ignore"]


class TensorData(Strict):
    """How the content of a tensor is made."""

    generator: Token
    """What makes it, such as random or safetensors."""
    seed: Maybe[Integer] = None
    """The seed of the generator."""
    parameters: Maybe[dict[Token, Number]] = None
    """Numbers that the generator takes, such as mean and std."""
    artifact: Maybe[Artifact] = None
    """The file that holds the content."""


class TensorCase(Strict):
    """A tensor of the case."""

    shape: Items[Count]
    """Each dimension in elements."""
    dtype: Token
    """The element type."""
    strides: Maybe[Items[Integer]] = None
    """The step of each dimension in elements."""
    alignment_bytes: Maybe[Positive] = None
    """The alignment of the first element in bytes."""
    data: Maybe[TensorData] = None
    """How the content is made."""


class ScalarCase(Strict):
    """A scalar of the case."""

    dtype: Token
    """The type."""
    value: Scalar
    """The value."""


class Correctness(Strict):
    """When a result counts as right."""

    comparator: Token
    """What compares result and reference; not_asserted where nothing is stated."""
    max_absolute_error: Maybe[Amount] = None
    """The greatest absolute error allowed."""
    max_relative_error: Maybe[Amount] = None
    """The greatest relative error allowed."""
    required_matched_ratio: Maybe[Ratio] = None
    """The share of elements that must match, from 0 to 1."""
    nan_policy: Maybe[Policy] = None
    """What a NaN in the result means."""
    infinity_policy: Maybe[Policy] = None
    """What an infinity in the result means."""


class WorkloadCase(Strict):
    """One concrete case of an operation."""

    operation_spec_digest: Digest
    """The digest of the OperationSpec."""
    axes: dict[Token, Integer]
    """The value of each axis."""
    tensors: dict[Label, TensorCase]
    """The tensors by operand name."""
    scalars: Maybe[dict[Label, ScalarCase]] = None
    """The scalars by operand name."""
    correctness: Correctness
    """When a result counts as right."""


class SuiteCase(Strict):
    """A case of a suite."""

    external_id: Text
    """What the source calls the case."""
    axes: dict[Token, Integer]
    """The value of each axis."""


class SuiteCorrectness(Strict):
    """When the results of a suite count as right."""

    comparator: Token
    """What compares results and references."""
    description: Maybe[Text] = None
    """The rule in words."""


class Aggregation(Strict):
    """How the cases of a suite become one score."""

    metric: Token
    """What is aggregated, such as latency."""
    statistic: Token
    """How, such as geomean."""


class WorkloadSuite(Strict):
    """A list of cases with one published score."""

    operation_spec_digest: Digest
    """The digest of the OperationSpec."""
    cases: Items[SuiteCase]
    """The cases in the source's order."""
    correctness: SuiteCorrectness
    """When the results count as right."""
    aggregation: Aggregation
    """How the cases become one score."""
