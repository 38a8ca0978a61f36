"""The serving kinds: end-to-end model serving, whose fields are still in motion.

Envelope and digest are checked and the size is bounded; the spec stays as it is.
"""

from typing import Any

from pydantic import JsonValue, RootModel, ValidationInfo, model_validator

from runs.manifests.canonical import MAX_INTEGER
from runs.manifests.fields import check_text, double_of, fault, note_rewrite

SERVING_KINDS = (
    "ModelRevision",
    "ServingStackRevision",
    "ServingConfiguration",
    "ServingWorkload",
    "ServingRun",
)
MAX_DEPTH = 32
MAX_NODES = 20_000
MAX_BYTES = 256 * 1024
"""Bounds of an opaque spec: levels of nesting, values in all, bytes of canonical JSON."""


class ServingSpec(RootModel[dict[str, JsonValue]], frozen=True):
    """The spec of a serving record: any JSON object within the bounds."""

    @model_validator(mode="before")
    @classmethod
    def _is_bounded(cls, spec: Any, info: ValidationInfo) -> Any:
        return _Copy(info).of(spec, 1)


class _Copy:
    """Copies JSON data while it counts, so that what is handed in can neither be huge nor change later."""

    def __init__(self, info: ValidationInfo) -> None:
        self._info = info
        self._nodes = 0

    def of(self, value: Any, depth: int) -> Any:
        """A copy of a value that stands `depth` levels deep."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise fault("size", f"the spec has more than {MAX_NODES:,} values; leave out what is not needed")
        if depth > MAX_DEPTH:
            raise fault("depth", f"the spec is nested more than {MAX_DEPTH} deep; flatten it")
        if isinstance(value, dict):
            return {check_text(key): self.of(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(item, depth + 1) for item in value]
        if isinstance(value, str):
            return check_text(value)
        if type(value) is int and abs(value) > MAX_INTEGER:
            note_rewrite(self._info)
            return double_of(value)
        return value
