"""Reading a document that anyone may have written: bounded JSON or YAML, with the place of every fault."""

import json
import math
from collections import Counter
from typing import Any

from runs.manifests.errors import ManifestError, Problem, place_of
from runs.manifests.yaml_intake import load_yaml

MAX_BYTES = 1024 * 1024
"""The longest text that is read, in bytes of UTF-8."""

MAX_DEPTH = 64
"""The deepest nesting that is read."""


class _Fault:
    """Stands in a tree being read where something is wrong, until its place is known."""

    __slots__ = ("code", "inside", "message")

    def __init__(self, code: str, message: str, inside: dict[str, Any] | None = None) -> None:
        self.code = code
        self.message = message
        self.inside = inside


def load_document(data: bytes | str) -> Any:
    """The plain JSON data of a text: JSON where it begins with { or [, else YAML.

    Raises `ManifestError` for more than 1 MiB, what is not UTF-8, a syntax error (with line and column), a duplicate
    key, NaN or an infinity, nesting beyond 64 levels, and in YAML a tag, more than 100 aliases, or a key that is no
    text.
    """
    if len(data) > MAX_BYTES or (isinstance(data, str) and len(data.encode(errors="replace")) > MAX_BYTES):
        raise ManifestError.of("", "size", "the text is longer than 1 MiB; shorten it")
    text = _decoded(data) if isinstance(data, bytes) else data
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise ManifestError.of("", "syntax", "the text is empty; a manifest is a JSON or YAML object")
    if text.lstrip()[0] in "{[":
        return _load_json(text)
    return load_yaml(text, max_weight=MAX_BYTES, max_depth=MAX_DEPTH)


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ManifestError.of(
            f"line {line}", "encoding", f"byte {error.start + 1} is not UTF-8; save the text as UTF-8"
        ) from error


def _load_json(text: str) -> Any:
    faults: list[_Fault] = []

    def fault(code: str, message: str, inside: dict[str, Any] | None = None) -> _Fault:
        faults.append(_Fault(code, message, inside))
        return faults[-1]

    def read_object(pairs: list[tuple[str, Any]]) -> Any:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        return fault("duplicate_key", f"the key {twice[:80]!r} stands twice; keep one of them", members)

    def read_float(digits: str) -> Any:
        value = float(digits)
        return value if math.isfinite(value) else fault("number", f"{digits[:40]} is larger than any JSON number")

    def read_integer(digits: str) -> Any:
        # No valid number has more digits than the largest double, and reading thousands takes quadratic time.
        return int(digits) if len(digits) <= 400 else fault("integer", "the integer must lie within ±(2^53 − 1)")

    def read_constant(name: str) -> Any:
        return fault("number", f"{name} is no JSON number; leave the field out or give a finite number")

    try:
        value = json.loads(
            text,
            object_pairs_hook=read_object,
            parse_float=read_float,
            parse_int=read_integer,
            parse_constant=read_constant,
        )
    except json.JSONDecodeError as error:
        raise ManifestError.of(
            f"line {error.lineno}, column {error.colno}", "syntax", f"this is no JSON: {error.msg}"
        ) from error
    except RecursionError as error:
        raise _too_deep() from error
    problems = _placed(value)
    if problems:
        raise ManifestError(problems)
    return value


def _placed(root: Any) -> list[Problem]:
    """The faults in a tree with their places."""
    problems: list[Problem] = []
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, _Fault):
            problems.append(Problem(place_of(path), value.code, value.message))
            value = value.inside
        if isinstance(value, dict | list):
            if len(path) >= MAX_DEPTH:
                raise _too_deep()
            items = value.items() if isinstance(value, dict) else enumerate(value)
            pending.extend(((*path, step), item) for step, item in items)
    return problems[::-1]


def _too_deep() -> ManifestError:
    return ManifestError.of("", "depth", f"the text is nested more than {MAX_DEPTH} deep; flatten it")
