"""`manage.py demo_rerun`: one claim through the whole lane on this machine's CPU. What `make demo-rerun` runs."""

from __future__ import annotations

import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from runs.models import Rerun, RerunResult, Run, Signer
from runs.publication import decide_signer, register_signer
from runs.reruns import queue
from runs.reruns.consumer import consume
from runs.reruns.delivery import send
from runs.reruns.dispatch import dispatch
from runs.reruns.documents.keys import PrivateKey, generate_private_key, load_private_key
from runs.reruns.files import write_private
from runs.reruns.keyring import key_set
from runs.reruns.verify import main as verify

PATIENCE_S: Final = 900.0
RUNNER: Final = {"role": "runner", "operator": "This machine", "product": "cpu"}
SINCE: Final = "2020-01-01T00:00:00.000Z"


class Command(BaseCommand):
    help = "Measure a claim on this machine's CPU, rerun it through the controlled lane, and verify what came of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--runner-python", default=sys.executable, help="the Python of the runner: with torch, without Django"
        )

    def handle(self, *args: Any, runner_python: str, **options: Any) -> None:
        folder: Path = settings.STATE_DIR / "demo-rerun"
        folder.mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=0)
        dispatcher = self.key(folder / "dispatcher.pem", {"role": "dispatcher"})
        self.key(folder / "runner.pem", RUNNER)
        keys = folder / "KEYS.json"
        write_private(keys, key_set().plain())
        self.stdout.write("· measuring a claim on this machine's CPU (a minute or two)")
        self.run([runner_python, "-m", "runs.reruns.runner.sample", str(folder)])
        reruns = self.approve(folder)
        self.stdout.write(f"· starting a worker of product cpu, and dispatching {len(reruns)} signed jobs")
        work = [runner_python, "-m", "runs.reruns.runner", "work", "--broker", settings.RERUN_BROKER_URL]
        work += ["--key", str(folder / "runner.pem"), "--keys", str(keys), "--spool", str(folder / "spool")]
        with self.worker(work, folder / "worker.log"):
            send(dispatch(dispatcher, budget=settings.RERUNS_A_DAY, product="cpu"))
            self.wait(reruns)
        for rerun in reruns:
            self.show(rerun, folder / f"{rerun.id}.json", keys)
        self.stdout.write("\n`make demo` serves these pages.")

    def key(self, path: Path, entry: dict[str, str]) -> PrivateKey:
        """The private key in a file, made, registered and approved where this database does not know it."""
        key = load_private_key(path) if path.exists() else generate_private_key(path)
        if not Signer.objects.filter(keyid=key.keyid).exists():
            name = f"demo-{entry['role']}-{key.keyid[:8]}"
            described = key.describe({**entry, "name": name, "validFrom": SINCE})
            register_signer(described, actor="the demo", reason="made on this machine")
            decide_signer(name, "approve", actor="the demo", reason="made on this machine")
        return key

    def approve(self, folder: Path) -> list[Rerun]:
        """Publish the claims and approve a rerun of each."""
        before = set(Run.objects.values_list("id", flat=True))
        call_command("import_liger", file=folder / "claim.csv", environment=folder / "environment.json")
        claims = Run.objects.exclude(id__in=before).select_related("operation", "environment")
        return [queue.approve(run, requested_by="a visitor", approved_by="a moderator") for run in claims]

    def run(self, command: Sequence[str]) -> None:
        done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            raise CommandError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")

    @contextmanager
    def worker(self, command: Sequence[str], log: Path) -> Iterator[None]:
        """A worker beside this process, which is told to stop at the end."""
        with log.open("ab") as output:
            process = subprocess.Popen(command, cwd=settings.BASE_DIR, stdout=output, stderr=output)  # noqa: S603
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)

    def wait(self, reruns: Sequence[Rerun]) -> None:
        """Take results and show progress until every rerun has ended."""
        deadline = time.monotonic() + PATIENCE_S
        shown = ""

        def ended() -> bool:
            nonlocal shown
            now = list(Rerun.objects.filter(id__in=[rerun.id for rerun in reruns]))
            progress: dict[str, Any] = next((rerun.progress for rerun in now if rerun.progress), {})
            line = f"  {now[0].state} {progress.get('phase', '')} {progress.get('done', '')}".rstrip()
            if line != shown:
                self.stdout.write(line)
                self.stdout.flush()
                shown = line
            if time.monotonic() > deadline:
                raise CommandError("no result came in time; worker.log beside the keys says why")
            return all(rerun.state not in queue.OPEN for rerun in now)

        consume(until=ended)

    def show(self, rerun: Rerun, bundle: Path, keys: Path) -> None:
        """Verify one result offline, and print where to look."""
        rerun.refresh_from_db()
        result = RerunResult.objects.filter(rerun=rerun).first()
        self.stdout.write(f"\n{rerun.run.title}: {result.verdict.replace('_', ' ') if result else rerun.state}")
        if result:
            call_command("rerun_bundle", rerun.id, out=bundle, stdout=self.stdout)
            verify([str(bundle), "--keys", str(keys)])
        self.stdout.write(f"  {settings.BASE_URL}/reruns/{rerun.id}/")
