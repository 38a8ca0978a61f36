"""`manage.py import_results`: a table of results of one's own, or what pytest-benchmark or Google Benchmark wrote."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.manifests.bundle import Snapshot, Source
from runs.manifests.canonical import sha256
from runs.publication import publish
from runs.refusals import PublicationRefused
from runs.sources.findings import Findings, SourceError
from runs.sources.results.build import build_bundle
from runs.sources.results.formats import MAX_FILE, read_table
from runs.sources.text import slug

SHOWN = 20  # faults that the terminal names; the report names more


class Command(BaseCommand):
    help = (
        "Publish the rows of a CSV or JSON table (docs/exchange.md, docs/results-template.csv), or the JSON of "
        "pytest-benchmark or Google Benchmark, as reported runs. A file with a wrong row is not published."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="what it is, its content says")
        parser.add_argument("--source", required=True, metavar="SLUG", help="whose results these are")
        parser.add_argument("--name", metavar="NAME", help="the source's name, as pages show it; else its slug")
        parser.add_argument("--license", default="", metavar="SPDX", help="the licence that the results come under")
        parser.add_argument("--hardware", default="", metavar="PRODUCT", help="the device, where the file names none")
        parser.add_argument("--check", action="store_true", help="say what is wrong, and publish nothing")
        parser.add_argument("--report", type=Path, metavar="FILE.json", help="write what is wrong, and where")

    def handle(self, *args: Any, file: Path, check: bool, report: Path | None, **options: Any) -> None:
        source = options["source"]
        if slug(source) != source:
            raise CommandError(f"--source is a slug, such as {slug(source)}")
        findings = Findings()
        try:
            with file.open("rb") as opened:
                data = opened.read(MAX_FILE + 1)
            table = read_table(data, hardware=options["hardware"])
        except SourceError as error:
            raise CommandError(f"{file}: {error}") from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        snapshot = Snapshot(file.name, "", sha256(data), len(data), options["license"], None, now)
        described = Source(source, options["name"] or source, "benchmark", license=options["license"] or None)
        bundle = build_bundle(table, described, snapshot, findings)
        if report:
            report.write_text(json.dumps({"format": table.kind, **findings.to_document()}, indent=1) + "\n")
        self.stdout.write(f"{table.kind}: {findings.read} rows read, {findings.runs} are runs")
        for fault in findings.faults[:SHOWN]:
            self.stdout.write(f"  {fault}")
        if findings.faulty:
            raise CommandError(f"{findings.faulty} rows or columns are wrong; nothing was published")
        if check:
            self.stdout.write("nothing is wrong; nothing was published")
            return
        try:
            outcome = publish(bundle)
        except PublicationRefused as refused:
            raise CommandError(f"nothing was published:\n{refused}") from refused
        new, known = outcome.created["BenchmarkRun"], outcome.existing["BenchmarkRun"]
        self.stdout.write(f"{new} runs published, {known} were there before")
