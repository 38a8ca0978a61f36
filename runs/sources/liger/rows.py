"""Bounded reading of benchmark CSV files: a row a line, and each line that is no row with its reason."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

MAX_LINE = 64 * 1024
"""Bytes; the longest line of the releases has under 700."""

MAX_LINES = 500_000
"""Lines of a file; the largest release has about 3,000."""

COLUMNS = (
    "kernel_name",
    "kernel_provider",
    "kernel_operation_mode",
    "metric_name",
    "metric_unit",
    "x_name",
    "x_value",
    "y_value_50",
    "y_value_20",
    "y_value_80",
    "extra_benchmark_config_str",
    "gpu_name",
    "timestamp",
    "liger_version",
)
"""Columns that a row needs; others (a label for plots) are not read."""

QUANTILES = ("y_value_20", "y_value_50", "y_value_80")
"""The columns of measured values, in ascending order."""

_BOM = b"\xef\xbb\xbf"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}", re.ASCII)
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,60}", re.ASCII)


class SourceError(Exception):
    """A file or archive that cannot be read as a whole; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Row:
    """A well-formed line. `p20`, `p50` and `p80` are in `unit`, positive and finite."""

    line: int
    kernel: str
    provider: str
    mode: str
    metric: str
    unit: str
    x_name: str
    x_value: str
    p50: float
    p20: float
    p80: float
    config: str
    gpu: str
    timestamp: str
    version: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that is no row: its number, the code of the reason, which field, and the kernel and x name if legible."""

    line: int
    code: str
    detail: str = ""
    kernel: str = ""
    x_name: str = ""
    metric: str = ""


def read_rows(stream: BinaryIO) -> Iterator[Row | Malformed]:
    """The rows of a CSV file with their line numbers (the header is line 1); blank lines are no rows.

    UTF-8 with or without a byte order mark, LF or CRLF. Never holds more than one line of at most `MAX_LINE` bytes.
    Raises SourceError for more than `MAX_LINES` lines.
    """
    header: Mapping[str, int] | None = None
    width = 0
    fault = ""
    for number, raw in _lines(stream):
        if raw is None:
            text, code = "", "line_too_long"
        else:
            text, code = _decode(raw)
        if number == 1:
            names = [] if code else _fields(text)
            header, width = {name: index for index, name in enumerate(names or [])}, len(names or [])
            fault = next((name for name in COLUMNS if name not in header), "")
            if code and fault:
                fault = code
            continue
        if not code and not text.strip():
            continue
        if code:
            yield Malformed(number, code)
        elif header is None or fault:
            known = fault in COLUMNS
            yield Malformed(number, "missing_column" if known else fault, f"header: {fault}" if known else "header")
        else:
            yield _row(number, text, header, width)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines without their ends; None for one that is too long, which is skipped without being kept."""
    number = 0
    while raw := stream.readline(MAX_LINE + 1):
        number += 1
        if number > MAX_LINES:
            raise SourceError(f"the file has more than {MAX_LINES:,} lines; split it")
        if len(raw) > MAX_LINE and not raw.endswith(b"\n"):
            while (more := stream.readline(MAX_LINE)) and not more.endswith(b"\n"):
                pass
            yield number, None
        else:
            yield number, raw.removeprefix(_BOM) if number == 1 else raw


def _decode(raw: bytes) -> tuple[str, str]:
    try:
        return raw.decode(), ""
    except UnicodeDecodeError:
        return "", "not_utf8"


def _fields(text: str) -> list[str] | None:
    try:
        rows = list(csv.reader([text], strict=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def _row(number: int, text: str, header: Mapping[str, int], width: int) -> Row | Malformed:
    fields = _fields(text)
    if fields is None:
        return Malformed(number, "not_csv")
    if len(fields) != width:
        return Malformed(number, "missing_column" if len(fields) < width else "extra_column")
    value = {name: fields[header[name]] for name in COLUMNS}
    fault = _fault(value)
    if fault is not None:
        code, column = fault
        return Malformed(number, code, column, value["kernel_name"], value["x_name"], value["metric_name"])
    return Row(
        line=number,
        kernel=value["kernel_name"],
        provider=value["kernel_provider"],
        mode=value["kernel_operation_mode"],
        metric=value["metric_name"],
        unit=value["metric_unit"],
        x_name=value["x_name"],
        x_value=value["x_value"],
        p50=float(value["y_value_50"]),
        p20=float(value["y_value_20"]),
        p80=float(value["y_value_80"]),
        config=value["extra_benchmark_config_str"],
        gpu=value["gpu_name"],
        timestamp=value["timestamp"],
        version=value["liger_version"],
    )


def _fault(value: Mapping[str, str]) -> tuple[str, str] | None:
    """What is wrong with the fields of a row, and with which; None where nothing is."""
    for name in COLUMNS:
        if not value[name]:
            return "missing_value", name
    for name in QUANTILES:
        code = _number_fault(value[name])
        if code is not None:
            return code, name
    p20, p50, p80 = (float(value[name]) for name in QUANTILES)
    if not p20 <= p50 <= p80:
        return "quantiles_disordered", ", ".join(QUANTILES)
    if not _is_timestamp(value["timestamp"]):
        return "bad_timestamp", "timestamp"
    if _VERSION.fullmatch(value["liger_version"]) is None:
        return "bad_version", "liger_version"
    return None


def _number_fault(text: str) -> str | None:
    """The code of what a measured value is instead of a positive finite number; None where it is one."""
    if _NUMBER.fullmatch(text) is None:
        return {"nan": "nan", "inf": "infinite", "infinity": "infinite"}.get(text.lower().lstrip("+-"), "not_a_number")
    value = float(text)
    if math.isinf(value):
        return "infinite"
    if value == 0:
        return "zero"
    return "negative" if value < 0 else None


def _is_timestamp(text: str) -> bool:
    if _TIMESTAMP.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
