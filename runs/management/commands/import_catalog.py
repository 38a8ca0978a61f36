"""`manage.py import_catalog`: the bulk export of the public index, or of another index like this one."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.catalog_checks import honour
from runs.catalog_import import CatalogImport
from runs.management.progress import progress
from runs.policy.reasons import REASONS
from runs.sources.catalog.reasons import SENTENCES
from runs.sources.catalog.report import OUTCOMES, Report
from runs.sources.catalog.spool import Spool
from runs.sources.catalog.stream import Export, ExportError

SHOWN = 10  # refused rows that the terminal names; the report names more


class Command(BaseCommand):
    help = (
        "Publish every record of a bulk export (docs/exchange.md) whose digest is what it says. An import that was "
        "stopped goes on where it is begun again; one that was finished changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.jsonl[.zst]", help="the export; .zst is found by itself")
        parser.add_argument("--report", type=Path, metavar="FILE.json", help="write what became of every row")

    def handle(self, *args: Any, file: Path, report: Path | None, **options: Any) -> None:
        found = Report()
        export = Export(file)
        try:
            with Spool() as spool:
                with progress(f"reading {file.name}", None):
                    spool.fill(export, found)
                with progress("publishing rows", sum(found.read.values())) as bar:
                    work = CatalogImport(spool, export, found, bar.advance)
                    work.everything()
                    honour(spool, found, {id_: source.name for id_, source in work.sources.items()})
        except ExportError as error:
            raise CommandError(f"nothing was published: {error}") from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        document = {
            "file": {"name": file.name, "digest": export.digest, "size": export.size},
            **found.to_document(REASONS | SENTENCES),
        }
        self.tell(document, found)
        if report:
            try:
                report.write_text(json.dumps(document, indent=1) + "\n")
            except OSError as error:
                raise CommandError(f"the import is done, its report is not: {report}: {error.strerror}") from error

    def tell(self, document: dict[str, Any], found: Report) -> None:
        """A line for each table, the reasons of refusals, and what differs."""
        for table, counts in document["tables"].items():
            parts = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
            self.stdout.write(f"{table}: {counts['read']} read: {parts}")
        for reason in document["reasons"]:
            self.stdout.write(f"  {reason['rows']:>6}  {reason['table']}: {reason['sentence']}")
        for row in found.refused[:SHOWN]:
            self.stdout.write(f"  line {row['line']}: {row['code']} {row.get('detail', '')}".rstrip())
        if found.rows("refused") > SHOWN:
            self.stdout.write("  --report names more of them")
        for notice, count in document["notices"].items():
            self.stdout.write(f"{count} runs {notice}")
        if found.different:
            self.stdout.write(f"{found.different} columns are not what follows from the manifests; --report names them")
        self.stdout.write(
            f"{found.rows('created')} rows are new, {found.rows('existing')} were here, {found.rows('refused')} refused"
        )
