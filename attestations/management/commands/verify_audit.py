"""`manage.py verify_audit`: check that no entry of the audit trail was changed, added between, or removed."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from attestations.models import AuditEntry
from attestations.services import audit


class Command(BaseCommand):
    help = "Recompute the hash chain of the audit trail."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--contains", metavar="HASH", help="the last hash of an earlier check, which must still be in the trail"
        )

    def handle(self, *args: Any, contains: str | None = None, **options: Any) -> None:
        faults = list(audit.faults())
        if contains and not AuditEntry.objects.filter(hash=contains).exists():
            faults.append(f"no entry has the hash {contains}: the end of the trail was cut off")
        for fault in faults:
            self.stdout.write(fault)
        if faults:
            raise CommandError(f"the audit trail was tampered with: {len(faults)} faults")
        number, last = audit.head()
        self.stdout.write(f"{number} entries checked: the chain holds\nlast hash {last}")
