"""`manage.py synthesize`: fill a database that was made for it with made-up runs, through publication."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.management.progress import progress
from runs.models import DatabasePurpose, Run
from runs.publication import publish
from runs.sources.synthetic import IMPLEMENTATIONS, SOURCE, synthesize
from runs.storage import one_writer

PURPOSE = "synthetic records"
BATCH = 5_000 // IMPLEMENTATIONS * IMPLEMENTATIONS  # whole comparison groups


class Command(BaseCommand):
    help = "Top up a database made for synthetic records. Every record that it makes is marked as illustrative."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--until", type=int, metavar="RUNS", help="how many runs the database shall hold")
        parser.add_argument("--prepare", action="store_true", help="mark an empty database as made for this")

    def handle(self, *args: Any, until: int | None, prepare: bool, **options: Any) -> None:
        if prepare:
            self.prepare()
        if not DatabasePurpose.objects.filter(purpose=PURPOSE).exists():
            raise CommandError(
                "This database was not made for synthetic records, and gets none. Name a new one in DATABASE_URL, "
                "then: manage.py migrate && manage.py synthesize --prepare --until RUNS"
            )
        missing = max(0, (until or 0) - Run.objects.count())
        start = Run.objects.filter(source__slug=SOURCE.slug).count()
        with progress("publishing synthetic runs", missing) as bar:
            for first in range(start, start + missing, BATCH):
                count = min(BATCH, start + missing - first)
                publish(synthesize(first, count))
                bar.advance(count)
        self.stdout.write(f"{missing} synthetic runs published, {Run.objects.count()} runs in all")

    def prepare(self) -> None:
        with one_writer():
            if Run.objects.exists() and not DatabasePurpose.objects.filter(purpose=PURPOSE).exists():
                raise CommandError(
                    "This database holds records already. Only an empty one can be made for synthetic ones."
                )
            DatabasePurpose.objects.get_or_create(purpose=PURPOSE)
