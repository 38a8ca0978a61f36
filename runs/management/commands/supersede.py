"""`manage.py supersede`: say that a corrected record takes the place of a run."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.publication import supersede
from runs.refusals import PublicationRefused


class Command(BaseCommand):
    help = "Say that a corrected record, already published, takes the place of a run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("digest", help="sha256:… of the run")
        parser.add_argument("successor", help="sha256:… of the corrected run")
        parser.add_argument("--reason", required=True, help="shown on the run's page")
        parser.add_argument("--actor", required=True, help="who decided, as shown on the run's page")

    def handle(self, *args: Any, digest: str, successor: str, reason: str, actor: str, **options: Any) -> None:
        try:
            supersede(digest, successor, reason=reason, actor=actor)
        except PublicationRefused as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"{successor} supersedes {digest}")
