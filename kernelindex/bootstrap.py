"""Make the virtual environment that `make` works in. Standard library only: it runs before anything is installed.

    python3 kernelindex/bootstrap.py web|dev|runner

Installs the locked dependencies of requirements/<name>.txt into .venv, once for each content of that file; those of a
runner, which has no Django, into .venv-runner. What goes wrong is said in one line with a way on, and exits with 2.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)


def stop(problem: str) -> None:
    print(f"kernelindex: {problem}", file=sys.stderr)
    raise SystemExit(2)


def run(step: str, command: list[str], way_on: str) -> None:
    print(f"· {step}", flush=True)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)  # noqa: S603
    if done.returncode == 0:
        return
    output = done.stdout.strip()
    if "No space left" in output:
        stop(f"{step} failed: the disk is full. Free about 500 MB and run the same command again.")
    log = ROOT / "var" / "bootstrap.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text(output)
    stop(f"{step} failed. {way_on} The whole output is in {log.relative_to(ROOT)}.")


def main(name: str) -> None:
    if sys.version_info[:2] < OLDEST:
        have, need = ".".join(map(str, sys.version_info[:2])), ".".join(map(str, OLDEST))
        stop(f"this is Python {have}, and {need} or newer is needed. Name another: make PYTHON=python{need} …")
    venv = ROOT / (".venv-runner" if name == "runner" else ".venv")
    python = venv / "bin" / "python"
    lock = ROOT / "requirements" / f"{name}.txt"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    stamp = venv / f".{name}-installed"
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    if shutil.disk_usage(ROOT).free < 600_000_000:
        stop("less than 600 MB are free on this disk. Free some space and run the same command again.")
    if not python.exists():
        run(
            f"making {venv.name}",
            [sys.executable, "-m", "venv", str(venv)],
            "Python's venv module may be missing (on Debian: apt-get install python3-venv).",
        )
    # torch comes in builds of its own for each platform, so no hash fits all of a runner's.
    hashes = [] if name == "runner" else ["--require-hashes"]
    run(
        f"installing the locked dependencies of requirements/{name}.txt (a minute or so)",
        [str(python), "-m", "pip", "install", "--quiet", *hashes, "-r", str(lock)],
        "Is there a network, or an index in pip's settings? Run the same command again when there is.",
    )
    if name == "dev":  # kernels run in tests; torch comes in builds of its own for each platform, so no hash fits all
        run(
            "installing torch, which the rerun harness is tested with",
            [str(python), "-m", "pip", "install", "--quiet", "-r", str(lock.with_name("torch.txt"))],
            "Is there a network, or an index in pip's settings? Run the same command again when there is.",
        )
    stamp.write_text(wanted)


if __name__ == "__main__":
    main(sys.argv[1])
