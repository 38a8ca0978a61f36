"""Finding a run by what people paste: an id, a digest, or the beginning of one."""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID

from runs.reads.rows import as_uuid, fetch
from runs.reads.run_list import run_rows
from runs.reads.values import RunRow

SHORTEST_PREFIX: Final = 12  # hexadecimal digits
MOST_CANDIDATES: Final = 20

_DIGEST: Final = re.compile(rf"(sha256:)?([0-9a-f]{{{SHORTEST_PREFIX},64}})")
_HEX: Final = re.compile(r"[0-9a-f]{1,64}")


def parse_id(text: str) -> UUID | None:
    """A run's id as it may be written, or None."""
    try:
        return UUID(text) if re.fullmatch(r"[0-9A-Fa-f-]{32,36}", text) else None
    except ValueError:
        return None


def parse_digest(text: str) -> str | None:
    """The hexadecimal digits of a digest or of a long enough beginning of one, or None."""
    match = _DIGEST.fullmatch(text.lower())
    return match[2] if match else None


def is_short(text: str) -> bool:
    """Whether it would be the beginning of a digest if it were longer."""
    prefix, _, digits = text.lower().partition(":")
    return prefix == "sha256" and len(digits) < SHORTEST_PREFIX and bool(_HEX.fullmatch(digits))


def _between(digits: str) -> tuple[str, str]:
    # "g" follows every hexadecimal digit, so that a range on the index finds all that begin so.
    return f"sha256:{digits}", f"sha256:{digits}g"


def runs_with_digest(digits: str) -> tuple[UUID, ...]:
    """The ids of at most two runs whose digests begin so: none, the one, or enough to know that it is ambiguous."""
    rows = fetch("SELECT id FROM runs_run WHERE digest >= %s AND digest < %s ORDER BY digest LIMIT 2", _between(digits))
    return tuple(as_uuid(row["id"]) for row in rows)


def candidates(digits: str) -> tuple[RunRow, ...]:
    """The runs whose digests begin so, in order of their digests."""
    condition = "r.digest >= %s AND r.digest < %s"
    return run_rows(condition, _between(digits), order="r.digest", limit=MOST_CANDIDATES)
