"""`manage.py import_liger`: the Liger-Kernel benchmark data, from the package index, an sdist, or a CSV file."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.management.progress import progress
from runs.manifests.errors import ManifestError
from runs.manifests.intake import load_document
from runs.manifests.manifest import parse_manifest
from runs.publication import publish
from runs.refusals import PublicationRefused
from runs.sources.liger.archive import Local, read_local
from runs.sources.liger.build import build_bundle
from runs.sources.liger.index import fetch_release, pip_settings
from runs.sources.liger.reasons import SENTENCES
from runs.sources.liger.report import PUBLISHED, Report
from runs.sources.liger.rows import SourceError

SHOWN_LINES = 10  # malformed lines that the terminal names; the report names all


class Command(BaseCommand):
    help = "Publish the benchmark runs of a liger-kernel release, of its source distribution, or of a CSV file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--release", metavar="VERSION", help="from the package index that pip is set to use")
        where.add_argument("--file", type=Path, metavar="FILE", help="a local source distribution or CSV file")
        parser.add_argument(
            "--environment",
            type=Path,
            metavar="FILE",
            help="an ExecutionEnvironment manifest (YAML or JSON) of the machine that the file was measured on",
        )
        parser.add_argument("--dry-run", action="store_true", help="read and report, publish nothing")
        parser.add_argument("--report", type=Path, metavar="FILE.json", help="write what became of every row")

    def handle(
        self,
        *args: Any,
        release: str | None,
        file: Path | None,
        environment: Path | None,
        dry_run: bool,
        report: Path | None,
        **options: Any,
    ) -> None:
        try:
            local = self.fetch(release) if release else read_local(file or Path(), retrieved_at=_now())
            described = _environment(environment) if environment else None
            bundle, found = build_bundle(local.files, local.snapshot, environment=described)
        except SourceError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        if report:
            report.write_text(json.dumps(found.to_document(), indent=1) + "\n")
        self.tell(found)
        if dry_run:
            self.stdout.write("dry run: nothing was published")
            return
        try:
            with progress("publishing records", len(bundle.records)) as bar:
                outcome = publish(bundle, progress=bar.advance)
        except PublicationRefused as refused:
            raise CommandError(f"nothing was published:\n{refused}") from refused
        new, known = outcome.created["BenchmarkRun"], outcome.existing["BenchmarkRun"]
        self.stdout.write(f"{new} runs published, {known} were there before")

    def fetch(self, release: str) -> Local:
        with progress(f"fetching liger-kernel {release} (bytes)", None) as bar:
            files, snapshot = fetch_release(release, pip_settings(), progress=bar.reach, retrieved_at=_now())
        return Local({**files.files}, snapshot)

    def tell(self, report: Report) -> None:
        """How many rows became runs, and why the others did not."""
        self.stdout.write(f"{report.rows} rows read, {report.published} become runs")
        for code, rows in sorted(report.outcomes().items()):
            if code != PUBLISHED:
                self.stdout.write(f"  {rows:>6}  {code}: {SENTENCES[code]}")
        for line in report.lines[:SHOWN_LINES]:
            self.stdout.write(f"  {line.file} line {line.line}: {line.code} {line.detail}".rstrip())
        if len(report.lines) > SHOWN_LINES:
            self.stdout.write(f"  and {len(report.lines) - SHOWN_LINES} lines more; --report names them")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _environment(path: Path) -> dict[str, Any]:
    try:
        manifest = parse_manifest(load_document(path.read_bytes()))
    except ManifestError as error:
        raise CommandError(f"{path}: {error}") from error
    if manifest.kind != "ExecutionEnvironment":
        raise CommandError(f"{path}: is a {manifest.kind}; an ExecutionEnvironment is needed")
    return manifest.document()
