"""`manage.py dispatch_reruns`: sign the jobs of approved reruns and send them, by the broker or as a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from runs.reruns import queue
from runs.reruns.delivery import send
from runs.reruns.dispatch import dispatch, overdue
from runs.reruns.documents.keys import PrivateKey, load_private_key
from runs.reruns.documents.refusals import Refusal
from runs.reruns.files import write_jobs


def dispatcher_key() -> PrivateKey:
    """The dispatcher's key. Raises CommandError where this process has none that can be used."""
    if settings.DISPATCHER_KEY is None:
        raise CommandError("KERNELINDEX_DISPATCHER_KEY: is not set. It names the dispatcher's private key file")
    try:
        return load_private_key(settings.DISPATCHER_KEY)
    except (OSError, Refusal) as error:
        raise CommandError(f"KERNELINDEX_DISPATCHER_KEY: {error}") from error


class Command(BaseCommand):
    help = "Send the jobs of approved reruns to their products' queues, or write them to a file for a host without one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--product", help="only of this hardware product, such as nvidia-h200")
        parser.add_argument("--out", type=Path, metavar="JOBS.json", help="write the jobs here instead of sending them")
        parser.add_argument("--again", action="store_true", help="include jobs that were sent and have no result yet")

    def handle(self, *args: Any, product: str | None, out: Path | None, again: bool, **options: Any) -> None:
        key = dispatcher_key()
        now = timezone.now()
        queue.expire(now)
        try:
            deliveries = overdue(now, product=product, again=again)
            deliveries += dispatch(key, budget=settings.RERUNS_A_DAY, product=product)
        except Refusal as refusal:
            raise CommandError(f"{refusal} (`manage.py runner_key approve` lets a key sign)") from refusal
        count = sum(len(delivery.envelopes) for delivery in deliveries)
        if out is not None:
            write_jobs(out, [envelope for delivery in deliveries for envelope in delivery.envelopes])
            self.stdout.write(f"{count} jobs written to {out}")
            return
        send(deliveries)
        self.stdout.write(f"{count} jobs sent in {len(deliveries)} batches")
