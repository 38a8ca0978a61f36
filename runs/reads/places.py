"""Places in lists that are sorted by texts: the values of the last row of a page, as a token in its address."""

from __future__ import annotations

import base64
import binascii

import orjson

from runs.reads.cursors import InvalidCursor

Place = tuple[str, ...]


def write_place(*values: str) -> str:
    """A token that `read_place` reads back."""
    return base64.urlsafe_b64encode(orjson.dumps(values)).decode().rstrip("=")


def read_place(token: str, size: int) -> Place | None:
    """The values of a place; None for an empty token, where a list begins. Raises InvalidCursor."""
    if not token:
        return None
    try:
        values = orjson.loads(base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError) as error:
        raise InvalidCursor(token) from error
    if not isinstance(values, list) or len(values) != size or not all(isinstance(value, str) for value in values):
        raise InvalidCursor(token)
    if any("\x00" in value for value in values):
        raise InvalidCursor(token)
    return tuple(values)
