"""Servers to measure and the load that measures them: wrk on one core, the server on another."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 6
ROUNDS = 3
CONNECTIONS = 8
SERVER_CORE, LOAD_CORE = "0", "1"
# Each request asks for the next path of a file, so that no page is asked for twice before all were.
NEXT_PATH = """
local paths, at = {{}}, {start}
for line in io.lines("{file}") do paths[#paths + 1] = line end
request = function() at = at % #paths + 1; return wrk.format("GET", paths[at], {headers}) end
"""


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("make bench needs the load generator wrk (on Debian: apt-get install wrk)")


@contextmanager
def server(command: Sequence[str], port: int, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server on its core until the block ends; yields when it answers."""
    process = subprocess.Popen(["taskset", "-c", SERVER_CORE, *command], cwd=ROOT, env={**os.environ, **environment})
    try:
        for _ in range(200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise SystemExit(f"{command[0]} does not answer on port {port}")
        yield process
    finally:
        process.terminate()
        process.wait(20)


def granian(port: int) -> list[str]:
    binary = str(Path(sys.executable).with_name("granian"))
    options = ["--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port), "--workers", "1", "--no-ws"]
    return [binary, *options, "--log-level", "error", "tests.bench.wsgi:application"]


def rate(port: int, paths: Sequence[str], scratch: Path, *, seconds: int = SECONDS, start: int = 0) -> float:
    """Requests a second over these paths in turn. Any answer but 2xx or 3xx is an error."""
    listing = scratch / "paths.txt"
    listing.write_text("\n".join(paths))
    script = scratch / "next.lua"
    script.write_text(NEXT_PATH.format(file=listing, start=start, headers='{["Accept-Encoding"] = "br, gzip"}'))
    command = ["taskset", "-c", LOAD_CORE, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script)]
    done = subprocess.run(
        [*command, f"http://127.0.0.1:{port}"], capture_output=True, text=True, check=True, timeout=seconds + 60
    )
    if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise SystemExit(f"the server did not answer well:\n{done.stdout}")
    found = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    assert found, done.stdout
    return float(found[1])


def median_rate(port: int, paths: Sequence[str], scratch: Path) -> float:
    rate(port, paths, scratch, seconds=1)
    return statistics.median(rate(port, paths, scratch) for _ in range(ROUNDS))
