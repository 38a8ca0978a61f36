"""`manage.py rerun approve|cancel`: what a moderator decides about reruns, from a terminal."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from runs.models import Run
from runs.reruns import queue


class Command(BaseCommand):
    help = "Approve or cancel a controlled rerun."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        approve = actions.add_parser("approve", help="put reruns of these runs into their products' queues")
        approve.add_argument("runs", nargs="+", metavar="RUN", help="sha256:… of a run, or its id")
        approve.add_argument("--requested-by", required=True, help="who asked for it")
        approve.add_argument("--approved-by", required=True, help="who decides; never the one who asked")
        approve.add_argument("--priority", type=int, choices=range(10), default=5, help="9 goes first")
        cancel = actions.add_parser("cancel", help="take a rerun out of the queue")
        cancel.add_argument("rerun", type=UUID, metavar="RERUN", help="its id")
        cancel.add_argument("--reason", required=True, help="shown on the rerun's page")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        if action == "cancel":
            if not queue.cancel(options["rerun"], detail=options["reason"]):
                raise CommandError("no such rerun waits")
            self.stdout.write(f"{options['rerun']} is cancelled")
            return
        refused = 0
        for name in options["runs"]:
            try:
                rerun = queue.approve(
                    _run(name),
                    requested_by=options["requested_by"],
                    approved_by=options["approved_by"],
                    priority=options["priority"],
                )
            except queue.RerunRefused as refusal:
                refused += 1
                self.stderr.write(f"{name}: {refusal.code}: {refusal}")
            else:
                self.stdout.write(f"{rerun.id} waits for a runner of {rerun.product}")
        if refused:
            raise CommandError(f"{refused} of {len(options['runs'])} were not approved")


def _run(name: str) -> Run:
    runs = Run.objects.select_related("operation", "environment")
    try:
        found = runs.filter(digest=name) if name.startswith("sha256:") else runs.filter(id=UUID(name))
    except ValueError as error:
        raise CommandError(f"{name} is neither a digest nor an id") from error
    run = found.first()
    if run is None:
        raise CommandError(f"no run is {name}")
    return run
