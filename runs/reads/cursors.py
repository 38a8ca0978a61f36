"""Cursors of keyset pages: where in a list a page begins, as a token that survives whatever is published meanwhile."""

from __future__ import annotations

import base64
import binascii
import struct
from dataclasses import dataclass
from uuid import UUID

_LAYOUT = struct.Struct(">cQ16s")


class InvalidCursor(ValueError):
    """A text that no page of this list carries."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A row of a list, and on which side of it the page lies. `rank` is 0 where list or row has none."""

    id: UUID
    forward: bool
    rank: int = 0

    def __str__(self) -> str:
        packed = _LAYOUT.pack(b">" if self.forward else b"<", self.rank, self.id.bytes)
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def parse_cursor(text: str) -> Cursor:
    """Raises InvalidCursor."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        direction, rank, id_ = _LAYOUT.unpack(packed)
    except (ValueError, binascii.Error, struct.error) as error:
        raise InvalidCursor(text) from error
    cursor = Cursor(UUID(bytes=id_), direction == b">", rank)
    if direction not in (b">", b"<") or rank >= 2**63 or str(cursor) != text:
        raise InvalidCursor(text)
    return cursor
