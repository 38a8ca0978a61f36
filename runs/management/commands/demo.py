"""`manage.py demo`: the site on this machine with real records, from nothing. What `make demo` runs."""

from __future__ import annotations

import errno
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from runs.management.commands.serve import require_free_port, serve
from runs.manifests.bundle import bundle_from_document
from runs.manifests.intake import load_document
from runs.models import Rerun, Run, SourceSnapshot
from runs.publication import decide_signer, publish, register_signer
from runs.reruns.documents.base import moment
from runs.reruns.documents.keys import KeySet

RELEASE = "0.8.5"
H200 = settings.BASE_DIR / "runs" / "sources" / "h200"
CARRIED = settings.BASE_DIR / "runs" / "sources" / "seed" / "bundle.json"
# The run whose page the documentation shows: GroupNorm backward by Transformers on a B200.
SHOWN = "sha256:5cde9b90d5f90633"
DISK_FULL = "the disk is full. Free about 200 MB and run the same command again; what is half done is undone"


class Command(BaseCommand):
    help = "Set up the embedded database with the Liger-Kernel benchmark data and serve the site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--no-serve", action="store_true", help="set up, print the addresses, and stop")

    def handle(self, *args: Any, port: int, no_serve: bool, **options: Any) -> None:
        if not no_serve:
            require_free_port("127.0.0.1", port)
        try:
            settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
            call_command("migrate", verbosity=0)
            call_command("collectstatic", verbosity=0, interactive=False)
            self.records()
            self.reruns()
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise CommandError(DISK_FULL) from error
            raise
        except OperationalError as error:
            if "full" in str(error):
                raise CommandError(DISK_FULL) from error
            raise
        base = f"http://127.0.0.1:{port}"
        self.stdout.write(f"\n  KernelIndex   {base}/\n  one run       {base}/runs/{self.shown()}/\n")
        if not no_serve:
            self.stdout.write("  Ctrl-C stops it.\n")
            self.stdout.flush()
            serve("127.0.0.1", port, workers=1)

    def records(self) -> None:
        """The data of the named release, once; without network the two runs that the project carries."""
        if SourceSnapshot.objects.filter(name="liger-kernel", version=RELEASE).exists():
            return
        try:
            call_command("import_liger", release=RELEASE)
        except CommandError as error:
            self.stderr.write(
                f"{error}\nThe benchmark data of liger-kernel {RELEASE} could not be had, so the site shows the two "
                "records that it carries. Run `make demo` again with a network for all of them."
            )
            publish(bundle_from_document(load_document(CARRIED.read_bytes())))

    def reruns(self) -> None:
        """The claims that were measured on the laboratory's H200, and the controlled reruns of them, once."""
        if Rerun.objects.exists():
            return
        call_command("import_liger", file=H200 / "claims.csv", environment=H200 / "environment.yaml")
        who = {"actor": "the demo", "reason": "published with the project"}
        for key in KeySet.read(load_document((H200 / "keys.json").read_bytes())).keys:
            register_signer(key, **who, since=moment(key.valid_from))
            decide_signer(key.name, "approve", **who)
        call_command(
            "import_reruns", H200 / "reruns.jsonl.gz", asked_by="the laboratory", approved_by="a second person there"
        )

    def shown(self) -> str:
        return str(Run.objects.filter(digest__startswith=SHOWN).values_list("id", flat=True).get())
