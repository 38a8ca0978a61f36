"""`manage.py import_reruns`: the signed reruns of another site, or of this one before its database was made anew.

Each line of the file is a bundle (`manage.py rerun_bundle`). The keys that it was signed with have to be registered and
approved here; the bundle's own word counts for nothing.
"""

from __future__ import annotations

import gzip
import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from runs.management.progress import progress
from runs.models import Rerun, Run
from runs.publication import publish_rerun
from runs.reruns.documents.base import moment
from runs.reruns.documents.bundle import MAX_BYTES, check
from runs.reruns.documents.exchange import VerifiedResult
from runs.reruns.documents.refusals import Refusal
from runs.reruns.keyring import key_set
from runs.storage import one_writer

MAX_LINES: Final = 10_000


class Command(BaseCommand):
    help = "Verify signed reruns and publish them with the levels that follow. A second time changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.jsonl[.gz]", help="a bundle a line")
        parser.add_argument("--asked-by", required=True, help="who asked for these reruns")
        parser.add_argument("--approved-by", required=True, help="who approved them; never the one who asked")

    def handle(self, *args: Any, file: Path, asked_by: str, approved_by: str, **options: Any) -> None:
        if asked_by == approved_by:
            raise CommandError("nobody approves a rerun that they asked for")
        outcomes: Counter[str] = Counter()
        keys, now = key_set(), timezone.now()
        try:
            with progress("verifying and publishing reruns", None) as bar:
                for number, line in enumerate(_lines(file), start=1):
                    try:
                        verified, _ = check(line, keys, now)
                        outcomes[_publish(verified, json.loads(line), asked_by, approved_by)] += 1
                    except Refusal as refusal:
                        raise CommandError(f"{file} line {number}: {refusal.code}: {refusal}") from refusal
                    bar.advance(1)
        except (OSError, EOFError) as error:
            raise CommandError(f"{file}: {error}") from error
        self.stdout.write(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())) or "no reruns")


def _lines(file: Path) -> Iterator[bytes]:
    """Lines of at most the size of a bundle."""
    with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as stream:
        for _ in range(MAX_LINES):
            line = stream.readline(MAX_BYTES + 1)
            if not line:
                return
            yield line
        raise Refusal("TOO_LARGE", f"more than {MAX_LINES:,} bundles")


def _publish(verified: VerifiedResult, bundle: dict[str, Any], asked_by: str, approved_by: str) -> str:
    """Publish one verified rerun; says what became of it. Raises `Refusal` for a claim that is not published here."""
    job = verified.job.job
    digest = job.manifests.parsed["run"].digest
    with one_writer():
        run = Run.objects.filter(digest=digest).select_related("implementation__project").first()
        if run is None:
            raise Refusal("MANIFEST_MISMATCH", f"the claim {digest} is not published here")
        issued = moment(job.issued_at)
        _, created = Rerun.objects.get_or_create(
            job_digest=verified.job.digest,
            defaults={
                "id": UUID(job.job_id),
                "run": run,
                "product": job.product,
                "state": "queued",
                "requested_by": asked_by,
                "approved_by": approved_by,
                "created_at": issued,
                "queued_at": issued,
                "started_at": moment(verified.result.accepted_at),
                "expires_at": moment(job.expires_at),
                "job": json.dumps(bundle["jobEnvelope"]),
            },
        )
        if not created:
            return "known"
        project = run.implementation.project
        # The device's identity was opened to the site that measured, and to no other.
        publish_rerun(verified, bundle["resultEnvelope"], device=None, project=project.slug if project else None)
    return "published"
