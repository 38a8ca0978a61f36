"""The export of everything that is published here, in the form that the public index exports: one JSON row a line.

The same content gives the same bytes: rows are ordered by content, members by name, and nothing tells when it was
exported. The evidence is read as it stands at one moment, whatever is published meanwhile.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import orjson
import zstandard
from django.db import connection, transaction

from runs import export_rows, export_runs
from runs.export_rows import Emit, Ids

LEVEL: Final = 10  # of compression; another one, or another version of zstd, writes other bytes of the same content
TABLES: Final[tuple[Callable[[Ids], Emit], ...]] = (
    export_rows.sources,
    export_rows.projects,
    export_rows.operations,
    export_rows.workloads,
    export_rows.implementations,
    export_runs.runs,
    export_runs.figures,
    export_rows.files,
    export_runs.serving_subjects,
    export_runs.serving_runs,
    export_runs.serving_figures,
)


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: rows by table, the digest of the file's bytes, and that of the lines before compression."""

    rows: Counter[str]
    digest: str
    content: str
    size: int


@contextmanager
def one_moment() -> Iterator[None]:
    """Reads of one state of the database. It keeps no writer waiting."""
    if connection.in_atomic_block:
        yield  # whoever began the transaction sees to that
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")  # Django's own would be IMMEDIATE, and take the place of a writer
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


def lines() -> Iterator[tuple[str, bytes]]:
    """Every row as a line, with the table that it is of."""
    ids = Ids()
    with one_moment():
        for table in TABLES:
            for name, row in table(ids):
                # Sorted, because PostgreSQL keeps the members of an object in an order of its own.
                plain = orjson.dumps(row, option=orjson.OPT_SORT_KEYS)
                yield name, b'{"table":"%s","row":%s}\n' % (name.encode(), plain)


def export(path: Path, *, advance: Callable[[int], None] = lambda _: None) -> Exported:
    """Write the export to `path`, and its digest to `path` with `.sha256` behind it, both at once or not at all.

    Compressed with zstd where the name ends in .zst. `advance` is called with 1 for each row. Raises OSError.
    """
    content, rows = hashlib.sha256(), Counter[str]()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as file, _writer(file, path) as out:
            for table, line in lines():
                content.update(line)
                out.write(line)
                rows[table] += 1
                advance(1)
        digest = _digest(unfinished)
        size = unfinished.stat().st_size
        unfinished.chmod(0o644)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    path.with_name(f"{path.name}.sha256").write_text(f"{digest}  {path.name}\n")
    return Exported(rows, f"sha256:{digest}", f"sha256:{content.hexdigest()}", size)


@contextmanager
def _writer(file: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    if path.suffix != ".zst":
        yield file
        return
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=False)
    with packer.stream_writer(file, closefd=False) as out:
        yield out


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
