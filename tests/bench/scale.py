"""`make bench-scale`: pages at 10,000, 100,000 and 1,000,000 runs, on SQLite and PostgreSQL.

Databases are named on the command line, `RUNS=DATABASE_URL` each; one that holds fewer runs is topped up first (a
million takes about ten minutes). Every page is asked for once by a client in the process, with nothing kept: reads and
rendering, without server and network.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = 120
QUERIES = ("op:synthetic-norm-plain gpu:example-gpu-l1 dtype:bf16", "norm gpu:example-gpu-l1 hidden=4096")


def measure() -> dict[str, list[float]]:
    """Milliseconds of each page, in this process's database."""
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test import Client

    from kernelindex.pages import shelf
    from runs.models import ComparisonGroup, Run, WorkloadAxis

    settings.ALLOWED_HOSTS = ["testserver"]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    client, draw = Client(), random.Random(1)
    total = Run.objects.count()
    edges = sorted(draw.randrange(total) for _ in range(SAMPLES))
    ids = list(Run.objects.order_by("id").values_list("id", flat=True))
    groups = list(ComparisonGroup.objects.order_by("key").values_list("key", flat=True)[: SAMPLES * 3 : 3])
    hidden = list(WorkloadAxis.objects.filter(name="hidden").values_list("value", flat=True).distinct())
    pages: dict[str, Callable[[int], str]] = {
        "run page": lambda i: f"/runs/{ids[edges[i]]}/",
        "group page": lambda i: f"/groups/{groups[i % len(groups)]}/",
        "search, three facets": lambda i: (
            f"/search/?q=gpu:example-gpu-l1+dtype:bf16+hidden%3D{hidden[i % len(hidden)]}"
        ),
        "search, operation": lambda i: (
            f"/search/?q=op:synthetic-norm-plain+gpu:example-gpu-m1+hidden%3D{hidden[i % len(hidden)]}"
        ),
        "list of runs": lambda i: (
            f"/runs/?operation=synthetic-norm-plain&status=passed&hardware=example-gpu-{'sml'[i % 3]}1"
        ),
    }
    found: dict[str, list[float]] = {}
    for name, address in pages.items():
        client.get(address(0))
        times = []
        for i in range(SAMPLES):
            shelf.clear()
            started = time.perf_counter()
            response = client.get(address(i))
            times.append((time.perf_counter() - started) * 1000)
            assert response.status_code == 200, (address(i), response.status_code)
        found[name] = times
    return found


def top_up(url: str, runs: int) -> None:
    environment = {**os.environ, "DATABASE_URL": url}
    for arguments in (
        ("migrate", "-v0"),
        ("collectstatic", "-v0", "--noinput"),
        ("synthesize", "--prepare", "--until", str(runs)),
    ):
        subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, check=True)


def main(databases: list[str]) -> None:
    table: dict[tuple[str, str], dict[int, list[float]]] = {}
    for named in databases:
        runs, _, url = named.partition("=")
        top_up(url, int(runs))
        environment = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "kernelindex.settings"}
        command = [sys.executable, "-m", "tests.bench.scale", "--one"]
        done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        for page, times in json.loads(done.stdout.splitlines()[-1]).items():
            table.setdefault((url.split(":")[0], page), {})[int(runs)] = times
    print("| database | page | runs | p50 ms | p95 ms | p50 / p50 of the smallest |\n|---|---|---|---|---|---|")
    for (database, page), sizes in table.items():
        smallest = statistics.median(sizes[min(sizes)])
        for runs, times in sorted(sizes.items()):
            p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[18]
            print(f"| {database} | {page} | {runs:,} | {p50:.1f} | {p95:.1f} | {p50 / smallest:.2f} |")


if __name__ == "__main__":
    if sys.argv[1:] == ["--one"]:
        print(json.dumps(measure()))
    else:
        main(sys.argv[1:])
