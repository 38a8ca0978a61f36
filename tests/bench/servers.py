"""`python -m tests.bench.servers`: the site under Granian and under gunicorn, one process each, the same pages."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.__main__ import manage
from tests.bench.load import ROOT, granian, median_rate, require_wrk, server

GUNICORN = "gunicorn==23.0.0"
PORT = 8897


def gunicorn() -> list[str]:
    """gunicorn from an environment of its own, with the site's libraries on its path."""
    venv = ROOT / "var" / "gunicorn-venv"
    if not (venv / "bin" / "gunicorn").exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(venv / "bin" / "pip"), "install", "-q", GUNICORN], check=True)
    return [str(venv / "bin" / "gunicorn"), "-w", "1", "-b", f"127.0.0.1:{PORT}", "tests.bench.wsgi:application"]


def main() -> None:
    require_wrk()
    with tempfile.TemporaryDirectory(prefix="kernelindex-bench-") as name:
        scratch = Path(name)
        environment = {
            "KERNELINDEX_STATE_DIR": name,
            "KERNELINDEX_ENV": "development",
            "KERNELINDEX_LOG_LEVEL": "ERROR",
        }
        manage(environment, "demo", "--no-serve")
        connection = sqlite3.connect(scratch / "kernelindex.sqlite3")
        ids = [row[0] for row in connection.execute("SELECT id FROM runs_run ORDER BY digest LIMIT 100")]
        connection.close()
        pages = [f"/runs/{i[:8]}-{i[8:12]}-{i[12:16]}-{i[16:20]}-{i[20:]}/" for i in ids]
        path = {"PYTHONPATH": os.pathsep.join([str(ROOT), *(each for each in sys.path if "site-packages" in each)])}
        print("| server | 15 kB of ready bytes | run page, warm |\n|---|---|---|")
        for title, command in (("Granian", granian(PORT)), ("gunicorn, sync worker", gunicorn())):
            with server(command, PORT, {**environment, **path}):
                ready, warm = (median_rate(PORT, each, scratch) for each in (["/bench/ready/"], pages))
            print(f"| {title} | {ready:,.0f} | {warm:,.0f} |")


if __name__ == "__main__":
    main()
