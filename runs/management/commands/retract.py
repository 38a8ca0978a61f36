"""`manage.py retract`: withdraw a run, with a reason and an actor that its page will show."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.publication import retract
from runs.refusals import PublicationRefused


class Command(BaseCommand):
    help = "Retract a run: its page stays and says so, its rank goes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("digest", help="sha256:… of the run")
        parser.add_argument("--reason", required=True, help="shown on the run's page")
        parser.add_argument("--actor", required=True, help="who decided, as shown on the run's page")

    def handle(self, *args: Any, digest: str, reason: str, actor: str, **options: Any) -> None:
        try:
            retract(digest, reason=reason, actor=actor)
        except PublicationRefused as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"{digest} is retracted")
