"""From a row's x value and config to the workload that it measured."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.manifests.errors import ManifestError
from runs.manifests.order import display_order
from runs.sources.liger.layouts import DTYPES, LAYOUTS, MODEL_VOCABULARIES, MODEL_X, Layout
from runs.sources.liger.operations import CHOSEN_DTYPE, OPERATIONS, Operation

CORRECTNESS = {"comparator": "not_asserted"}
"""The scripts of the source time what they run; they compare it with nothing."""


@dataclass(frozen=True, slots=True)
class Case:
    """One concrete case of an operation.

    `lengths` has the axes and those that follow from them; `dimensions` is the case as external ids spell it, `tag`
    what they add to it, `title` the case as people read it.
    """

    operation: Operation
    layout: Layout
    label: str
    axes: Mapping[str, int]
    lengths: Mapping[str, int]
    dtype: str
    scalars: Mapping[str, float]
    dimensions: str
    tag: str | None
    title: str

    def spec(self, operation_digest: str) -> dict[str, Any]:
        """The WorkloadCase spec."""
        spec: dict[str, Any] = {
            "operationSpecDigest": operation_digest,
            "axes": dict(self.axes),
            "tensors": {
                tensor.name: {
                    "shape": [size if isinstance(size, int) else self.lengths[size] for size in tensor.shape],
                    "dtype": self._dtype(tensor.name, tensor.dtype),
                }
                for tensor in self.operation.inputs
            },
            "correctness": dict(CORRECTNESS),
        }
        if self.scalars:
            spec["scalars"] = {name: {"dtype": "fp32", "value": value} for name, value in self.scalars.items()}
        return spec

    def _dtype(self, name: str, dtype: str) -> str:
        if dtype != CHOSEN_DTYPE:
            return dtype
        return "fp32" if name in self.layout.fp32 else self.dtype


class Unknown(Exception):
    """Why no case can be told from a row: a code of the reasons, the layout as far as it is known, and the field."""

    def __init__(self, code: str, label: str, detail: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.label = label
        self.detail = detail


def read_case(kernel: str, x_name: str, x_value: str, config_text: str) -> Case | Unknown:
    """The case that a row measured, or the reason why that is not certain."""
    try:
        return _read(kernel, x_name, x_value, config_text)
    except Unknown as unknown:
        return unknown


def _read(kernel: str, x_name: str, x_value: str, config_text: str) -> Case:
    config = _config(config_text)
    if config is None:
        raise Unknown("config_not_json", x_name, "extra_benchmark_config_str")
    label = f"{x_name} · {', '.join(sorted(config))}"
    layout = _layout(kernel, x_name, config, label)
    x = MODEL_VOCABULARIES.get(x_value) if x_name == MODEL_X else _positive(x_value)
    if x is None:
        raise Unknown("bad_x_value", label, "x_value")
    dtype = layout.dtype or DTYPES.get(str(config["dtype"]))
    if dtype is None:
        raise Unknown("dtype_unknown", label)
    scalars, numbers = _scalars(layout, config), _numbers(layout, config)
    if scalars is None or numbers is None:
        raise Unknown("config_value_unknown", label)
    operation = OPERATIONS[layout.operation]
    axes, lengths = _lengths(operation, layout, numbers | {"x": x}, label)
    shown = [f"{axis} = {axes[axis]}" for axis in display_order(axes)]
    return Case(
        operation=operation,
        layout=layout,
        label=label,
        axes=axes,
        lengths=lengths,
        dtype=dtype,
        scalars=scalars,
        dimensions="-".join([*(f"{axis}{axes[axis]}" for axis in sorted(axes)), dtype]),
        # Models may have the same vocabulary: what was measured for one is then no measurement of another.
        tag=x_value if x_name == MODEL_X else layout.tag,
        title=" · ".join([*shown, dtype]),
    )


def _layout(kernel: str, x_name: str, config: Mapping[str, Any], label: str) -> Layout:
    layouts = LAYOUTS.get((kernel, x_name, frozenset(config)))
    if layouts is None:
        raise Unknown("layout_unknown", label)
    layout = next((each for each in layouts if each.holds(config)), None)
    if layout is None:
        raise Unknown("config_value_unknown", label)
    return layout


def _lengths(
    operation: Operation, layout: Layout, numbers: Mapping[str, int], label: str
) -> tuple[dict[str, int], dict[str, int]]:
    """The workload's axes, and these with the operation's derived ones."""
    try:
        axes = {axis: expression.evaluate(numbers) for axis, expression in layout.axes.items()}
        lengths = dict(axes)
        for axis, expression in operation.derived.items():
            lengths[axis] = expression.evaluate(lengths)
    except ManifestError as error:
        raise Unknown("axis_out_of_range", label) from error
    if min(lengths.values()) < 1:
        raise Unknown("axis_out_of_range", label)
    return axes, lengths


def _config(text: str) -> dict[str, Any] | None:
    try:
        config = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return config if isinstance(config, dict) else None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    config = dict(pairs)
    if len(config) != len(pairs):
        raise ValueError("a name stands twice")
    return config


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _positive(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 and int(text) > 0 else None


def _numbers(layout: Layout, config: Mapping[str, Any]) -> dict[str, int] | None:
    numbers: dict[str, int] = {}
    for name in layout.numbers:
        value = config[name]
        if type(value) is not int or value < 1:
            return None
        numbers[name.lower()] = value
    return numbers


def _scalars(layout: Layout, config: Mapping[str, Any]) -> dict[str, float] | None:
    scalars: dict[str, float] = {}
    for name, constant in layout.scalars.items():
        value = config[name] if constant is None else constant
        if type(value) not in (int, float) or not math.isfinite(value):
            return None
        scalars[name] = value
    return scalars
