"""A lane over a real broker: a site in the test's process, workers as processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runs.models import Rerun, RerunResult
from runs.reruns.consumer import ResultConsumer
from runs.reruns.keyring import key_set
from runs.reruns.transport import RESULTS, connect
from tests.reruns import examples
from tests.reruns.runner.cases import write_key, write_keys

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 45.0
VISIBILITY_S = 2
"""Redis delivers anew after this long, here."""


def wait(until: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


@dataclass
class Lane:
    """`url` is the site's broker URL, `runner_url` the runner's, who may do less."""

    folder: Path
    url: str
    runner_url: str
    restart: Callable[[], None] | None = None
    redelivers: bool = True
    """Whether the broker keeps what was not acknowledged when a worker is killed."""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *, url: str = "", spool: str = "spool", product_key: str = "runner") -> subprocess.Popen[bytes]:
        """Start a worker in a process group of its own."""
        write_keys(self.folder / "KEYS.json", key_set())
        pem = self.folder / f"{product_key}.pem"
        if not pem.exists():
            write_key(pem, examples.RUNNER if product_key == "runner" else examples.OTHER_RUNNER)
        command = ["work", "--broker", url or self.runner_url, "--key", pem, "--keys", self.folder / "KEYS.json"]
        command += ["--spool", self.folder / spool, "--device", "cuda:0"]
        log = (self.folder / "worker.log").open("ab")
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.reruns.brokers.fake_worker", *map(str, command)],
            cwd=ROOT,
            env={**os.environ, "KERNELINDEX_FAKE": str(self.folder), "KERNELINDEX_VISIBILITY": str(VISIBILITY_S)},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log.close()
        self.workers.append(worker)
        return worker

    def start_after_patience(self) -> None:
        """Start a worker when Redis has lost patience with the one that was killed; a worker looks for that first."""
        time.sleep(VISIBILITY_S + 0.5)
        self.start()

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """As a host dies: the worker and its children at once."""
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(10)

    def kill_child(self, worker: subprocess.Popen[bytes]) -> None:
        """As a process dies that used too much memory: the one that executes, and not the one that talks."""
        children = subprocess.run(["pgrep", "-P", str(worker.pid)], capture_output=True, text=True, check=True)
        for child in children.stdout.split():
            os.kill(int(child), signal.SIGKILL)

    def close(self) -> None:
        for worker in self.workers:
            if worker.poll() is None:
                self.kill(worker)

    @property
    def executed(self) -> list[str]:
        log = self.folder / "executed.log"
        return log.read_text().splitlines() if log.exists() else []

    def hold(self) -> None:
        """Let the harness wait in the middle of its next job."""
        (self.folder / "hold").touch()

    def release(self) -> None:
        (self.folder / "hold").unlink()

    def take(self, until: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
        """Consume results until something is so."""
        deadline = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < deadline, (self.folder / "worker.log").read_text()[-4000:]
            self.take_one(1.0)

    def take_one(self, seconds: float) -> bool:
        """Consume one message, if one comes in time."""
        with connect(self.url, RESULTS) as connection:
            try:
                for _ in ResultConsumer(connection).consume(limit=1, timeout=seconds, safety_interval=0.2):
                    return True
            except TimeoutError:
                pass
        return False

    def take_rest(self) -> int:
        """Consume what is still there; how many messages it was."""
        count = 0
        while self.take_one(2.0):
            count += 1
        return count


def done(reruns: Sequence[Rerun]) -> Callable[[], bool]:
    """Whether all of these reruns are done."""
    ids = [rerun.id for rerun in reruns]
    return lambda: Rerun.objects.filter(id__in=ids, state="done").count() == len(ids)


def recorded_once(reruns: Sequence[Rerun]) -> bool:
    """Whether each has its one record, and nothing else was recorded."""
    return sorted(RerunResult.objects.values_list("rerun", flat=True)) == sorted(rerun.id for rerun in reruns)
