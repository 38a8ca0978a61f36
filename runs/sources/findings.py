"""What became of the entries of files that people hand in: how many became runs, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

MAX_NAMED: Final = 1_000
"""Faults that are named; all are counted."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong where, and how to mend it. `place` is a file with a line, or a column of a row."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(slots=True)
class Findings:
    """Entries that were read and published, and the first thousand faults."""

    read: int = 0
    runs: int = 0
    faulty: int = 0
    faults: list[Fault] = field(default_factory=list)

    def fault(self, place: str, message: str) -> None:
        """Remember a fault while there is room."""
        if len(self.faults) < MAX_NAMED:
            self.faults.append(Fault(place, message))

    def to_document(self) -> Mapping[str, Any]:
        """The findings as plain JSON data."""
        return {
            "read": self.read,
            "runs": self.runs,
            "faulty": self.faulty,
            "faults": [{"place": each.place, "message": each.message} for each in self.faults],
        }


class SourceError(ValueError):
    """A file or a folder that cannot be read at all."""
