"""Cursors as the API gives them out: signed, for one list under one set of filters.

The reads' own cursors say where in a list a page begins. Sealed, they cannot be made up, and one that was given for
other filters, or another list, is refused instead of leading to a place that means nothing there.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from django.core.signing import BadSignature, Signer

from runs.reads.cursors import InvalidCursor

LONGEST = 2_000  # characters


def seal(token: str, path: str, filters: Mapping[str, str]) -> str:
    """A read's cursor for the list at this path under these filters."""
    return _signer(path, filters).sign(token)


def unseal(sealed: str, path: str, filters: Mapping[str, str]) -> str:
    """The read's cursor. Raises InvalidCursor."""
    try:
        return _signer(path, filters).unsign(sealed)
    except BadSignature as error:
        raise InvalidCursor(sealed) from error


def _signer(path: str, filters: Mapping[str, str]) -> Signer:
    return Signer(salt=f"kernelindex.api.cursor {path}?{urlencode(sorted(filters.items()))}", sep=".")
