"""The field types of the record format, as annotated types that pydantic validates and JSON Schema describes."""

import math
import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from runs.manifests.canonical import MAX_INTEGER, exact_double
from runs.manifests.durations import parse_duration
from runs.manifests.errors import ManifestError
from runs.manifests.expressions import MAX_LENGTH, parse_expression
from runs.manifests.licences import check_licence

T = TypeVar("T")
LOWER_SNAKE = r"^[a-z][a-z0-9_]*$"
_TOKEN = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


def fault(code: str, message: str) -> PydanticCustomError:
    """A validation error with a code and a finished sentence of our own."""
    return PydanticCustomError(code, "{message}", {"message": message})


class Rewrites:
    """Notes during validation whether a value came out other than it was written, other than in its spelling."""

    __slots__ = ("any",)

    def __init__(self) -> None:
        self.any = False


def note_rewrite(info: ValidationInfo) -> None:
    """Note that the value being validated is not what was written."""
    if isinstance(info.context, Rewrites):
        info.context.any = True


class _Checked:
    """A field type given by a function of the raw value and the JSON Schema that describes it."""

    def __init__(self, check: Callable[..., Any], schema: dict[str, Any], *, rewrites: bool = False) -> None:
        self._check = check
        self._schema = schema
        self._rewrites = rewrites

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        if self._rewrites:
            return core_schema.with_info_plain_validator_function(self._check)
        return core_schema.no_info_plain_validator_function(self._check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return dict(self._schema)


class NotNull:
    """Marks an optional field as one that may be absent but never null."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        while schema["type"] == "nullable":
            schema = schema["schema"]
        return schema


Maybe = Annotated[T | None, NotNull()]
"""An optional field; its default is None, which no document may spell."""

# Numbers ------------------------------------------------------------------------------------------------------------


def _integer_from(minimum: int, wanted: str) -> Callable[[Any], int]:
    """A check for integers of at least `minimum`; 3.0 is the integer 3, true and "3" are none."""

    def check(value: Any) -> int:
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int:
            raise fault("integer", f"expected {wanted}; write digits without quotes or a fraction")
        if not minimum <= value <= MAX_INTEGER:
            limit = "must lie within ±(2^53 − 1), where JSON is exact" if abs(value) > MAX_INTEGER else f"is {value}"
            raise fault("integer", f"expected {wanted}, but the number {limit}")
        return value

    return check


_check_count = _integer_from(0, "an integer of at least 0")


def _integer_schema(minimum: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": minimum, "maximum": MAX_INTEGER}


def _check_number(value: Any, info: ValidationInfo) -> int | float:
    """A finite JSON number; integral ones come out as int while an int holds them exactly.

    A whole number beyond 2^53 − 1 is taken only in the spelling that canonical JSON gives it, for any other spelling
    would name a number that no double is.
    """
    if type(value) is float:
        if not math.isfinite(value):
            raise fault("number", f"{value} is no JSON number; leave the field out or give a finite number")
        return int(value) if value.is_integer() and abs(value) <= MAX_INTEGER else value
    if type(value) is not int:
        raise fault("number", "expected a number; write it without quotes")
    if abs(value) > MAX_INTEGER:
        note_rewrite(info)
        return double_of(value)
    return value


def double_of(value: int) -> float:
    """The double that canonical JSON spells as this integer beyond ±(2^53 − 1), else a validation error."""
    double = exact_double(value)
    if double is None:
        raise fault("integer", "an integer must lie within ±(2^53 − 1): beyond it JSON is not exact")
    return double


def _check_amount(value: Any, info: ValidationInfo) -> int | float:
    number = _check_number(value, info)
    if number < 0:
        raise fault("number", f"expected a number that is not negative, but it is {number}")
    return number


def _check_ratio(value: Any, info: ValidationInfo) -> int | float:
    number = _check_number(value, info)
    if not 0 <= number <= 1:
        raise fault("number", f"expected a ratio from 0 to 1, but it is {number}")
    return number


def _check_scalar(value: Any, info: ValidationInfo) -> int | float | bool | str:
    if type(value) is bool:
        return value
    if type(value) is str:
        return check_text(value)
    return _check_number(value, info)


def check_text(value: str) -> str:
    """Text without U+0000, which PostgreSQL cannot hold."""
    if "\0" in value:
        raise fault("text", "the text holds U+0000; remove it")
    return value


def _check_dimension(value: Any) -> int | str:
    if type(value) is str:
        if _TOKEN.fullmatch(value) is None:
            raise fault("dimension", f"{value[:60]!r} is neither an integer nor the name of an axis, such as hidden")
        return value
    return _check_count(value)


def _check_duration(value: Any, info: ValidationInfo) -> int:
    """Integer nanoseconds, given as such or with a unit as people write them."""
    if type(value) is int and 0 <= value <= MAX_INTEGER:
        return value
    if type(value) is float and value.is_integer():
        value = int(value)
    note_rewrite(info)
    try:
        return parse_duration(value)
    except ManifestError as error:
        raise fault("duration", error.problems[0].message) from error


Integer = Annotated[int, _Checked(_integer_from(-MAX_INTEGER, "an integer"), _integer_schema(-MAX_INTEGER))]
Count = Annotated[int, _Checked(_check_count, _integer_schema(0))]
Positive = Annotated[int, _Checked(_integer_from(1, "an integer of at least 1"), _integer_schema(1))]
Number = Annotated[float, _Checked(_check_number, {"type": "number"}, rewrites=True)]
Amount = Annotated[float, _Checked(_check_amount, {"type": "number", "minimum": 0}, rewrites=True)]
Ratio = Annotated[float, _Checked(_check_ratio, {"type": "number", "minimum": 0, "maximum": 1}, rewrites=True)]
Scalar = Annotated[
    float | bool | str, _Checked(_check_scalar, {"type": ["number", "boolean", "string"]}, rewrites=True)
]
Duration = Annotated[
    int,
    _Checked(
        _check_duration,
        {
            "anyOf": [
                _integer_schema(0),
                {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})? ?(ns|us|µs|μs|ms|s)\s*$"},
            ]
        },
        rewrites=True,
    ),
]
Dimension = Annotated[
    int | str,
    _Checked(_check_dimension, {"anyOf": [_integer_schema(0), {"type": "string", "pattern": LOWER_SNAKE}]}),
]

# Text ---------------------------------------------------------------------------------------------------------------

TEXT = r"^[^\x00]*$"
DIGEST = r"^sha256:[0-9a-f]{64}$"
SLUG = r"^[a-z0-9][a-z0-9-]*$"
NAME = r"^[a-z0-9][a-z0-9._-]*$"
HTTPS = r"^https://[^\s\x00-\x1f\x7f/?#]+([/?#][^\s\x00-\x1f\x7f]*)?$"
URI = r"^[a-z][a-z0-9+.-]*:[^\s\x00-\x1f\x7f]+$"
COMMIT = r"^[0-9a-f]{40}$"
INSTANT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$"

PATTERNS = {
    TEXT: ("text", "the text holds U+0000; remove it"),
    DIGEST: ("digest", "expected a digest: sha256: and 64 lowercase hex digits"),
    LOWER_SNAKE: ("token", "expected a token: lowercase letters, digits and _, a letter first, such as cuda_events"),
    SLUG: ("slug", "expected a slug: lowercase letters, digits and hyphens, such as group-norm"),
    NAME: ("name", "expected a name: lowercase letters, digits, dots, underscores and hyphens, such as my-run.1"),
    HTTPS: ("url", "expected an address that begins with https:// and holds no spaces"),
    URI: ("uri", "expected a URI: a scheme, a colon and no spaces, such as https://example.org/log.txt"),
    COMMIT: ("commit", "expected a full git commit: 40 lowercase hex digits"),
    INSTANT: ("instant", "expected a UTC instant that ends in Z, such as 2026-02-28T00:23:31.000Z; no offset"),
}
"""Each pattern with the code and the sentence of its error."""


def _check_instant(value: str) -> str:
    try:
        datetime.fromisoformat(value)
    except ValueError as error:
        raise fault("instant", f"{value} is no moment of the calendar; correct the date or the time") from error
    return value


def _check_expression(value: str) -> str:
    try:
        parse_expression(value)
    except ManifestError as error:
        raise fault("expression", error.problems[0].message) from error
    return value


def _check_licence(value: str) -> str:
    try:
        check_licence(value)
    except ManifestError as error:
        raise fault("licence", error.problems[0].message) from error
    return value


Text = Annotated[str, Field(pattern=TEXT)]
Label = Annotated[str, Field(pattern=TEXT, min_length=1)]
Digest = Annotated[str, Field(pattern=DIGEST)]
Token = Annotated[str, Field(pattern=LOWER_SNAKE)]
Slug = Annotated[str, Field(pattern=SLUG, max_length=100)]
Name = Annotated[str, Field(pattern=NAME, max_length=200)]
HttpsUrl = Annotated[str, Field(pattern=HTTPS, max_length=2000)]
Uri = Annotated[str, Field(pattern=URI, max_length=2000)]
Commit = Annotated[str, Field(pattern=COMMIT)]
Instant = Annotated[str, Field(pattern=INSTANT), AfterValidator(_check_instant)]
AxisExpression = Annotated[str, Field(min_length=1, max_length=MAX_LENGTH), AfterValidator(_check_expression)]
Licence = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_check_licence)]

# Collections --------------------------------------------------------------------------------------------------------


def _sorted_set(values: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    """Without duplicates and in the order of UTF-16 code units, by which canonical JSON also sorts keys."""
    normal = tuple(sorted(set(values), key=lambda value: value.encode("utf-16be")))
    if normal != values:
        note_rewrite(info)
    return normal


# Tuples, for models are frozen; JSON has lists alone, which strict mode would not take for a tuple.
Items = Annotated[tuple[T, ...], Field(strict=False)]
SortedSet = Annotated[tuple[T, ...], Field(strict=False), AfterValidator(_sorted_set)]
