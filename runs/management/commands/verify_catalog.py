"""`manage.py verify_catalog`: recompute every digest in the database and report any that differs."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.management.progress import progress
from runs.verification import TABLES, verify


class Command(BaseCommand):
    help = "Recompute the digest of every published manifest and the comparison key of every run."

    def handle(self, *args: Any, **options: Any) -> None:
        total = sum(model._default_manager.count() for model in TABLES)
        with progress("recomputing digests", total) as bar:
            differences = list(verify(bar.advance))
        for difference in differences:
            self.stdout.write(difference)
        if differences:
            raise CommandError(f"{len(differences)} of {total} records are not what the database says they are")
        self.stdout.write(f"{total} records checked: every digest and comparison key is as stored")
