"""Imports that several files of tests make, and what came of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management import call_command

from runs.models import ServingRun
from runs.serving_records import withdraw_serving
from runs.verification import verify
from tests import factories
from tests.exchange.rows import id_of, serving, write

FAILED = factories.run(
    factories.LIGER,
    factories.workload(),
    name="a-failed-run",
    title="failed",
    median=None,
    observed_at="2026-03-01T00:00:00.000Z",
    status="compile_error",
    evidence={"logs": {"uri": "https://example.org/log.txt", "digest": "sha256:" + "d" * 64}},
)


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


def imported(path: Path) -> dict[str, Any]:
    report = path.with_name("report.json")
    call_command("import_catalog", path, report=report)
    document = json.loads(report.read_text())
    assert document["sums"]
    for counts in document["tables"].values():
        assert counts["read"] == sum(counts[outcome] for outcome in ("created", "existing", "counted", "refused"))
    assert not list(verify(lambda _: None))
    return document


def refusals(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(row["table"], row["code"]) for row in document["refused"]]
