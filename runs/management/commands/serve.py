"""`manage.py serve`: the production server (docs/benchmarks.md says why this one)."""

from __future__ import annotations

import os
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError


def require_free_port(host: str, port: int) -> None:
    """Raises CommandError where something else listens already."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"{host}:{port} cannot be listened on ({error.strerror}). "
                f"Stop what uses it, or name another port: make demo PORT={port + 1}"
            ) from error


def serve(host: str, port: int, workers: int) -> None:
    """Become the server. Does not return."""
    granian = Path(sys.executable).with_name("granian")
    arguments = ["--interface", "wsgi", "--host", host, "--port", str(port), "--workers", str(workers)]
    arguments += [
        "--no-ws",
        "--log-level",
        "warning",
        "--blocking-threads",
        "4",
        "--backpressure",
        "64",
        "--respawn-failed-workers",
        "kernelindex.wsgi:application",
    ]
    os.execv(granian, [str(granian), *arguments])  # noqa: S606


class Command(BaseCommand):
    help = "Serve the site with the production server."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes; one a core by default")

    def handle(self, *args: Any, host: str, port: int, workers: int, **options: Any) -> None:
        require_free_port(host, port)
        serve(host, port, workers)
