"""What an import refuses, and that everything else of the export lands."""

from __future__ import annotations

import pytest
from django.db import connection

from runs.manifests.bundle import Record
from runs.models import Implementation, Run, ServingRun
from tests import factories
from tests.exchange.examples import imported, refusals
from tests.exchange.rows import changed, export_of, id_of, of, write

pytestmark = pytest.mark.django_db
TAMPERED = {
    "benchmark_runs": {"status": "timeout"},
    "implementations": {"callable": {"language": "cuda"}},
    "workloads": {"correctness": {"comparator": "lenient"}},
    "operations": {"semantics": {"mutation": "in_place", "determinism": "unspecified"}},
    "model_revisions": {"model": "another"},
    "serving_stack_revisions": {"apiProtocol": "another"},
}


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
        row["manifest"].get("run", row["manifest"])["spec"].update(TAMPERED[table])
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
