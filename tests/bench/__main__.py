"""`make bench`: the figures of docs/benchmarks.md, measured on this machine in one go.

The database is the bench's own: the Liger-Kernel runs, topped up to 8,000 with synthetic ones.
"""

from __future__ import annotations

import hashlib
import os
import platform
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.load import ROOT, granian, median_rate, rate, require_wrk, server

RUNS = 8_000
DATASETTE = "datasette==0.65.5"
PORT = 8899


def manage(environment: dict[str, str], *arguments: str) -> None:
    subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env={**os.environ, **environment}, check=True)


def datasette(scratch: Path) -> Path:
    """Datasette in an environment of its own: its dependencies are none of ours."""
    venv = ROOT / "var" / "bench-venv"
    if not (venv / "bin" / "datasette").exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(venv / "bin" / "pip"), "install", "-q", DATASETTE], check=True)
    return venv / "bin" / "datasette"


def pages(environment: dict[str, str], database: Path, scratch: Path) -> list[tuple[str, str, str, float]]:
    connection = sqlite3.connect(database)
    ids = [row[0] for row in connection.execute("SELECT id FROM runs_run ORDER BY digest")]
    connection.close()
    uuids = [f"{i[:8]}-{i[8:12]}-{i[12:16]}-{i[16:20]}-{i[20:]}" for i in ids]
    html, twin = [f"/runs/{i}/" for i in uuids], [f"/runs/{i}.json" for i in uuids]
    with server(granian(PORT), PORT, environment):
        ready = median_rate(PORT, ["/bench/ready/"], scratch)
        warm = median_rate(PORT, html[:100], scratch)
        warm_twin = median_rate(PORT, twin[:100], scratch)
    first = []
    for _ in range(3):  # a new process has nothing ready; 4 s do not reach the end of the list
        with server(granian(PORT), PORT, environment):
            first.append(rate(PORT, html, scratch, seconds=4, start=200))
    command = [
        str(datasette(scratch)),
        "serve",
        str(database),
        "-p",
        str(PORT + 1),
        "--setting",
        "sql_time_limit_ms",
        "5000",
    ]
    table = f"/{database.stem}/runs_run"
    with server(command, PORT + 1, {}):
        theirs = median_rate(PORT + 1, [f"{table}/{i}" for i in ids[:100]], scratch)
        theirs_json = median_rate(PORT + 1, [f"{table}/{i}.json" for i in ids[:100]], scratch)
    rendered = statistics.median(first)
    return [
        ("run page, warm / 15 kB of ready bytes", f"{warm:,.0f}", f"{ready:,.0f}", warm / ready),
        ("run page, first render / Datasette row page", f"{rendered:,.0f}", f"{theirs:,.0f}", rendered / theirs),
        ("JSON twin, warm / Datasette row JSON", f"{warm_twin:,.0f}", f"{theirs_json:,.0f}", warm_twin / theirs_json),
    ]


def publication(scratch: Path) -> tuple[str, str, str, float]:
    """The Liger data, parse to commit, against the work that no design can avoid."""
    import django
    from django.core.management import call_command
    from django.db import connection

    os.environ.update(
        DATABASE_URL=f"sqlite:///{scratch / 'publication.sqlite3'}", DJANGO_SETTINGS_MODULE="kernelindex.settings"
    )
    django.setup()
    from runs.manifests.canonical import canonical_json
    from runs.publication import publish
    from runs.sources.liger.build import build_bundle
    from runs.sources.liger.index import fetch_release, pip_settings

    release, snapshot = fetch_release("0.8.5", pip_settings())
    ours, least = [], []
    for _ in range(3):
        (scratch / "publication.sqlite3").unlink(missing_ok=True)
        connection.close()
        call_command("migrate", verbosity=0)
        started = time.perf_counter()
        bundle, _ = build_bundle(release.files, snapshot)
        publish(bundle)
        ours.append(len(bundle.records) / (time.perf_counter() - started))
        least.append(len(bundle.records) / unavoidable(bundle, canonical_json, scratch / "raw.sqlite3"))
    mine, bare = statistics.median(ours), statistics.median(least)
    return "publication, parse to commit / unavoidable work alone", f"{mine:,.0f}", f"{bare:,.0f}", mine / bare


def unavoidable(bundle, canonical_json, path: Path) -> float:
    """Seconds for rfc8785 and SHA-256 of the same manifests and a raw insert of the same bytes."""
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    database.execute("CREATE TABLE record (digest TEXT PRIMARY KEY, canonical BLOB)")
    started = time.perf_counter()
    rows = {}
    for record in bundle.records:
        canonical = canonical_json({name: record.manifest[name] for name in ("apiVersion", "kind", "spec")})
        rows[hashlib.sha256(canonical).hexdigest()] = canonical
    with database:
        database.executemany("INSERT INTO record VALUES (?, ?)", rows.items())
    return time.perf_counter() - started


def demo(scratch: Path) -> tuple[str, str, str, float]:
    """A first `make demo` when the packages are there: seconds to a site that answers, and its memory."""
    state = scratch / "demo"
    environment = {"KERNELINDEX_STATE_DIR": str(state), "KERNELINDEX_ENV": "development"}
    started = time.perf_counter()
    manage(environment, "demo", "--no-serve")
    seconds = time.perf_counter() - started
    importer = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    command = [sys.executable, "manage.py", "serve", "--port", str(PORT), "--workers", "1"]
    with server(command, PORT, environment) as process:
        serving = resident(process.pid)
    return (
        "first make demo (s) / 60 s; MB importing, serving",
        f"{seconds:.1f}",
        f"{importer:.0f}, {serving:.0f}",
        seconds / 60,
    )


def resident(pid: int) -> float:
    """MB that a process and its children hold."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    status = Path(f"/proc/{pid}/status").read_text()
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024
    return own + sum(resident(int(child)) for child in children)


def main() -> None:
    require_wrk()
    with tempfile.TemporaryDirectory(prefix="kernelindex-bench-") as name:
        scratch = Path(name)
        rows = [demo(scratch)]
        database = scratch / "bench.sqlite3"
        environment = {
            "DATABASE_URL": f"sqlite:///{database}",
            "KERNELINDEX_STATE_DIR": str(scratch / "demo"),
            "KERNELINDEX_ENV": "development",
            "KERNELINDEX_LOG_LEVEL": "ERROR",
        }
        manage(environment, "migrate", "-v0")
        manage(environment, "synthesize", "--prepare")
        manage(environment, "import_liger", "--release", "0.8.5")
        manage(environment, "synthesize", "--until", str(RUNS))
        rows += pages(environment, database, scratch)
        rows.append(publication(scratch))
    print(
        f"\n{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n"
    )
    print("| what | ours | theirs | ratio |\n|---|---|---|---|")
    for what, mine, other, ratio in rows:
        print(f"| {what} | {mine} | {other} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
