"""The order in which members of a JSON object are shown.

Objects have no order of their own, and canonical JSON sorts by name. People read short names first, as PostgreSQL's
jsonb keeps them: by length, then by bytes. The public index shows its records so, and so does this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def display_order(names: Iterable[str]) -> list[str]:
    """Names by length in bytes, then by bytes."""
    return sorted(names, key=lambda name: (len(encoded := name.encode()), encoded))


def in_display_order(value: Any) -> Any:
    """A JSON value with the members of every object in display order."""
    if isinstance(value, Mapping):
        return {name: in_display_order(value[name]) for name in display_order(value)}
    if isinstance(value, list):
        return [in_display_order(item) for item in value]
    return value
