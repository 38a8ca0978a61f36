"""The import of an export as an operator meets it: every row has an outcome, and nothing lands that is not proven."""

from __future__ import annotations

import json
import random

import pytest
from django.core.management import CommandError, call_command

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
from tests import factories
from tests.exchange.examples import imported, refusals
from tests.exchange.rows import AT, changed, id_of, of, write
from tests.shared_data import SHARED, needs_shared

pytestmark = pytest.mark.django_db
SLICE = SHARED / "catalog-export-slice.jsonl"


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


def test_a_report_that_cannot_be_written_costs_nothing_that_was_imported(rows, tmp_path):
    with pytest.raises(CommandError, match="the import is done, its report is not"):
        call_command("import_catalog", write(tmp_path / "e.jsonl", rows), report=tmp_path / "absent" / "report.json")
    assert Run.objects.count() == 3
