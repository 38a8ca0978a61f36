"""Tables of results that people hand in: what is right is published, what is wrong is explained cell by cell."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from runs.models import Environment, Implementation, Operation, Protocol, Run, Source, Workload
from runs.publication import publish
from runs.sources.results.columns import COLUMNS, NUMBERS, REQUIRED
from runs.verification import verify
from tests import factories

pytestmark = pytest.mark.django_db
DOCS = Path(__file__).resolve().parents[2] / "docs"
TEMPLATE = DOCS / "results-template.csv"
DATA = Path(__file__).parent / "data"


def spec(record) -> dict:
    return json.loads(record.canonical)["spec"]


def rows() -> list[dict[str, str]]:
    with TEMPLATE.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, table: list[dict[str, str]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    return path


def test_the_template_is_published_as_it_stands():
    call_command("import_results", TEMPLATE, source="my-lab", name="My lab", license="CC-BY-4.0")
    fused, eager = Run.objects.filter(status="passed").order_by("value")
    assert (fused.value, eager.value) == (123_400, 402_100)
    assert (fused.metric, fused.statistic, fused.unit, fused.samples) == ("latency", "median", "ns", 200)
    assert (fused.standing.rank, eager.standing.rank) == (1, 2)
    failed = Run.objects.get(status="compile_error")
    assert (failed.value, failed.standing.rank) == (None, None)
    assert Protocol.objects.count() == Environment.objects.count() == Workload.objects.count() == 1
    case = spec(Workload.objects.get())
    assert case["axes"] == {"rows": 4096, "hidden": 8192}
    assert case["tensors"] == {"x": {"shape": [4096, 8192], "dtype": "bf16"}}
    assert spec(Operation.objects.get())["inputs"] == [
        {"name": "x", "tensor": {"shape": ["rows", "hidden"], "dtype": "float"}}
    ]
    assert spec(Environment.objects.get())["hardware"]["vendor"] == "nvidia"
    assert spec(fused)["timing"]["latencyNs"] == {
        "median": 123_400,
        "mean": 124_100,
        "minimum": 121_900,
        "maximum": 140_200,
    }
    assert spec(fused)["sourceNative"]["metrics"]["median_ms"] == 0.1234
    assert Implementation.objects.get(title="fused").project.name == "my-kernels"
    assert (Source.objects.get().name, Source.objects.get().license) == ("My lab", "CC-BY-4.0")
    assert not list(verify(lambda _: None))


def test_a_second_import_changes_nothing(capsys):
    for _ in range(2):
        call_command("import_results", TEMPLATE, source="my-lab")
    assert "0 runs published, 3 were there before" in capsys.readouterr().out


def test_checking_publishes_nothing(capsys):
    call_command("import_results", TEMPLATE, source="my-lab", check=True)
    assert "nothing is wrong; nothing was published" in capsys.readouterr().out
    assert not Run.objects.exists()
    assert not Source.objects.exists()


def test_the_same_rows_as_json_are_the_same_records(tmp_path):
    path = tmp_path / "results.json"
    table = [{name: value for name, value in row.items() if value} for row in rows()]
    for row in table:
        row |= {name: json.loads(row[name]) for name in ("axis:rows", "samples", "median", "mean") if name in row}
    path.write_text(json.dumps(table))
    call_command("import_results", path, source="my-lab")
    digests = set(Run.objects.values_list("digest", flat=True))
    call_command("import_results", TEMPLATE, source="my-lab")
    assert set(Run.objects.values_list("digest", flat=True)) == digests


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("operation", "", "is needed; fill it in"),
        ("hardware", " ", "is needed; fill it in"),
        ("observed_at", "yesterday", "is no time; write it as 2026-02-28T00:23:31Z"),
        ("median", "1,234", "is no number"),
        ("median", "nan", "is no number that can be kept"),
        ("median", "1e999", "is no number that can be kept"),
        ("median", "-1", "is no duration"),
        ("median", "1e20", "is no duration"),
        ("samples", "1.5", "is no whole number"),
        ("unit", "hours", "a latency is in ns, us, µs, ms, s"),
        ("axis:rows", "many", "is no number"),
        ("tensor:x", "bf16", "write its dimensions and its dtype"),
        ("tensor:x", "rows x columns bf16", "neither a number nor an axis"),
        ("status", "great", "is none of passed"),
        ("timer", "CUDA events", "write 'cuda_events'"),
        ("implementation", "x" * 501, "is longer than 500 characters"),
        ("implementation", "a\x07b", "cannot be shown"),
    ],
)
def test_a_cell_that_is_wrong_is_explained_and_nothing_is_published(tmp_path, capsys, column, value, said):
    table = rows()
    table[1][column] = value
    report = tmp_path / "report.json"
    with pytest.raises(CommandError, match="nothing was published"):
        call_command("import_results", write(tmp_path / "r.csv", table), source="my-lab", report=report)
    faults = json.loads(report.read_text())["faults"]
    assert faults[0]["place"].startswith("line 3, ")
    assert any(said in fault["message"] for fault in faults)
    assert "line 3, " in capsys.readouterr().out
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"median": "", "mean": ""}, "is needed, or mean"),
        ({"median": "", "mean": "", "minimum": "", "maximum": ""}, "a passed run has a measurement"),
    ],
)
def test_a_row_that_does_not_hold_together_is_explained(tmp_path, capsys, changes, said):
    table = rows()[:1]
    table[0] |= changes
    with pytest.raises(CommandError):
        call_command("import_results", write(tmp_path / "r.csv", table), source="my-lab")
    assert said in capsys.readouterr().out


def test_a_column_that_means_nothing_is_named(tmp_path, capsys):
    table = [{**row, "speed": "fast", "axis:": "1"} for row in rows()]
    with pytest.raises(CommandError):
        call_command("import_results", write(tmp_path / "r.csv", table), source="my-lab")
    printed = capsys.readouterr().out
    assert "column speed: means nothing here" in printed
    assert "column axis:: means nothing here" in printed


def test_other_metrics_have_their_unit_and_statistic(tmp_path):
    table = [{**rows()[0], **dict.fromkeys(("median", "mean", "minimum", "maximum"), "")}]
    table[0] |= {"metric": "throughput", "statistic": "mean", "unit": "gb_s", "value": "1234.5"}
    call_command("import_results", write(tmp_path / "r.csv", table), source="my-lab")
    run = Run.objects.get()
    assert (run.metric, run.statistic, run.unit, run.value) == ("throughput", "mean", "gb_s", 1234.5)


def test_an_operation_that_is_published_is_named_by_its_digest(tmp_path):
    publish(factories.seed_bundle())
    digest = factories.digest(factories.GROUP_NORM)
    table = [{**rows()[0], "operation": digest}]
    call_command("import_results", write(tmp_path / "r.csv", table), source="my-lab")
    assert Run.objects.get(source__slug="my-lab").operation.digest == digest
    assert Operation.objects.count() == 1


def test_an_operation_that_is_not_published_is_refused(tmp_path):
    table = [{**rows()[0], "operation": "sha256:" + "0" * 64}]
    with pytest.raises(CommandError, match="refers to a record that is neither"):
        call_command("import_results", write(tmp_path / "r.csv", table), source="my-lab")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (b"operation,operation\na,b\n", "stands twice"),
        (b"operation,implementation\na\n", "line 2: has 1 cells, the header has 2"),
        (b'operation\n"a', "line 2"),
        (b"\xff\xfea", "is not UTF-8"),
        (b"{}", "this is none of them"),
        (b"[1]", "row 1: is no object"),
        (b'[{"operation": []}]', "rows are flat"),
        (b"[{]", "this is no JSON"),
        (b'[{"a": 1, "a": 2}]', "stands twice"),
        (b'{"machine_info": {}, "benchmarks": [1]}', "benchmark 1: has no stats"),
        (b'{"context": {}, "benchmarks": [{}]}', "benchmark 1: has no name"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path, data, said):
    path = tmp_path / "r"
    path.write_bytes(data)
    with pytest.raises(CommandError, match=re.escape(said)):
        call_command("import_results", path, source="my-lab")


def test_what_pytest_benchmark_wrote_is_read(capsys):
    call_command("import_results", DATA / "pytest-benchmark.json", source="my-lab", hardware="Example CPU 1")
    assert "pytest-benchmark: 5 rows read, 5 are runs" in capsys.readouterr().out
    total = Operation.objects.get(name="total")
    assert {spec(case)["axes"]["n"] for case in total.workloads.all()} == {64, 256}
    assert set(total.implementations.values_list("title", flat=True)) == {"how=fused", "how=plain"}
    stated = json.loads((DATA / "pytest-benchmark.json").read_text())["benchmarks"][0]
    run = next(run for run in Run.objects.all() if spec(run)["sourceNative"]["externalId"] == stated["fullname"])
    assert run.value == round(stated["stats"]["median"] * 1e9)
    assert (run.statistic, run.samples, run.environment.product) == ("median", 5, "Example CPU 1")
    tagged = Run.objects.get(operation__name="tagged sum")
    assert (tagged.implementation.title, tagged.environment.product) == ("builtin", "Example CPU 9")


def test_what_google_benchmark_wrote_is_read(capsys):
    path = DATA / "google-benchmark.json"
    call_command("import_results", path, source="my-lab", hardware="Example CPU 1")
    assert "Google Benchmark: 4 rows read, 4 are runs" in capsys.readouterr().out
    stated = {each["name"]: each for each in json.loads(path.read_text())["benchmarks"]}
    runs = {spec(run)["sourceNative"]["externalId"]: run for run in Run.objects.all()}
    assert runs["BM_total/64"].value == round(stated["BM_total/64"]["real_time"])
    assert spec(runs["BM_total/64"].workload)["axes"] == {"arg0": 64}
    named = runs["BM_named/n:8/repeats:3"]
    assert spec(named.workload)["axes"] == {"n": 8}
    assert (named.statistic, named.samples) == ("median", 3)
    assert named.value == round(stated["BM_named/n:8/repeats:3_median"]["real_time"])
    assert (runs["BM_broken"].status, runs["BM_broken"].value) == ("runtime_error", None)


def test_a_device_that_no_file_names_is_asked_for(capsys):
    with pytest.raises(CommandError, match="nothing was published"):
        call_command("import_results", DATA / "google-benchmark.json", source="my-lab")
    assert "hardware: is needed" in capsys.readouterr().out


def test_a_source_is_named_by_a_slug():
    with pytest.raises(CommandError, match="such as my-lab"):
        call_command("import_results", TEMPLATE, source="My Lab")


def test_the_page_of_docs_lists_every_column():
    text = (DOCS / "exchange.md").read_text()
    listed = set(re.findall(r"^\| `([a-z0-9_:A-Z]+)`", text, flags=re.MULTILINE))
    assert listed == {*COLUMNS, *NUMBERS, "axis:NAME", "tensor:NAME"}
    needed = set(re.findall(r"^\| `([a-z_]+)` \| yes ", text, flags=re.MULTILINE))
    assert needed == set(REQUIRED)
