"""`manage.py take_results`: take the signed results of runners, from a file or from the broker."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.reruns.consumer import consume
from runs.reruns.documents.refusals import Refusal
from runs.reruns.files import read_results
from runs.reruns.intake import take


class Command(BaseCommand):
    help = "Take results from a RESULTS.json, or with --follow from the result queue until stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("file", type=Path, nargs="?", metavar="RESULTS.json")
        where.add_argument("--follow", action="store_true", help="consume the result queue; the only thing that may")

    def handle(self, *args: Any, file: Path | None, follow: bool, **options: Any) -> None:
        if file is None:
            consume()
            return
        try:
            messages = read_results(file)
        except (OSError, Refusal) as error:
            raise CommandError(f"{file}: {error}") from error
        outcomes: Counter[str] = Counter()
        for message in messages:
            try:
                outcomes[take(message)] += 1
            except Refusal as refusal:
                outcomes["refused"] += 1
                self.stderr.write(f"refused: {refusal.code}: {refusal}")
        self.stdout.write(
            ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())) or "no results"
        )
        if outcomes["refused"]:
            raise CommandError(f"{outcomes['refused']} results were refused")
