"""Which edition of the evidence a page shows: equal editions mean that nothing was published in between.

Every record gets an id in order of creation, so the newest id of each table says whether anything was added, whatever
the size of the tables. Levels and ranks follow from records, and publication rewrites them together with the record
that changed them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from runs.reads.rows import as_uuid, fetch_tuple

# Everything that a page of subjects, places or records shows. The outbox is looked at as well, because two hosts whose
# clocks differ may publish one after the other with ids in the other order.
_TABLES: Final = (
    "run",
    "retraction",
    "supersession",
    "floorconfirmation",
    "rerunresult",
    "signerdecision",
    "operation",
    "operationalias",
    "implementation",
    "project",
    "environment",
    "protocol",
    "source",
    "sourcesnapshot",
)
_NEWEST: Final = ", ".join(
    f"(SELECT id FROM runs_{table} ORDER BY id DESC LIMIT 1)"  # noqa: S608 — names of our own tables
    for table in _TABLES
)
_EDITION: Final = f"SELECT {_NEWEST}, (SELECT max(id) FROM runs_outboxentry)"  # noqa: S608 — names of our own tables


@dataclass(frozen=True, slots=True)
class Edition:
    """The newest records, as the database knows them, and when the latest of them was made, in seconds since 1970."""

    parts: tuple[Any, ...]
    changed: float


def edition() -> Edition:
    """The edition that stands now. One statement that reads the ends of indexes."""
    newest = fetch_tuple(_EDITION) or ()
    # The first 48 bits of a version 7 UUID are milliseconds since 1970.
    made = [as_uuid(id_).int >> 80 for id_ in newest[: len(_TABLES)] if id_ is not None]
    return Edition(tuple(map(str, newest)), max(made, default=0) / 1000)
