"""Which build of the site this process runs: pages made by another build are not the same pages."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from django.conf import settings

_PARTS: Final = ("kernelindex", "runs", "attestations", "templates")
_SUFFIXES: Final = {".py", ".html", ".css", ".js", ".svg", ".txt"}


@cache
def build() -> tuple[str, float]:
    """A digest of all that makes pages (code, templates, static files, public address), and when it last changed.

    The time is in seconds since 1970. A running process keeps the build that it started with.
    """
    digest, changed = hashlib.sha256(settings.BASE_URL.encode()), 0.0
    for part in _PARTS:
        root = Path(settings.BASE_DIR, part)
        for path in sorted(root.rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file():
                digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
                changed = max(changed, path.stat().st_mtime)
    return digest.hexdigest()[:16], changed
