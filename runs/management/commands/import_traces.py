"""`manage.py import_traces`: a folder of flashinfer-bench definitions, solutions, workloads and traces."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.management.progress import progress
from runs.manifests.bundle import Source
from runs.publication import publish
from runs.refusals import PublicationRefused
from runs.sources.findings import Findings, SourceError
from runs.sources.text import slug
from runs.sources.traces.build import build_bundle
from runs.sources.traces.read import read_folder

SHOWN = 10  # faults that the terminal names; the report names more


class Command(BaseCommand):
    help = "Publish the traces of a flashinfer-bench folder as reported runs (docs/exchange.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="the folder that holds definitions/ and traces/")
        parser.add_argument("--source", default="flashinfer-bench", metavar="SLUG", help="whose traces these are")
        parser.add_argument("--name", default="FlashInfer-Bench", help="the source's name, as pages show it")
        parser.add_argument("--license", default="", metavar="SPDX", help="the licence that the traces come under")
        parser.add_argument("--report", type=Path, metavar="FILE.json", help="write what is wrong, and where")

    def handle(self, *args: Any, folder: Path, report: Path | None, **options: Any) -> None:
        findings = Findings()
        if slug(options["source"]) != options["source"]:
            raise CommandError(f"--source is a slug, such as {slug(options['source'])}")
        source = Source(options["source"], options["name"], "benchmark", license=options["license"] or None)
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        try:
            found = read_folder(folder, license_=options["license"], retrieved_at=now, findings=findings)
        except SourceError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        bundle = build_bundle(found, source, findings)
        if report:
            report.write_text(json.dumps(findings.to_document(), indent=1) + "\n")
        self.stdout.write(f"{findings.read} traces read, {findings.runs} are runs, {findings.faulty} are faulty")
        for fault in findings.faults[:SHOWN]:
            self.stdout.write(f"  {fault}")
        try:
            with progress("publishing records", len(bundle.records)) as bar:
                outcome = publish(bundle, progress=bar.advance)
        except PublicationRefused as refused:
            raise CommandError(f"nothing was published:\n{refused}") from refused
        new, known = outcome.created["BenchmarkRun"], outcome.existing["BenchmarkRun"]
        self.stdout.write(f"{new} runs published, {known} were there before")
