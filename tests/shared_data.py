"""The published samples that lie beside a checkout in `shared/data`, for the tests that compare with them."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the published samples are not here: no shared/data beside the checkout"
)


@cache
def liger_vectors() -> dict[str, Any]:
    return json.loads((SHARED / "liger-vectors.json").read_text(encoding="utf-8"))


@cache
def export_rows(table: str) -> list[dict[str, Any]]:
    """The rows of one table of the bulk export."""
    return [entry["row"] for entry in _export() if entry["table"] == table]


@cache
def _export() -> list[dict[str, Any]]:
    return list(_export_lines())


def _export_lines() -> Iterator[dict[str, Any]]:
    with (SHARED / "catalog-export-slice.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
