"""What became of every row that was read: a table that sums to the rows, and each malformed line with its reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from runs.sources.liger.reasons import SENTENCES

PUBLISHED = "published"
"""The outcome of a row that became a run; any other outcome is a reason's code."""

MAX_LINES = 1_000
"""Malformed lines that a report names; all are counted."""

_MAX_NAME = 160


class Cell(NamedTuple):
    """Rows of one kind and what became of them; names are cut at 160 characters."""

    file: str
    kernel: str
    layout: str
    metric: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Line:
    """A malformed line."""

    file: str
    line: int
    code: str
    detail: str


@dataclass(slots=True)
class Report:
    """Counts by file, kernel, layout, metric and outcome, and the first malformed lines."""

    cells: Counter[Cell] = field(default_factory=Counter)
    lines: list[Line] = field(default_factory=list)

    def count(self, file: str, kernel: str, layout: str, metric: str, outcome: str) -> None:
        """Count one row."""
        self.cells[Cell(file, kernel[:_MAX_NAME], layout[:_MAX_NAME], metric[:_MAX_NAME], outcome)] += 1

    def name_line(self, file: str, line: int, code: str, detail: str) -> None:
        """Remember where a malformed line is, while there is room."""
        if len(self.lines) < MAX_LINES:
            self.lines.append(Line(file, line, code, detail))

    @property
    def rows(self) -> int:
        """Rows read."""
        return self.cells.total()

    @property
    def published(self) -> int:
        """Rows that became runs."""
        return self.outcomes()[PUBLISHED]

    def outcomes(self, file: str | None = None) -> Counter[str]:
        """Rows by outcome, of all files or of one."""
        counts: Counter[str] = Counter()
        for cell, rows in self.cells.items():
            if file is None or cell.file == file:
                counts[cell.outcome] += rows
        return counts

    def to_document(self) -> dict[str, Any]:
        """The report as plain JSON data."""
        outcomes = self.outcomes()
        files = dict.fromkeys(cell.file for cell in self.cells)
        return {
            "rows": self.rows,
            "published": outcomes[PUBLISHED],
            "files": {file: dict(sorted(self.outcomes(file).items())) for file in files},
            "reasons": {
                code: {"rows": rows, "sentence": SENTENCES[code]}
                for code, rows in sorted(outcomes.items())
                if code != PUBLISHED
            },
            "table": [{**cell._asdict(), "rows": rows} for cell, rows in self.cells.items()],
            "malformed": [
                {"file": each.file, "line": each.line, "code": each.code, "detail": each.detail} for each in self.lines
            ],
        }
