"""`manage.py export_catalog`: everything that is published here, as one file that others can read."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from runs.export import export
from runs.management.progress import progress


class Command(BaseCommand):
    help = (
        "Write every published record to a file (docs/exchange.md), with its digest in a file beside it. "
        "The same content gives the same bytes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            nargs="?",
            metavar="OUT.jsonl.zst",
            default=settings.STATE_DIR / "exports" / "catalog.jsonl.zst",
            help="compressed where the name ends in .zst; left out: the file that /exports/ serves",
        )

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            with progress("exporting rows", None) as bar:
                written = export(file, advance=bar.advance)
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        for table, rows in written.rows.items():
            self.stdout.write(f"{table}: {rows}")
        self.stdout.write(f"{written.rows.total()} rows, {written.size:,} bytes in {file}")
        self.stdout.write(written.digest)
