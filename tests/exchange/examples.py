"""Exchanged records in a database, for tests that ask for a row of every table."""

from __future__ import annotations

from pathlib import Path

from django.core.management import call_command

from runs.models import ServingRun
from runs.serving_records import withdraw_serving
from tests.exchange.rows import id_of, serving, write


def one_of_each(folder: Path) -> None:
    """At least one row in every table of the exchange; `folder` takes the export that they come from."""
    file = {
        "id": id_of("artifacts", 0),
        "contentDigest": "sha256:" + "d" * 64,
        "kind": "source",
        "uri": "https://example.org/kernel.py",
    }
    rows = [*serving(), {"table": "artifacts", "row": file}]
    call_command("import_catalog", write(folder / "one-of-each.jsonl", rows))
    withdraw_serving(ServingRun.objects.first().digest, reason="r", actor="a")
