"""The rows of an export on disk, table by table, to be read in the order in which they refer to one another.

An export may have its rows in any order; the memory that this takes does not grow with it.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from runs.sources.catalog.report import LINES, Report
from runs.sources.catalog.stream import Export
from runs.sources.catalog.tables import TABLES, fault

_BATCH: Final = 500
MAX_OTHERS: Final = 100
"""So many tables are told apart in a report; those that nobody knows beyond that are counted together."""

_SCHEMA: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -8000;
CREATE TABLE entry (part TEXT, id TEXT, above TEXT, line INTEGER, digest TEXT, name TEXT, body BLOB);
"""
# Made after the rows are in. `id` is the row's, `above` the id of the row that it is a part of.
_INDEXES: Final = """
CREATE INDEX entry_id ON entry (part, id, line);
CREATE INDEX entry_above ON entry (part, above, id, line) WHERE above IS NOT NULL;
CREATE INDEX entry_shared ON entry (digest, name, id) WHERE part = 'implementations';
"""


NOTICE: Final = "(notice)"  # stands for the name of a run that was retracted or that supersedes another


class Spooled(NamedTuple):
    """A row of the export with the line that it stands in."""

    line: int
    id: str
    row: dict[str, Any]


class Spool:
    """A temporary database of one export's rows; gone when the block ends."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="kernelindex-import-", dir=directory)
        self._database = sqlite3.connect(Path(self._directory.name) / "rows.sqlite3", isolation_level=None)
        self._database.executescript(_SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()
        self._directory.cleanup()

    def fill(self, export: Export, report: Report) -> None:
        """Take every line in; lines that are no row of a known table are refused. Raises ExportError and OSError."""
        waiting: list[tuple[Any, ...]] = []
        self._database.execute("BEGIN")
        for number, line in export.lines():
            entry = _entry(number, line, report)
            if entry:
                waiting.append(entry)
            if len(waiting) >= _BATCH:
                self._write(waiting)
        self._write(waiting)
        self._database.execute("COMMIT")
        self._database.executescript(_INDEXES)
        self._refuse_duplicates(report)

    def _write(self, waiting: list[tuple[Any, ...]]) -> None:
        self._database.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)", waiting)
        waiting.clear()

    def _refuse_duplicates(self, report: Report) -> None:
        """Of the rows of one id the first stays; the same again is there already, something else is refused."""
        twice = self._database.execute(
            "SELECT later.rowid, later.part, later.id, later.line, later.body = first.body FROM entry later "
            "JOIN (SELECT part, id, min(line) AS line FROM entry WHERE id <> '' GROUP BY part, id HAVING count(*) > 1) "
            "AS many ON many.part = later.part AND many.id = later.id AND later.line > many.line "
            "JOIN entry first ON first.part = many.part AND first.id = many.id AND first.line = many.line"
        ).fetchall()
        for rowid, table, id_, line, same in twice:
            if same:
                report.count(table, "counted" if TABLES[table].counted else "existing")
            else:
                report.refuse(table, line, id_, "DUPLICATE_ID")
            self._database.execute("DELETE FROM entry WHERE rowid = ?", [rowid])

    def batches(self, table: str, size: int, *, by: str | None = None) -> Iterator[list[Spooled]]:
        """The rows of a table in batches, in the order of their ids (of creation, that is).

        With `by`, only the rows whose `above` is that.
        """
        after = ("", 0)
        condition, extra = (" AND above = ?", [by]) if by is not None else ("", [])
        while True:
            found = self._database.execute(
                "SELECT line, id, body FROM entry WHERE part = ? AND (id, line) > (?, ?)"  # noqa: S608 — our own words
                f"{condition} ORDER BY id, line LIMIT ?",
                [table, *after, *extra, size],
            ).fetchall()
            if not found:
                return
            after = (found[-1][1], found[-1][0])
            yield [Spooled(line, id_, json.loads(body)) for line, id_, body in found]

    def notices(self, table: str) -> Iterator[Spooled]:
        """The runs that were retracted or that supersede others."""
        for line, id_, body in self._database.execute(
            "SELECT line, id, body FROM entry WHERE part = ? AND name = ? ORDER BY id", [table, NOTICE]
        ):
            yield Spooled(line, id_, json.loads(body))

    def parts(self, table: str, above: Sequence[str]) -> Iterator[tuple[str, Spooled]]:
        """The rows of a table that are parts of these rows, each with the id of the row that it is a part of."""
        marks = ", ".join("?" * len(above))
        found = self._database.execute(
            f"SELECT above, line, id, body FROM entry WHERE part = ? AND above IN ({marks}) ORDER BY line",  # noqa: S608
            [table, *above],
        )
        for parent, line, id_, body in found:
            yield parent, Spooled(line, id_, json.loads(body))

    def parents(self, table: str) -> list[str]:
        """The ids of the rows that the rows of a table are parts of."""
        found = self._database.execute("SELECT DISTINCT above FROM entry WHERE part = ? ORDER BY above", [table])
        return [above for (above,) in found]

    def orphans(self, table: str, parents: str) -> Iterator[tuple[int, str]]:
        """Line and id of the rows whose parent is not in the export."""
        yield from self._database.execute(
            "SELECT line, id FROM entry child WHERE part = ? AND NOT EXISTS "
            "(SELECT 1 FROM entry parent WHERE parent.part = ? AND parent.id = child.above)",
            [table, parents],
        )

    def names(self, table: str, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Digest as stated and `metadata.name` of the rows of these ids."""
        wanted = sorted(set(ids))
        marks = ", ".join("?" * len(wanted))
        found = self._database.execute(
            f"SELECT id, digest, name FROM entry WHERE part = ? AND id IN ({marks})",  # noqa: S608 — marks alone
            [table, *wanted],
        )
        return {id_: (digest, name) for id_, digest, name in found}

    def namesakes(self, ids: Iterable[str]) -> set[str]:
        """Those of these implementations before which another one of the same digest and name was created."""
        wanted = sorted(set(ids))
        marks = ", ".join("?" * len(wanted))
        found = self._database.execute(
            f"SELECT later.id FROM entry later WHERE later.part = 'implementations' AND later.id IN ({marks}) "  # noqa: S608
            "AND EXISTS (SELECT 1 FROM entry first WHERE first.part = 'implementations' AND "
            "first.digest = later.digest AND first.name = later.name AND first.id < later.id)",
            wanted,
        )
        return {id_ for (id_,) in found}

    def count(self, table: str) -> int:
        """How many rows of a table are left to be read."""
        found: int = self._database.execute("SELECT count(*) FROM entry WHERE part = ?", [table]).fetchone()[0]
        return found


def _entry(number: int, line: bytes, report: Report) -> tuple[Any, ...] | None:
    """A line as it is spooled, or None where it was refused."""
    try:
        document = json.loads(line, object_pairs_hook=_unique, parse_constant=_constant)
        name, row = document["table"], document["row"]
        whole = len(document) == 2 and isinstance(name, str) and isinstance(row, dict)
        body = json.dumps(row, separators=(",", ":"), allow_nan=False)
    except (ValueError, KeyError, TypeError, RecursionError):
        whole = False
    if not whole:
        report.read[LINES] += 1
        report.refuse(LINES, number, None, "MALFORMED_LINE")
        return None
    table = TABLES.get(name)
    if table is None:
        other = f"({_text(name)[:60]})"
        place = other if other in report.read or len(report.read) < MAX_OTHERS else LINES
        report.read[place] += 1
        report.refuse(place, number, None, "UNKNOWN_TABLE", name[:100])
        return None
    report.read[name] += 1
    wrong = fault(table, row)
    if wrong:
        id_ = row.get("id")
        report.refuse(name, number, id_[:100] if isinstance(id_, str) else None, "INVALID_ROW", f"{wrong}.")
        return None
    digest = row.get(table.digest) if table.digest else None
    return (
        name,
        row["id"] if table.has_id else "",
        row[table.parent] if table.parent else row.get("sourceId"),
        number,
        _text(digest),
        NOTICE if table.runs and (row.get("retractedAt") or row.get("supersedesId")) else _name(row),
        body,
    )


def _name(row: dict[str, Any]) -> str:
    metadata = row.get("manifest", {}).get("metadata") if isinstance(row.get("manifest"), dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return _text(name)


def _text(value: Any) -> str:
    """Text that every database can hold; what is no valid text matches nothing and is refused later."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else ""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice")
    return members


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
