"""What became of every row of an export: a table that sums to the rows, and each refused row with its reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

OUTCOMES: Final = ("created", "existing", "counted", "refused")
MAX_NAMED: Final = 1_000
"""Refused rows and differences that a report names; all are counted."""

LINES: Final = "(lines)"
"""Stands for the table of lines that belong to no table."""


@dataclass(slots=True)
class Report:
    """Counts by table and outcome, refusals by table and code, and the first thousand of what was found."""

    read: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    codes: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: list[dict[str, Any]] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)
    different: int = 0
    embedded: dict[str, set[str]] = field(default_factory=dict)
    notices: Counter[str] = field(default_factory=Counter)
    published: list[str] = field(default_factory=list)

    def count(self, table: str, outcome: str, rows: int = 1) -> None:
        """Count rows that were created, existed, or are counted alone."""
        self.outcomes[table, outcome] += rows

    def refuse(self, table: str, line: int, id_: str | None, code: str, detail: str = "") -> None:
        """Count a row that was refused, and name it while there is room."""
        self.outcomes[table, "refused"] += 1
        self.codes[table, code] += 1
        if len(self.refused) < MAX_NAMED:
            named = {"table": table, "line": line, "id": id_, "code": code, "detail": detail[:1_000]}
            self.refused.append({key: value for key, value in named.items() if value not in (None, "")})

    def differ(self, table: str, id_: str, column: str, stated: Any, found: Any) -> None:
        """A column of an accepted row says something else than what follows from its manifest."""
        self.different += 1
        if len(self.differences) < MAX_NAMED:
            self.differences.append({"table": table, "id": id_, "column": column, "stated": stated, "derived": found})

    def dated(self, published: Any) -> None:
        """Remember the span of time in which the export says that its runs were published."""
        if isinstance(published, str):
            self.published = [min([published, *self.published[:1]]), max([published, *self.published[1:]])]

    def rows(self, outcome: str) -> int:
        """Rows of all tables with this outcome."""
        return sum(count for (_, each), count in self.outcomes.items() if each == outcome)

    @property
    def sums(self) -> bool:
        """Whether every row that was read has one outcome."""
        return all(self._outcomes(table).total() == read for table, read in self.read.items())

    def _outcomes(self, table: str) -> Counter[str]:
        return Counter({outcome: self.outcomes[table, outcome] for outcome in OUTCOMES})

    def to_document(self, sentences: dict[str, str]) -> dict[str, Any]:
        """The report as plain JSON data; `sentences` has one for each code."""
        return {
            "tables": {table: {"read": read, **self._outcomes(table)} for table, read in self.read.items()},
            "sums": self.sums,
            "embedded": {kind: len(digests) for kind, digests in sorted(self.embedded.items())},
            "notices": dict(sorted(self.notices.items())),
            "sourcePublished": dict(zip(("first", "last"), self.published, strict=False)),
            "reasons": [
                {"table": table, "code": code, "rows": rows, "sentence": sentences[code]}
                for (table, code), rows in sorted(self.codes.items())
            ],
            "refused": self.refused,
            "differences": {"count": self.different, "rows": self.differences},
        }
