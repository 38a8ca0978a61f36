"""The export gives back what was imported, in bytes that depend on the content alone."""

from __future__ import annotations

import hashlib
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.core.management import CommandError, call_command

from runs.models import Run
from runs.publication import publish, retract, supersede
from runs.redaction import redact
from runs.sources.synthetic import synthesize
from tests import factories
from tests.exchange.rows import changed, export_of, of, serving, write
from tests.shared_data import SHARED, needs_shared

pytestmark = pytest.mark.django_db
DIGESTS = {
    "operations": "semanticDigest",
    "workloads": "workloadDigest",
    "implementations": "implementationDigest",
    "benchmark_runs": "runDigest",
    "model_revisions": "modelDigest",
    "serving_stack_revisions": "stackDigest",
    "serving_configurations": "configurationDigest",
    "serving_workloads": "workloadDigest",
    "serving_runs": "runDigest",
}


def exported(path: Path) -> list[dict[str, Any]]:
    call_command("export_catalog", path)
    data = path.read_bytes()
    if path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()
    return [json.loads(line) for line in data.splitlines()]


def manifests(rows: list[dict[str, Any]]) -> dict[tuple[str, str], tuple[Any, Any]]:
    """Digest and manifest of every row that has them, by table and id."""
    return {
        (entry["table"], entry["row"]["id"]): (
            entry["row"].get(DIGESTS.get(entry["table"], "")),
            entry["row"]["manifest"],
        )
        for entry in rows
        if "manifest" in entry["row"]
    }


@needs_shared
def test_what_the_public_index_exported_comes_back_manifest_for_manifest(tmp_path):
    path = SHARED / "catalog-export-slice.jsonl"
    call_command("import_catalog", path)
    before = [json.loads(line) for line in path.read_text().splitlines()]
    after = exported(tmp_path / "out.jsonl.zst")
    assert manifests(after) == manifests(before)
    shown = {"shapeSummary"}  # words for people
    for table in DIGESTS:
        theirs = {row["id"]: row for row in of(before, table)}
        for row in of(after, table):
            assert {**row, **dict.fromkeys(shown)} == {**theirs[row["id"]], **dict.fromkeys(shown)}
    for table in ("sources", "projects", "artifacts"):
        assert {row["id"]: row for row in of(after, table)} == {row["id"]: row for row in of(before, table)}
    figures = ("runId", "metric", "statistic", "unit", "value", "sampleCount")
    for table in ("measurements", "serving_measurements"):
        assert sorted(str([row[name] for name in figures]) for row in of(after, table)) == sorted(
            str([row[name] for name in figures]) for row in of(before, table)
        )


def test_an_index_that_reads_the_export_has_the_same_records(database, tmp_path):
    publish(factories.bundle(factories.FIRST, factories.SEED, factories.crowd(1).records[-1].manifest))
    retract(Run.objects.first().digest, reason="r", actor="a")
    first = tmp_path / "first.jsonl.zst"
    rows = exported(first)
    report = tmp_path / "report.json"
    database.manage("import_catalog", str(first), "--report", str(report))
    document = json.loads(report.read_text())
    assert document["sums"]
    assert not document["refused"]
    assert not document["differences"]["count"]
    assert document["notices"] == {"retracted": 1}
    second = tmp_path / "second.jsonl.zst"
    database.manage("export_catalog", str(second))
    again = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(second.read_bytes())).read()
    assert [json.loads(line) for line in again.splitlines()] == rows


def test_the_bytes_follow_from_the_content_alone(database, tmp_path):
    rows = export_of(factories.bundle(factories.FIRST, factories.SEED)) + serving()
    call_command("import_catalog", write(tmp_path / "in.jsonl", rows))
    exported(tmp_path / "here.jsonl.zst")
    random.Random(1).shuffle(rows)
    database.manage("import_catalog", str(write(tmp_path / "shuffled.jsonl", rows)))
    for name in ("there.jsonl.zst", "once-more.jsonl.zst"):
        database.manage("export_catalog", str(tmp_path / name))
        assert (tmp_path / name).read_bytes() == (tmp_path / "here.jsonl.zst").read_bytes()


# The content of this small export has this digest on SQLite and PostgreSQL alike.
CONTENT = "2def9e34ec0f962fbd7bef94c21b3de6a403beafe09de92026e663c3b6b00849"


def test_the_content_is_the_same_on_every_database(tmp_path):
    rows = export_of(factories.bundle(factories.FIRST, factories.SEED)) + serving()
    call_command("import_catalog", write(tmp_path / "in.jsonl", rows))
    exported(tmp_path / "out.jsonl")
    assert hashlib.sha256((tmp_path / "out.jsonl").read_bytes()).hexdigest() == CONTENT


def test_the_digest_lies_beside_the_file(tmp_path, capsys):
    publish(factories.seed_bundle())
    exported(tmp_path / "out.jsonl.zst")
    digest = hashlib.sha256((tmp_path / "out.jsonl.zst").read_bytes()).hexdigest()
    assert (tmp_path / "out.jsonl.zst.sha256").read_text() == f"{digest}  out.jsonl.zst\n"
    assert f"sha256:{digest}" in capsys.readouterr().out
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out.jsonl.zst", "out.jsonl.zst.sha256"]


def test_records_of_our_own_have_ids_that_follow_from_their_content(tmp_path):
    publish(factories.seed_bundle())
    first = of(exported(tmp_path / "out.jsonl"), "benchmark_runs")
    assert {row["id"][14] for row in first} == {"5"}
    assert not {row["id"] for row in first} & {str(id_) for id_ in Run.objects.values_list("id", flat=True)}


def test_implementations_of_one_digest_and_name_come_back_as_two(tmp_path):
    rows = export_of(factories.bundle(factories.FIRST, factories.SEED))
    twin = changed([entry for entry in rows if entry["table"] == "implementations"][:1])[0]
    twin["row"] |= {"id": "ffffffff-ffff-7fff-8fff-ffffffffffff", "slug": "the-twin"}
    call_command("import_catalog", write(tmp_path / "in.jsonl", [*rows, twin]))
    after = of(exported(tmp_path / "out.jsonl"), "implementations")
    assert {row["id"]: row["manifest"] for row in after} == {
        row["id"]: row["manifest"] for row in [*of(rows, "implementations"), twin["row"]]
    }


def test_what_is_made_up_and_what_was_removed_is_not_exported(tmp_path):
    publish(synthesize(0, 6))
    publish(factories.seed_bundle())
    removed = Run.objects.filter(illustrative=False).first().digest
    redact(removed, reason="r", actor="a")
    rows = exported(tmp_path / "out.jsonl")
    digests = {row["runDigest"] for row in of(rows, "benchmark_runs")}
    assert len(digests) == 1
    assert removed not in digests
    assert {row["runId"] for row in of(rows, "measurements")} == {row["id"] for row in of(rows, "benchmark_runs")}


def test_withdrawals_are_told(tmp_path):
    publish(factories.bundle(factories.FIRST, factories.SEED, factories.crowd(1).records[-1].manifest))
    first, second, third = Run.objects.order_by("digest")
    retract(first.digest, reason="Wrong clock.", actor="the source")
    supersede(second.digest, third.digest, reason="r", actor="a")
    rows = {row["runDigest"]: row for row in of(exported(tmp_path / "out.jsonl"), "benchmark_runs")}
    assert rows[first.digest]["retractionReason"] == "Wrong clock."
    assert rows[first.digest]["retractedAt"]
    assert rows[third.digest]["supersedesId"] == rows[second.digest]["id"]


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path):
    (tmp_path / "a-file").write_text("")
    with pytest.raises(CommandError):
        call_command("export_catalog", tmp_path / "a-file" / "out.jsonl.zst")
