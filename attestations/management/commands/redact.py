"""`manage.py redact`: remove by law what a run or a statement says. A tombstone and an audit entry stay."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from attestations.accounts.models import User
from attestations.refusals import Refused
from attestations.services.redaction import redact_run, redact_statement


class Command(BaseCommand):
    help = "Remove by law what a run or a statement says. It cannot be undone; see docs/moderation.md for backups."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("target", help="sha256:… of a run, or the id of a statement")
        parser.add_argument("--reason", required=True, help="the ground, which becomes public; not what is removed")
        parser.add_argument("--actor", required=True, help="name of the administrator who answers for it")

    def handle(self, *args: Any, target: str, reason: str, actor: str, **options: Any) -> None:
        administrator = User.objects.filter(username=actor).first()
        if administrator is None:
            raise CommandError(f"nobody is named {actor}")
        try:
            if target.startswith("sha256:"):
                redact_run(administrator, target, reason=reason)
            else:
                redact_statement(administrator, UUID(target), reason=reason)
        except ValueError as error:
            raise CommandError(f"{target} is neither a digest nor the id of a statement") from error
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"{target} is removed")
