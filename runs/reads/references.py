"""Records that are addressed by the beginning of their digest."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from runs.reads.lookup import parse_digest, parse_id
from runs.reads.rows import Row, fetch

_FIND: Final = """
SELECT * FROM runs_{table}
WHERE {condition} ORDER BY digest LIMIT 2
"""


class Ambiguous(LookupError):
    """More than one digest begins so."""


def referred(table: str, reference: str) -> Row | None:
    """The record of a table of ours that an id, a digest or the beginning of one means; None where there is none.

    One statement. Raises Ambiguous.
    """
    digits = parse_digest(reference)
    id_: UUID | None = parse_id(reference) if "-" in reference else None
    if id_:
        found = fetch(_FIND.format(table=table, condition="id = %s"), [id_])
    else:
        bounds = [f"sha256:{digits}", f"sha256:{digits}g"] if digits else ["", ""]
        found = fetch(_FIND.format(table=table, condition="digest >= %s AND digest < %s"), bounds)
    if len(found) > 1:
        raise Ambiguous(reference)
    return found[0] if found else None
