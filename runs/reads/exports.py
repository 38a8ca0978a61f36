"""The exports that lie ready to be fetched: files of a folder of the site's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from django.conf import settings
from django.urls import reverse

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*\.jsonl(\.zst)?")
_DIGEST: Final = re.compile(r"([0-9a-f]{64})\s")
SUFFIX: Final = ".sha256"


@dataclass(frozen=True, slots=True)
class ExportFile:
    """An export, with the SHA-256 of its bytes where the file beside it says so."""

    name: str
    url: str
    size: int
    changed_at: datetime
    digest: str | None
    digest_url: str | None


@dataclass(frozen=True, slots=True)
class ExportList:
    files: tuple[ExportFile, ...]


def export_path(name: str) -> Path | None:
    """Where an export, or the digest of one, lies; None for a name that no such file has."""
    if not _NAME.fullmatch(name.removesuffix(SUFFIX)):
        return None
    path: Path = settings.STATE_DIR / "exports" / name
    return path if path.is_file() and not path.is_symlink() else None


def export_list() -> ExportList:
    """Every export, by name."""
    folder: Path = settings.STATE_DIR / "exports"
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    return ExportList(tuple(_described(name) for name in names if not name.endswith(SUFFIX) and export_path(name)))


def _described(name: str) -> ExportFile:
    path = settings.STATE_DIR / "exports" / name
    stat = path.stat()
    beside = export_path(f"{name}{SUFFIX}")
    stated = _DIGEST.match(beside.read_text()[:200]) if beside else None
    return ExportFile(
        name,
        reverse("export", args=[name]),
        stat.st_size,
        datetime.fromtimestamp(int(stat.st_mtime), UTC),
        f"sha256:{stated[1]}" if stated else None,
        reverse("export", args=[f"{name}{SUFFIX}"]) if stated else None,
    )
