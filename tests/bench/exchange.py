"""Import and export of 8,000 runs: how many a second, and how much memory a process takes for it at most."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from pathlib import Path

import zstandard

from runs.manifests.canonical import canonical_json
from runs.sources.synthetic import synthesize
from tests.bench.load import ROOT
from tests.exchange.rows import export_of, write

RUNS = 8_000
ROUNDS = 3
# A management command in a process of its own, which says what it took: seconds without the start, peak memory in kB.
MEASURED = (
    "import resource, sys, time, django; django.setup();"
    "from django.core.management import call_command;"
    "started = time.perf_counter(); call_command(*sys.argv[1:], stdout=open('/dev/null', 'w'));"
    "print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


def measured(environment: dict[str, str], *arguments: str) -> tuple[float, float]:
    """Seconds and peak MB of a management command."""
    process = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, kilobytes = process.stdout.split()
    return float(seconds), float(kilobytes) / 1024


def least(path: Path, scratch: Path) -> float:
    """Seconds for what no import can avoid: JSON, canonical JSON, SHA-256 and a raw insert of the same manifests."""
    database = sqlite3.connect(scratch / "least.sqlite3")
    database.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; DROP TABLE IF EXISTS record;")
    database.execute("CREATE TABLE record (digest TEXT PRIMARY KEY, canonical BLOB)")
    started = time.perf_counter()
    rows: dict[str, bytes] = {}
    data = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
    for line in data.splitlines():
        manifest = json.loads(line)["row"].get("manifest", {})
        for each in manifest.values() if "run" in manifest else [manifest] if manifest else []:
            canonical = canonical_json({name: each[name] for name in ("apiVersion", "kind", "spec")})
            rows[hashlib.sha256(canonical).hexdigest()] = canonical
    with database:
        database.executemany("INSERT INTO record VALUES (?, ?)", rows.items())
    database.close()
    return time.perf_counter() - started


def exchange(scratch: Path) -> list[tuple[str, str, str, float]]:
    """Rows of the table of figures. Makes its own databases in `scratch`."""
    path = write(scratch / "synthetic.jsonl.zst", export_of(synthesize(0, RUNS)))
    imports, exports, unavoidable = [], [], []
    for number in range(ROUNDS):
        environment = {
            "DATABASE_URL": f"sqlite:///{scratch / f'exchange-{number}.sqlite3'}",
            "DJANGO_SETTINGS_MODULE": "kernelindex.settings",
            "KERNELINDEX_ENV": "development",
            "KERNELINDEX_LOG_LEVEL": "ERROR",
            "KERNELINDEX_STATE_DIR": str(scratch / "exchange"),
        }
        idle = measured(environment, "migrate", "-v0")[1]
        imports.append(measured(environment, "import_catalog", str(path)))
        exports.append(measured(environment, "export_catalog", str(scratch / f"out-{number}.jsonl.zst")))
        unavoidable.append(least(path, scratch))
    taken, bare = statistics.median(each[0] for each in imports), statistics.median(unavoidable)
    written = statistics.median(each[0] for each in exports)
    memory = [max(each[1] for each in found) for found in (imports, exports)]
    return [
        (
            "import_catalog, runs a second / unavoidable work alone",
            f"{RUNS / taken:,.0f}",
            f"{RUNS / bare:,.0f}",
            bare / taken,
        ),
        (
            "import_catalog, peak MB with the mapped database file / after migrate",
            f"{memory[0]:.0f}",
            f"{idle:.0f}",
            memory[0] / idle,
        ),
        (
            "export_catalog, runs a second / importing them",
            f"{RUNS / written:,.0f}",
            f"{RUNS / taken:,.0f}",
            taken / written,
        ),
        (
            "export_catalog, peak MB with the mapped database file / after migrate",
            f"{memory[1]:.0f}",
            f"{idle:.0f}",
            memory[1] / idle,
        ),
    ]
