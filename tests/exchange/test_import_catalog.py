"""The import of an export as an operator meets it: every row has an outcome, and nothing lands that is not proven."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from runs.manifests.bundle import Record
from runs.models import (
    ExternalRecord,
    Implementation,
    NamedFile,
    Operation,
    OperationAlias,
    OutboxEntry,
    Project,
    Retraction,
    Run,
    ServingRun,
    ServingWithdrawal,
    Source,
    SourceSnapshot,
    Standing,
    Supersession,
    Workload,
)
from runs.publication import publish
from runs.verification import verify
from tests import factories
from tests.exchange.rows import AT, changed, export_of, id_of, of, serving, write
from tests.shared_data import SHARED, needs_shared

pytestmark = pytest.mark.django_db
SLICE = SHARED / "catalog-export-slice.jsonl"
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


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    return export_of(factories.bundle(factories.FIRST, factories.SEED, FAILED)) + serving()


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


def everything() -> dict[str, int]:
    models = (
        Source,
        Project,
        Operation,
        Workload,
        Implementation,
        Run,
        Standing,
        ServingRun,
        ExternalRecord,
        OutboxEntry,
    )
    return {model.__name__: model.objects.count() for model in models}


# The public index's own rows ----------------------------------------------------------------------------------------


@needs_shared
def test_every_row_of_the_public_index_lands_with_its_digest(tmp_path):
    copied = tmp_path / SLICE.name
    copied.write_bytes(SLICE.read_bytes())
    document = imported(copied)
    counts = {table: tuple(counts.values()) for table, counts in document["tables"].items()}
    assert counts == {
        "sources": (4, 4, 0, 0, 0),
        "projects": (24, 24, 0, 0, 0),
        "operations": (18, 18, 0, 0, 0),
        "operation_aliases": (18, 18, 0, 0, 0),
        "workloads": (19, 19, 0, 0, 0),
        "implementations": (34, 34, 0, 0, 0),
        "benchmark_runs": (36, 36, 0, 0, 0),
        "measurements": (38, 38, 0, 0, 0),
        "record_events": (7, 0, 0, 7, 0),
        "artifacts": (32, 32, 0, 0, 0),
        "model_revisions": (1, 1, 0, 0, 0),
        "serving_stack_revisions": (1, 1, 0, 0, 0),
        "serving_configurations": (1, 1, 0, 0, 0),
        "serving_workloads": (3, 3, 0, 0, 0),
        "serving_runs": (6, 6, 0, 0, 0),
        "serving_measurements": (6, 6, 0, 0, 0),
    }
    assert document["differences"]["count"] == 0
    stated = [json.loads(line) for line in SLICE.read_text().splitlines()]
    for table, column, model in (
        ("operations", "semanticDigest", Operation),
        ("workloads", "workloadDigest", Workload),
        ("implementations", "implementationDigest", Implementation),
        ("benchmark_runs", "runDigest", Run),
        ("serving_runs", "runDigest", ServingRun),
    ):
        for row in of(stated, table):
            record = ExternalRecord.objects.get(export_table=table, external_id=row["id"]).record
            assert model.objects.get(id=record).digest == row[column]
    failed = Run.objects.exclude(status="passed")
    assert failed.count() == 4
    assert not Standing.objects.filter(run__in=failed, rank__isnull=False).exists()
    scores = Run.objects.filter(metric="score", unit="s")
    assert scores.count() == 24
    assert {run.standing.group.metric_key for run in scores} == {"score:geomean:s", "score:unspecified:s"}
    assert all(run.standing.rank for run in scores)
    source = Source.objects.get(slug="gpumode-kernelbot")
    assert source.license == "June 9 Researcher Reciprocity License v1.0"
    assert source.terms.startswith("Redistribution and public display permitted")


@needs_shared
def test_a_run_of_an_implementation_of_another_operation_lands_and_is_counted(tmp_path):
    copied = tmp_path / SLICE.name
    copied.write_bytes(SLICE.read_bytes())
    assert imported(copied)["notices"] == {"of an implementation of another operation": 1}


# Any export ---------------------------------------------------------------------------------------------------------


def test_it_lands_each_table_and_keeps_the_ids_of_the_other_index(rows, tmp_path):
    rows.append(
        {
            "table": "artifacts",
            "row": {
                "id": id_of("artifacts", 0),
                "contentDigest": "sha256:" + "d" * 64,
                "kind": "log",
                "mediaType": "text/plain",
                "sizeBytes": 10,
                "uri": "https://example.org/log.txt",
                "license": "CC0-1.0",
            },
        }
    )
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert not document["refused"]
    assert document["differences"] == {"count": 0, "rows": []}
    assert document["embedded"] == {"BenchmarkProtocol": 1, "ExecutionEnvironment": 1}
    assert document["sourcePublished"] == {"first": AT, "last": AT}
    assert Run.objects.count() == 3
    assert ServingRun.objects.count() == 2
    for row in of(rows, "implementations"):
        entry = Implementation.objects.get(digest=row["implementationDigest"])
        known = ExternalRecord.objects.get(export_table="implementations", external_id=row["id"])
        assert known.record == entry.id
        assert known.stated["slug"] == row["slug"]
        assert entry.project.slug == next(p["slug"] for p in of(rows, "projects") if p["id"] == row["projectId"])
    assert OperationAlias.objects.get().alias == "group_norm"
    assert NamedFile.objects.get().media_type == "text/plain"
    snapshots = SourceSnapshot.objects.values_list("source__slug", "name")
    assert set(snapshots) == {("liger-kernel-bench", "export.jsonl"), ("a-serving-benchmark", "export.jsonl")}


def test_a_second_import_changes_nothing(rows, tmp_path):
    path = write(tmp_path / "export.jsonl", rows)
    imported(path)
    before = everything()
    document = imported(path)
    assert everything() == before
    assert not any(counts["created"] for counts in document["tables"].values())
    assert document["tables"]["benchmark_runs"]["existing"] == 3


@pytest.mark.parametrize("seed", range(4))
def test_rows_may_come_in_any_order(rows, tmp_path, seed):
    random.Random(seed).shuffle(rows)
    document = imported(write(tmp_path / "export.jsonl.zst", rows))
    assert not document["refused"]
    assert Run.objects.count() == 3


def test_a_line_twice_is_one_record(rows, tmp_path):
    document = imported(write(tmp_path / "export.jsonl", rows + rows))
    assert not document["refused"]
    assert document["tables"]["benchmark_runs"] == {
        "read": 6,
        "created": 3,
        "existing": 3,
        "counted": 0,
        "refused": 0,
    }


def test_another_row_under_the_same_id_is_refused(rows, tmp_path):
    other = changed([entry for entry in rows if entry["table"] == "projects"][:1])
    other[0]["row"]["name"] = "another name"
    document = imported(write(tmp_path / "export.jsonl", rows + other))
    assert refusals(document) == [("projects", "DUPLICATE_ID")]


# What does not match ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "also"),
    [
        ("benchmark_runs", {"measurements"}),
        ("implementations", {"benchmark_runs", "measurements"}),
        ("workloads", {"benchmark_runs", "measurements"}),
        ("operations", {"operation_aliases", "workloads", "implementations", "benchmark_runs", "measurements"}),
        ("model_revisions", {"serving_runs", "serving_measurements"}),
        ("serving_stack_revisions", {"serving_configurations", "serving_runs", "serving_measurements"}),
    ],
)
def test_what_was_tampered_with_is_refused_and_all_that_rests_on_it(rows, tmp_path, table, also):
    for row in of(rows, table):
        spec = row["manifest"].get("run", row["manifest"])["spec"]
        spec.update({"status": "timeout"} if table == "benchmark_runs" else {"tampered": 1})
        if "tampered" in spec and table in ("implementations", "workloads", "operations"):
            del spec["tampered"]
            spec[{"implementations": "callable", "workloads": "correctness", "operations": "semantics"}[table]] = {
                "implementations": {"language": "cuda"},
                "workloads": {"comparator": "lenient"},
                "operations": {"mutation": "in_place", "determinism": "unspecified"},
            }[table]
    document = imported(write(tmp_path / "export.jsonl", rows))
    found = refusals(document)
    assert {code for each, code in found if each == table} == {"DIGEST_MISMATCH"}
    assert {each for each, _ in found} == {table} | also
    assert not Run.objects.exists() or table in ("model_revisions", "serving_stack_revisions")
    assert ServingRun.objects.exists() == (table not in ("model_revisions", "serving_stack_revisions"))


@pytest.mark.parametrize("part", ["protocol", "environment"])
def test_a_run_that_carries_a_forged_protocol_or_environment_is_refused(rows, tmp_path, part):
    first = of(rows, "benchmark_runs")[0]
    first["manifest"] = changed([first["manifest"]])[0]
    spec = first["manifest"][part]["spec"]
    spec["measurement" if part == "protocol" else "hardware"]["timer" if part == "protocol" else "vendor"] = "forged"
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert ("benchmark_runs", "DIGEST_MISMATCH") in refusals(document)
    assert Run.objects.count() == 2


def test_a_digest_of_another_manifest_is_refused(rows, tmp_path):
    of(rows, "benchmark_runs")[0]["runDigest"] = "sha256:" + "0" * 64
    document = imported(write(tmp_path / "export.jsonl", rows))
    named = document["refused"][0]
    assert (named["table"], named["code"]) == ("benchmark_runs", "DIGEST_MISMATCH")
    assert named["detail"].startswith("Stated sha256:0000")
    assert rows[named["line"] - 1]["row"]["id"] == named["id"]


def test_a_row_without_a_digest_proves_nothing(rows, tmp_path):
    of(rows, "workloads")[0]["workloadDigest"] = None
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert ("workloads", "NO_DIGEST") in refusals(document)
    assert not Run.objects.exists()


def test_a_run_means_the_implementation_that_its_row_names(rows, tmp_path):
    first, second = of(rows, "benchmark_runs")[:2]
    first["implementationId"], second["implementationId"] = second["implementationId"], first["implementationId"]
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert refusals(document).count(("benchmark_runs", "OTHER_IMPLEMENTATION")) == 2


def test_implementations_of_one_digest_and_one_name_stay_apart(rows, tmp_path):
    twin = changed([entry for entry in rows if entry["table"] == "implementations"][:1])[0]
    original = of(rows, "implementations")[0]
    twin["row"] |= {"id": "ffffffff-ffff-7fff-8fff-ffffffffffff", "slug": "the-twin"}
    digest = original["implementationDigest"]
    run = next(
        row for row in of(rows, "benchmark_runs") if row["manifest"]["run"]["spec"]["implementationDigest"] == digest
    )
    run["implementationId"] = twin["row"]["id"]
    path = write(tmp_path / "export.jsonl", [twin, *rows])
    for _ in range(2):
        document = imported(path)
        assert not document["refused"]
        names = set(Implementation.objects.filter(digest=digest).values_list("name", flat=True))
        assert names == {original["manifest"]["metadata"]["name"], "the-twin"}
        assert Run.objects.get(digest=run["runDigest"]).implementation.name == "the-twin"


def test_implementations_of_one_digest_are_told_apart_by_their_names(tmp_path):
    rows = export_of(factories.bundle(factories.FIRST, factories.SEED))
    digest = factories.digest(factories.LIGER)
    other = changed([row for row in rows if row["row"].get("implementationDigest") == digest])[0]
    other["row"]["id"] = id_of("implementations", "liger-compiled")
    other["row"]["manifest"]["metadata"]["name"] = "liger-compiled"
    run = next(
        row for row in of(rows, "benchmark_runs") if row["manifest"]["run"]["spec"]["implementationDigest"] == digest
    )
    run["implementationId"] = other["row"]["id"]
    imported(write(tmp_path / "export.jsonl", [*rows, other]))
    assert Implementation.objects.filter(digest=digest).count() == 2
    assert Run.objects.get(digest=run["runDigest"]).implementation.name == "liger-compiled"


def test_columns_that_do_not_follow_from_the_manifest_are_reported(rows, tmp_path):
    row = of(rows, "benchmark_runs")[0]
    row |= {"comparisonKey": "sha256:" + "0" * 64, "primaryValue": 1, "observedAt": "2020-01-01T00:00:00Z"}
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert document["differences"]["count"] == 3
    told = {each["column"]: each for each in document["differences"]["rows"]}
    assert told["primaryValue"] | {"derived": 0} == {
        "table": "benchmark_runs",
        "id": row["id"],
        "column": "primaryValue",
        "stated": 1,
        "derived": 0,
    }
    assert told["primaryValue"]["derived"] == 67328.0
    assert Run.objects.count() == 3


def test_a_figure_that_the_manifest_does_not_have_is_refused(rows, tmp_path):
    of(rows, "measurements")[0]["value"] = 1
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert refusals(document) == [("measurements", "NOT_IN_MANIFEST")]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", "MALFORMED_LINE"),
        (b"[]", "MALFORMED_LINE"),
        (b'{"table":"sources"}', "MALFORMED_LINE"),
        (b'{"table":"sources","row":{"a":1,"a":2}}', "MALFORMED_LINE"),
        (b'{"table":"sources","row":{"a":NaN}}', "MALFORMED_LINE"),
        (b'{"table":"sources","row":{"a":1e999}}', "MALFORMED_LINE"),
        (b"[" * 100_000, "MALFORMED_LINE"),
        (b'{"table":"sources","row":{"a":' + b"9" * 5_000 + b"}}", "MALFORMED_LINE"),
        (b"\xff\xfe", "MALFORMED_LINE"),
        (b'{"table":"people","row":{}}', "UNKNOWN_TABLE"),
        (b'{"table":"sources","row":{"id":"x"}}', "INVALID_ROW"),
        (b'{"table":"benchmark_runs","row":{"id":"01a00330-9d48-70fb-ba79-79bab95bf499"}}', "INVALID_ROW"),
    ],
)
def test_a_line_that_is_no_row_is_refused_and_the_others_land(rows, tmp_path, line, code):
    path = write(tmp_path / "export.jsonl", rows)
    path.write_bytes(line + b"\n" + path.read_bytes())
    document = imported(path)
    assert [(row["line"], row["code"]) for row in document["refused"]] == [(1, code)]
    assert Run.objects.count() == 3


@pytest.mark.parametrize(
    "metadata", [None, [], "x", {"name": "\ud800"}, {"name": "a\x00b"}, {"name": 1}, {"name": "x" * 300}]
)
def test_metadata_that_is_none_is_refused(rows, tmp_path, metadata):
    of(rows, "implementations")[0]["manifest"]["metadata"] = metadata
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert ("implementations", "INVALID_MANIFEST") in refusals(document)


def test_a_truncated_file_lands_up_to_where_it_is_whole(rows, tmp_path):
    path = write(tmp_path / "export.jsonl", rows)
    path.write_bytes(path.read_bytes()[:-40])
    document = imported(path)
    assert refusals(document) == [("(lines)", "MALFORMED_LINE")]
    assert Run.objects.count() == 3


def test_runs_of_a_source_that_is_not_there_are_refused(rows, tmp_path):
    document = imported(write(tmp_path / "export.jsonl", [row for row in rows if row["table"] != "sources"]))
    assert refusals(document).count(("benchmark_runs", "DEPENDS_ON_REFUSED")) == 3
    assert document["tables"]["operations"]["created"] == 1
    assert not Run.objects.exists()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite stores text of any length")
def test_a_value_that_the_database_cannot_hold_costs_its_own_row_alone(tmp_path):
    long = changed([factories.LIGER])[0]
    long["metadata"]["name"] = "too-long"
    long["spec"]["callable"]["language"] = "x" * 100
    subjects = (*factories.SUBJECTS, Record(long, project="liger-kernel"))
    document = imported(write(tmp_path / "e.jsonl", export_of(factories.bundle(factories.FIRST, subjects=subjects))))
    assert refusals(document) == [("implementations", "NOT_STORABLE")]
    assert Run.objects.count() == 1


# Withdrawals --------------------------------------------------------------------------------------------------------


def test_what_the_source_retracted_and_superseded_is_so_here(rows, tmp_path):
    first, second = of(rows, "benchmark_runs")[:2]
    first |= {"retractedAt": "2026-05-01T00:00:00.000Z", "retractionReason": "Wrong clock."}
    second["supersedesId"] = first["id"]
    old, new = of(rows, "serving_runs")
    new["supersedesId"] = old["id"]
    path = write(tmp_path / "export.jsonl", rows)
    assert imported(path)["notices"] == {"retracted": 1, "superseded": 2}
    retraction = Retraction.objects.get()
    assert retraction.run.digest == first["runDigest"]
    assert (retraction.reason, retraction.actor) == ("Wrong clock.", "Liger-Kernel benchmarks")
    assert retraction.at.isoformat() == "2026-05-01T00:00:00+00:00"
    assert Supersession.objects.get().successor.digest == second["runDigest"]
    assert ServingWithdrawal.objects.get().successor.digest == new["runDigest"]
    assert retraction.run.standing.rank is None
    assert imported(path)["notices"] == {"retracted before": 1, "superseded before": 2}


def test_a_run_that_supersedes_what_is_not_there_is_reported(rows, tmp_path):
    of(rows, "benchmark_runs")[0]["supersedesId"] = id_of("benchmark_runs", "nothing")
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert [each["column"] for each in document["differences"]["rows"]] == ["supersedesId"]


# With what was here before ------------------------------------------------------------------------------------------


def test_records_that_were_here_are_found_again(rows, tmp_path):
    publish(factories.seed_bundle())
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert document["tables"]["benchmark_runs"]["existing"] == 2
    assert document["tables"]["benchmark_runs"]["created"] == 1
    assert document["tables"]["sources"] == {"read": 2, "created": 1, "existing": 1, "counted": 0, "refused": 0}
    assert Source.objects.filter(slug="liger-kernel-bench").count() == 1


def test_terms_that_have_changed_since_are_reported(rows, tmp_path):
    publish(factories.seed_bundle())
    of(rows, "sources")[0]["policy"]["license"] = "MIT"
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert [(each["column"], each["stated"]) for each in document["differences"]["rows"]] == [("license", "MIT")]
    assert Source.objects.get(slug="liger-kernel-bench").license == "BSD-2-Clause"


def test_a_term_that_cannot_be_kept_is_left_out_and_reported(rows, tmp_path):
    of(rows, "sources")[0]["policy"] |= {"url": "http://example.org", "attribution": "x" * 501}
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert [each["column"] for each in document["differences"]["rows"]] == ["url", "attribution"]
    source = Source.objects.get(slug="liger-kernel-bench")
    assert (source.url, source.attribution, source.license) == ("", "", "BSD-2-Clause")
    assert Run.objects.count() == 3


def test_a_source_without_a_name_that_can_be_kept_is_refused_with_its_runs(rows, tmp_path):
    of(rows, "sources")[0]["slug"] = "No Slug"
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert refusals(document)[0] == ("sources", "INVALID_ROW")
    assert not Run.objects.exists()


def test_tables_that_nobody_knows_are_counted_by_name(rows, tmp_path):
    rows += [{"table": "people", "row": {}}, {"table": "people", "row": {}}]
    rows += [{"table": f"other {number}", "row": {}} for number in range(200)]
    document = imported(write(tmp_path / "export.jsonl", rows))
    assert document["tables"]["(people)"]["refused"] == 2
    assert len(document["tables"]) == 101
    assert Run.objects.count() == 3


def test_the_terminal_says_what_was_refused(rows, tmp_path, capsys):
    of(rows, "benchmark_runs")[0]["runDigest"] = "sha256:" + "0" * 64
    imported(write(tmp_path / "export.jsonl", rows))
    printed = capsys.readouterr().out
    assert "benchmark_runs: 3 read: 2 created, 1 refused" in printed
    assert "The stated digest is not the digest of the manifest." in printed


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path):
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_catalog", tmp_path / "absent.jsonl")
