"""The runner's own command with a harness that measures nothing. Takes the arguments of `python -m runs.reruns.runner`.

KERNELINDEX_FAKE names its folder (see fake_harness.py) and KERNELINDEX_VISIBILITY shortens the patience of Redis. Where
the folder has a file `die-after-sending`, the worker is killed when its results are with the broker and its message is
not yet acknowledged; the file is gone then.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from runs.reruns import transport
from runs.reruns.runner import work, worker
from runs.reruns.runner.cli import main
from tests.reruns.runner.fake_harness import Harness

folder = Path(os.environ["KERNELINDEX_FAKE"])
harness = Harness(folder)
work.execute_batch = harness.execute
transport.VISIBILITY_S = int(os.environ["KERNELINDEX_VISIBILITY"])
run = worker.run


def run_and_die(*arguments, **options):
    served = run(*arguments, **options)
    if (folder / "die-after-sending").exists():
        (folder / "die-after-sending").unlink()
        os.killpg(os.getpgrp(), signal.SIGKILL)
    return served


worker.run = run_and_die
worker.PAUSE_S = 0.5
raise SystemExit(main(sys.argv[1:]))
