"""Making those wait who would otherwise count the same rows at the same time."""

from __future__ import annotations

from hashlib import blake2b

from django.db import connection


def wait_for(name: str) -> None:
    """Hold a lock of this name until the transaction ends. SQLite's transactions have one writer as it is."""
    if connection.vendor == "postgresql":
        number = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])
