"""Canonical JSON (RFC 8785) and the digests taken over it."""

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import rfc8785

from runs.manifests.errors import MAX_PROBLEMS, ManifestError, Problem, place_of

MAX_INTEGER = 2**53 - 1
"""Beyond this a JSON number is not exact: RFC 8785 numbers are IEEE doubles."""


def canonical_json(value: Any) -> bytes:
    """The RFC 8785 bytes of plain JSON data.

    Raises `ManifestError` naming the place of what JSON cannot say exactly: NaN, an infinity, an integer beyond
    ±(2^53 − 1), text that is not Unicode, a key that is no text, a value of any other type, nesting that has no end.

    RFC 8785 itself spells doubles up to 1e21 as integers. An integer in that very spelling is taken for the double, so
    that canonical text read back stays what it was.
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        problems = _faults(value)
        if problems:
            raise ManifestError(problems) from error
        return rfc8785.dumps(_with_doubles(value))
    except RecursionError as error:
        raise ManifestError.of("", "depth", "the value is nested too deeply; flatten it") from error


def exact_double(integer: int) -> float | None:
    """The double that RFC 8785 spells as this integer beyond ±(2^53 − 1), if there is one."""
    try:
        double = float(integer)
    except OverflowError:
        return None
    return double if rfc8785.dumps(double) == str(integer).encode() else None


def _with_doubles(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_doubles(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_doubles(item) for item in value]
    return exact_double(value) if isinstance(value, int) and abs(value) > MAX_INTEGER else value


def sha256(data: bytes) -> str:
    """`sha256:` and the 64 lowercase hex digits of the SHA-256 of `data`."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def object_digest(value: Any) -> str:
    """The digest of a plain object: SHA-256 over its canonical JSON."""
    return sha256(canonical_json(value))


def manifest_digest(manifest: Mapping[str, Any]) -> str:
    """The digest of a manifest as it stands: over apiVersion, kind and spec; metadata never enters.

    Nothing is validated or normalised here (`parse_manifest` does both). Raises `ManifestError` where one of the three
    is missing or has no canonical form.
    """
    missing = [name for name in ("apiVersion", "kind", "spec") if name not in manifest]
    if missing:
        raise ManifestError(Problem(name, "missing", f"add {name}: the digest is taken over it") for name in missing)
    return object_digest({name: manifest[name] for name in ("apiVersion", "kind", "spec")})


def _faults(root: Any) -> list[Problem]:
    """What in `root` has no canonical form; looked for only after canonicalisation failed."""
    found: list[Problem] = []
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    while pending and len(found) < MAX_PROBLEMS:
        path, value = pending.pop()
        if isinstance(value, dict):
            for key, item in value.items():
                if isinstance(key, str):
                    pending.append(((*path, key), item))
                else:
                    found.append(Problem(place_of(path), "key", f"the key {key!r} is no text; put it in quotes"))
                if isinstance(key, str) and not _is_unicode(key):
                    found.append(Problem(place_of(path), "unicode", "a key holds a lone surrogate; mend the text"))
        elif isinstance(value, list | tuple):
            pending.extend(((*path, index), item) for index, item in enumerate(value))
        else:
            found.extend(_scalar_fault(place_of(path), value))
    return found


def _scalar_fault(place: str, value: Any) -> Iterator[Problem]:
    if isinstance(value, float):
        if not math.isfinite(value):
            yield Problem(place, "number", f"{value} is no JSON number; leave the field out or give a finite number")
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER and exact_double(value) is None:
            yield Problem(place, "integer", "an integer must lie within ±(2^53 − 1): beyond it JSON is not exact")
    elif isinstance(value, str):
        if not _is_unicode(value):
            yield Problem(place, "unicode", "the text holds a lone surrogate; mend the text")
    elif value is not None:
        yield Problem(place, "type", f"{type(value).__name__} is no JSON type; use text, a number, a list or an object")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
