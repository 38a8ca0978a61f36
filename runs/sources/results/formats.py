"""Files of results as rows of one table: CSV and JSON of our own, pytest-benchmark's JSON, Google Benchmark's JSON.

Sources: the JSON that pytest-benchmark 5 writes with --benchmark-json, and Google Benchmark 1.9 with
--benchmark_format=json.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from runs.sources.findings import SourceError
from runs.sources.text import token

MAX_FILE: Final = 64 * 1024 * 1024
_CASE: Final = re.compile(r"\[.*\]$", re.DOTALL)
_GOOGLE_STATISTICS: Final = {"mean": "mean", "median": "median"}
_GOOGLE_OPTIONS: Final = {"repeats", "iterations", "min_time", "min_warmup_time"}  # how was measured, not what
Cells = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with their places; `kind` is what the file was taken for."""

    kind: str
    rows: list[tuple[str, Cells]]


def read_table(data: bytes, *, hardware: str = "") -> Table:
    """The rows of a file. `hardware` names the device where the file cannot. Raises SourceError."""
    if len(data) > MAX_FILE:
        raise SourceError(f"the file is longer than {MAX_FILE:,} bytes")
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return Table("CSV", list(_csv(data, hardware)))
    document = _loaded(data)
    if isinstance(document, list):
        return Table("JSON", list(_json(document, hardware)))
    listed = document.get("benchmarks")
    if isinstance(listed, list) and "machine_info" in document:
        return Table("pytest-benchmark", list(_pytest(document, listed, hardware)))
    if isinstance(listed, list) and isinstance(document.get("context"), dict):
        return Table("Google Benchmark", list(_google(document["context"], listed, hardware)))
    raise SourceError(
        "the JSON is a list of rows, or what pytest-benchmark or Google Benchmark write; this is none of them"
    )


def _loaded(data: bytes) -> Any:
    """JSON that may be longer than a manifest: pytest-benchmark writes every sample."""
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_constant)
    except RecursionError as error:
        raise SourceError("the JSON is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise SourceError(f"line {error.lineno}, column {error.colno}: this is no JSON: {error.msg}") from error
    except ValueError as error:
        raise SourceError(f"this is no JSON: {error}") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = next(key for key, _ in pairs if [other for other, _ in pairs].count(key) > 1)
        raise ValueError(f"the key {twice[:80]!r} stands twice")
    return members


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _csv(data: bytes, hardware: str) -> Iterator[tuple[str, Cells]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"byte {error.start + 1} is not UTF-8; save the table as UTF-8") from error
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = next(reader, None)
        if not header:
            raise SourceError("the file is empty; its first line names the columns")
        names = [name.strip() for name in header]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SourceError(f"the column {twice[0]!r} stands twice")
        for cells in reader:
            place = f"line {reader.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(names):
                raise SourceError(f"{place}: has {len(cells)} cells, the header has {len(names)}")
            yield place, _with(dict(zip(names, cells, strict=True)), hardware)
    except csv.Error as error:
        raise SourceError(f"line {reader.line_num}: {error}") from error


def _json(document: list[Any], hardware: str) -> Iterator[tuple[str, Cells]]:
    for number, row in enumerate(document, 1):
        if not isinstance(row, dict):
            raise SourceError(f"row {number}: is no object")
        nested = [name for name, value in row.items() if isinstance(value, dict | list)]
        if nested:
            raise SourceError(f"row {number}: {nested[0]} is no text and no number; rows are flat")
        cells = {name: _cell(value) for name, value in row.items()}
        yield f"row {number}", _with(cells, hardware)


def _pytest(document: Mapping[str, Any], listed: list[Any], hardware: str) -> Iterator[tuple[str, Cells]]:
    brand = _cell(_object(_object(document["machine_info"]).get("cpu")).get("brand_raw"))
    shared = {
        "harness": "pytest-benchmark",
        "harness_version": _cell(document.get("version")),
        "timer": "wall_clock",
        "observed_at": _cell(document.get("datetime")),
        "language": "python",
        "unit": "s",
    }
    for number, bench in enumerate(listed, 1):
        place = f"benchmark {number}"
        if not isinstance(bench, dict) or not isinstance(bench.get("stats"), dict):
            raise SourceError(f"{place}: has no stats")
        stats, full = bench["stats"], _cell(bench.get("name"))
        info, params = _object(bench.get("extra_info")), _object(bench.get("params"))
        function = _CASE.sub("", full)
        cells = {
            **shared,
            "operation": _cell(info.get("operation")) or _cell(bench.get("group")) or function,
            "implementation": _cell(info.get("implementation")) or _chosen(params) or function,
            "hardware": _cell(info.get("hardware")) or hardware or brand,
            "external_id": _cell(bench.get("fullname")) or full,
            "samples": _cell(stats.get("rounds")),
            "median": _cell(stats.get("median")),
            "mean": _cell(stats.get("mean")),
            "minimum": _cell(stats.get("min")),
            "maximum": _cell(stats.get("max")),
        }
        cells |= {f"axis:{token(name)}": str(value) for name, value in params.items() if type(value) is int}
        yield place, cells


def _chosen(params: Mapping[str, Any]) -> str:
    """The parameters that are no sizes, such as the function under test."""
    return ", ".join(f"{name}={value}" for name, value in params.items() if isinstance(value, str))


def _google(context: Mapping[str, Any], listed: list[Any], hardware: str) -> Iterator[tuple[str, Cells]]:
    shared = {
        "harness": "Google Benchmark",
        "harness_version": _cell(context.get("library_version")),
        "timer": "wall_clock",
        "observed_at": _cell(context.get("date")),
        "language": "cpp",
        "hardware": hardware,
    }
    executable = PurePosixPath(_cell(context.get("executable")).replace("\\", "/")).name
    rows: dict[str, dict[str, str]] = {}
    for number, bench in enumerate(listed, 1):
        if not isinstance(bench, dict) or not _cell(bench.get("name")):
            raise SourceError(f"benchmark {number}: has no name")
        name = _cell(bench.get("run_name")) or _cell(bench["name"])
        cells = rows.get(name)
        if cells is None:
            label = _cell(bench.get("label"))
            cells = rows[name] = {**shared, **_google_case(name), "implementation": label or executable or name}
            cells["external_id"] = name
        _google_figures(cells, bench)
    for number, cells in enumerate(rows.values(), 1):
        yield f"benchmark {number} ({cells['external_id']})", cells


def _google_case(name: str) -> dict[str, str]:
    """`BM_Copy/64/n:8/threads:2`: the function, and its arguments as axes."""
    function, *parts = name.split("/")
    cells = {"operation": function}
    for place, part in enumerate(parts):
        axis, colon, value = part.rpartition(":")
        if value.isdigit() and axis not in _GOOGLE_OPTIONS:
            cells[f"axis:{token(axis) if colon else f'arg{place}'}"] = value
    return cells


def _google_figures(cells: dict[str, str], bench: Mapping[str, Any]) -> None:
    if bench.get("error_occurred") or bench.get("skipped"):
        cells["status"] = "runtime_error"
        for name in ("mean", "median", "samples", "unit"):
            cells.pop(name, None)
        return
    aggregate = bench.get("aggregate_name")
    # Without repetitions the one time is a mean over iterations; with them their aggregates take its place.
    statistic = _GOOGLE_STATISTICS.get(_cell(aggregate)) if aggregate else "mean"
    if statistic and "status" not in cells and (aggregate or "samples" not in cells):
        cells[statistic] = _cell(bench.get("real_time"))
        cells["unit"] = _cell(bench.get("time_unit")) or "ns"
        cells["samples"] = _cell(bench.get("repetitions") if aggregate else bench.get("iterations"))


def _with(cells: dict[str, str], hardware: str) -> dict[str, str]:
    return cells if cells.get("hardware", "").strip() or not hardware else {**cells, "hardware": hardware}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _cell(value: Any) -> str:
    if value is None or isinstance(value, dict | list):
        return ""
    return repr(value) if isinstance(value, float) else str(value)
