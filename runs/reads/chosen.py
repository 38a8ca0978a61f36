"""Which runs somebody means who typed ids, digests, beginnings of digests, or addresses of run pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from runs.reads.lookup import SHORTEST_PREFIX, parse_digest, parse_id
from runs.reads.rows import as_uuid, fetch

LONGEST: Final = 300  # characters of one reference that are looked at
_ADDRESS: Final = re.compile(r"(?:https?://[^/]+)?/runs/([^/?#]+?)(?:\.json|/(?:manifest\.json)?)?(?:[?#].*)?")
_BY_ID: Final = "SELECT {place} AS place, id, digest, canonical = '' AS removed FROM runs_run WHERE id = %s"
_BY_DIGEST: Final = """
SELECT * FROM (
    SELECT {place} AS place, id, digest, canonical = '' AS removed FROM runs_run
    WHERE digest >= %s AND digest < %s ORDER BY digest LIMIT 2
) d{place}
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was typed, and the run that it means; or, with `status`, what is wrong with it."""

    typed: str
    run: UUID | None = None
    digest: str | None = None
    problem: str = ""
    status: int = 200
    candidates_for: str = ""  # the beginning of a digest that several runs share


def split(texts: Sequence[str]) -> tuple[str, ...]:
    """The references in what was typed: several may stand in one field, between blanks or commas."""
    parts = (part for text in texts for part in re.split(r"[\s,;]+", text.replace("\x00", "")))
    return tuple(part[:LONGEST] for part in parts if part)


def choices(references: Sequence[str]) -> tuple[Choice, ...]:
    """The run of each reference, in their order. One statement, and none where no reference could be one."""
    parts: list[str] = []
    params: list[Any] = []
    for place, typed in enumerate(references):
        reference = _bare(typed)
        if id_ := parse_id(reference):
            parts.append(_BY_ID.format(place=place))
            params.append(id_)
        elif (digits := parse_digest(reference)) is not None:
            parts.append(_BY_DIGEST.format(place=place))
            params += [f"sha256:{digits}", f"sha256:{digits}g"]
    found: dict[int, list[Any]] = {}
    for row in fetch(" UNION ALL ".join(parts), params) if parts else ():
        found.setdefault(row["place"], []).append(row)
    taken: dict[UUID, str] = {}
    result = []
    for place, typed in enumerate(references):
        choice = _choice(typed, found.get(place, []))
        if choice.run in taken:
            choice = Choice(typed, problem=f"This is the same run as {taken[choice.run]}.", status=400)
        elif choice.run:
            taken[choice.run] = typed
        result.append(choice)
    return tuple(result)


def _bare(typed: str) -> str:
    match = _ADDRESS.fullmatch(typed)
    return match[1] if match else typed


def _choice(typed: str, rows: Sequence[Any]) -> Choice:
    reference = _bare(typed)
    if not rows:
        if parse_id(reference) or parse_digest(reference):
            return Choice(typed, problem="No published run has this id or digest.", status=404)
        return Choice(
            typed,
            problem=f"This is neither the id of a run nor {SHORTEST_PREFIX} or more hexadecimal digits of a digest.",
            status=400,
        )
    if len(rows) > 1:
        digits = parse_digest(reference) or ""
        problem = "Several runs have a digest that begins so: give more digits of it."
        return Choice(typed, problem=problem, status=400, candidates_for=f"sha256:{digits}")
    [row] = rows
    if row["removed"]:
        return Choice(typed, problem="The content of this run was removed by law.", status=410)
    return Choice(typed, as_uuid(row["id"]), row["digest"])
