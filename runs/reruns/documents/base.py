"""What all documents share: strictness, field types, and reading a moment."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from runs.policy.hardware import slug as hardware_slug
from runs.reruns.documents.refusals import Refusal

MAX_LOG_CHARACTERS = 64 * 1024

Hex32 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""32 bytes as lowercase hex digits."""
Version = Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.+!_-]{0,99}$")]
Phrase = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=200)]
"""One short line of text."""
Log = Annotated[str, Field(pattern=r"^[^\x00]*$", max_length=MAX_LOG_CHARACTERS)]


class Document(BaseModel):
    """A frozen object without unknown fields; camelCase in JSON, optional fields are absent and never null."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", alias_generator=to_camel, use_attribute_docstrings=True
    )

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Self:
        """The document in plain JSON data. Raises `Refusal` MALFORMED with the places of its faults."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            faults = [
                f"{'.'.join(str(step) for step in fault['loc']) or 'the document'}: {fault['msg']}"
                for fault in error.errors(include_url=False, include_input=False)[:10]
            ]
            raise Refusal("MALFORMED", "; ".join(faults)) from error

    def plain(self) -> dict[str, Any]:
        """The document as plain JSON data."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def moment(instant: str) -> datetime:
    """A validated instant as an aware datetime."""
    return datetime.fromisoformat(instant)


def product_slug(hardware: Mapping[str, Any]) -> str | None:
    """The product of an environment's hardware as queues and keys name it: nvidia-h200, nvidia-a100-sxm4-80gb, cpu.

    The form factor belongs to it, or the PCIe and SXM boards of one name would be one product. None where the
    environment does not say.
    """
    slug = hardware_slug({"hardware": hardware})
    return None if slug in ("", "unknown") else slug


def read_json(data: bytes, *, limit: int) -> Any:
    """Plain JSON data. Raises `Refusal` TOO_LARGE or MALFORMED, also for a key that stands twice in one object."""
    if len(data) > limit:
        raise Refusal("TOO_LARGE", f"{len(data):,} bytes, at most {limit:,}")
    try:
        return json.loads(data, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refusal("MALFORMED", f"it is no JSON: {error}") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
