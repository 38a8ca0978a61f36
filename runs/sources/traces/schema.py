"""The JSON that flashinfer-bench writes, as far as records follow from it; fields beyond that are passed over.

Source: the data models of the package flashinfer-bench 0.1.2.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1, max_length=1_000)]


class _Read(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Axis(_Read):
    """A dimension: constant with a value, or variable."""

    type: Literal["const", "var"]
    value: Annotated[int, Field(ge=0)] | None = None


class Tensor(_Read):
    """A tensor in terms of axes; without a shape, a scalar."""

    shape: list[Text] | None = None
    dtype: Text


class Definition(_Read):
    """What is computed."""

    name: Text
    op_type: Text
    axes: dict[Text, Axis]
    inputs: dict[Text, Tensor]
    outputs: dict[Text, Tensor]
    reference: Annotated[str, Field(min_length=1)]
    description: str | None = None


class SourceFile(_Read):
    """A file of a solution."""

    path: Text
    content: str


class Build(_Read):
    """How a solution is built and called: `main.py::run`."""

    language: Text
    entry_point: Text
    target_hardware: list[str] = []


class Solution(_Read):
    """An implementation of a definition."""

    name: Text
    definition: Text
    author: Text
    spec: Build
    sources: Annotated[list[SourceFile], Field(min_length=1)]
    description: str | None = None


class Input(_Read):
    """How an input is made."""

    type: Literal["random", "scalar", "safetensors"]
    value: bool | int | float | None = None


class Workload(_Read):
    """Values of the variable axes, and how inputs are made."""

    axes: dict[Text, Annotated[int, Field(ge=0)]]
    inputs: dict[Text, Input]
    uuid: Text


class Correctness(_Read):
    """How far a result was from the reference; NaN and infinities are written as text."""

    max_relative_error: float = 0.0
    max_absolute_error: float = 0.0


class Performance(_Read):
    """Latencies in milliseconds."""

    latency_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    reference_latency_ms: Annotated[float, Field(ge=0)] = 0.0
    speedup_factor: Annotated[float, Field(ge=0)] = 0.0


class Environment(_Read):
    """The hardware as the harness names it, and versions of libraries."""

    hardware: Text
    libs: dict[str, str] = {}


class Evaluation(_Read):
    """What came of a solution on a workload."""

    status: Literal[
        "PASSED",
        "INCORRECT_SHAPE",
        "INCORRECT_NUMERICAL",
        "INCORRECT_DTYPE",
        "RUNTIME_ERROR",
        "COMPILE_ERROR",
        "TIMEOUT",
    ]
    environment: Environment
    timestamp: Text
    correctness: Correctness | None = None
    performance: Performance | None = None


class Trace(_Read):
    """A workload, and what came of a solution on it where one was tried."""

    definition: Text
    workload: Workload
    solution: str | None = None
    evaluation: Evaluation | None = None
