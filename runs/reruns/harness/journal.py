"""A batch's journal: one JSON line for each thing that is finished, so that a batch that was cut short goes on."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runs.reruns.harness.errors import HarnessError


class Journal:
    """Appends records and gives back those of an earlier attempt; without a path it keeps nothing."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._cleaned = False

    def records(self) -> Iterator[dict[str, Any]]:
        """The records written so far; a last line that a crash cut off is left out.

        Raises HarnessError (``journal_damaged``) for a broken line before the last.
        """
        if self._path is None or not self._path.exists():
            return
        lines = self._path.read_bytes().split(b"\n")
        for number, line in enumerate(lines[:-1]):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise HarnessError("journal_damaged", f"Line {number + 1} of the journal is not JSON.") from error

    def append(self, record: dict[str, Any]) -> None:
        """Write one record so that a crash of the host keeps it."""
        if self._path is None:
            return
        self._drop_torn_line()
        with self._path.open("ab") as file:
            file.write(json.dumps(record, allow_nan=False, separators=(",", ":")).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _drop_torn_line(self) -> None:
        """Cut off what a crash left of a line, once, before the first record of this attempt."""
        if self._cleaned:
            return
        self._cleaned = True
        assert self._path is not None
        if self._path.exists():
            with self._path.open("rb+") as file:
                file.truncate(file.read().rfind(b"\n") + 1)
