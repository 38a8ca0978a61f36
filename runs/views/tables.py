"""Tables as CSV and Markdown, written so that no cell says more to a spreadsheet or a renderer than its text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

CSV: Final = "text/csv; charset=utf-8; header=present"
MARKDOWN: Final = "text/markdown; charset=utf-8"

# Spreadsheets take a cell that begins so for a formula, the wide forms of these signs too, and skip blanks before it.
_FORMULA: Final = re.compile(r"[\s\x00\ufeff\u200b\u2060]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
# Whatever begins or ends something in Markdown, HTML in it included.
_MARKS: Final = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&:@$^=\"'])")


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A table with a head as RFC 4180 has it. Absent values are empty, times UTC, truth is true or false."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(csv_cell, header))
    writer.writerows([csv_cell(value) for value in row] for row in rows)
    return out.getvalue().encode()


def csv_cell(value: Any) -> str:
    """One value as text. A text that a spreadsheet would compute gets an apostrophe in front, which makes it a text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, int | float):
        return repr(value)
    text = str(value).replace("\x00", "")
    return f"'{text}" if _FORMULA.match(text) else text


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of GitHub's Markdown; every cell is escaped already or made by `markdown_text`."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown_text(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
