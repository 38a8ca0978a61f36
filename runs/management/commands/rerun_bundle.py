"""`manage.py rerun_bundle`: one file that `python -m runs.reruns.verify` checks offline."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from runs.models import RerunResult
from runs.reruns.documents.bundle import compose
from runs.reruns.documents.exchange import audit_result
from runs.reruns.documents.refusals import Refusal
from runs.reruns.keyring import key_set


class Command(BaseCommand):
    help = "Write the signed job and result of a rerun as one file for `python -m runs.reruns.verify`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("rerun", type=UUID, metavar="ID", help="of the rerun, as its page shows it")
        parser.add_argument("--out", type=Path, metavar="FILE", help="where to; standard output without it")

    def handle(self, *args: Any, rerun: UUID, out: Path | None, **options: Any) -> None:
        result = RerunResult.objects.filter(rerun=rerun).select_related("rerun").first()
        if result is None:
            raise CommandError(f"{rerun} has no published result")
        job, answer = json.loads(result.rerun.job), json.loads(result.envelope)
        try:
            bundle = compose(job, answer, audit_result(answer, job, key_set(), timezone.now()))
        except Refusal as refusal:
            raise CommandError(f"it would not hold: {refusal}") from refusal
        if out is None:
            sys.stdout.buffer.write(bundle)
        else:
            out.write_bytes(bundle)
            self.stdout.write(f"{out}: {len(bundle):,} bytes")
