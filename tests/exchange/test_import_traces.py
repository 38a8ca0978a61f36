"""flashinfer-bench folders: the fixtures were written by that package's own models (version 0.1.2)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from runs.models import Implementation, Operation, OperationAlias, Project, Run, Source, SourceSnapshot, Workload
from runs.verification import verify

pytestmark = pytest.mark.django_db
DATA = Path(__file__).parent / "data" / "traces"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA, tmp_path / "a-trace-set"))


def spec(record) -> dict:
    return json.loads(record.canonical)["spec"]


def test_every_trace_is_a_run_and_every_workload_a_case(folder, capsys):
    call_command("import_traces", folder, license="Apache-2.0")
    assert "7 traces read, 4 are runs, 0 are faulty" in capsys.readouterr().out
    assert (Operation.objects.count(), Workload.objects.count(), Implementation.objects.count()) == (2, 3, 3)
    assert set(OperationAlias.objects.values_list("alias", flat=True)) == {"gemm_n256_k128", "rmsnorm_h64"}
    assert set(Project.objects.values_list("name", flat=True)) == {"baseline", "Some Author"}
    assert not list(verify(lambda _: None))
    source = Source.objects.get()
    assert (source.slug, source.license) == ("flashinfer-bench", "Apache-2.0")
    assert SourceSnapshot.objects.get().name == "a-trace-set"


def test_a_definition_becomes_an_operation(folder):
    call_command("import_traces", folder)
    gemm = spec(Operation.objects.get(slug="gemm-n256-k128"))
    assert gemm["axes"]["m"] == {"role": "variable", "type": "integer"}
    assert gemm["axes"]["k"] == {"role": "constant", "type": "integer", "value": 128}
    assert gemm["inputs"][0] == {"name": "a", "tensor": {"shape": ["m", "k"], "dtype": "fp16"}}
    norm = spec(Operation.objects.get(slug="rmsnorm-h64"))
    assert norm["inputs"][2] == {"name": "eps", "scalar": {"dtype": "fp32"}}


def test_a_workload_becomes_a_case_with_its_inputs(folder):
    call_command("import_traces", folder)
    norm = spec(Workload.objects.get(operation__slug="rmsnorm-h64"))
    assert norm["axes"] == {"batch_size": 8}
    assert norm["tensors"]["x"] == {"shape": [8, 64], "dtype": "bf16", "data": {"generator": "random"}}
    assert norm["tensors"]["weight"]["data"] == {"generator": "safetensors"}
    assert norm["scalars"] == {"eps": {"dtype": "fp32", "value": 1e-06}}


def test_a_passed_trace_ranks_by_its_mean_latency(folder):
    call_command("import_traces", folder)
    first, second = Run.objects.filter(status="passed").order_by("value")
    assert (first.value, second.value) == (25000, 36813)
    assert (first.metric, first.statistic, first.unit) == ("latency", "mean", "ns")
    assert first.comparison_key == second.comparison_key
    assert (first.standing.rank, second.standing.rank) == (1, 2)
    assert second.observed_at.isoformat() == "2025-10-16T01:20:08.256000+00:00"
    assert first.observed_at.isoformat() == "2025-10-16T01:20:09+00:00"
    assert spec(second)["sourceNative"]["metrics"]["latency_ms"] == 0.03681265582733962


def test_a_failed_trace_is_a_run_without_a_measurement(folder):
    call_command("import_traces", folder)
    failed = {run.status: run for run in Run.objects.exclude(status="passed")}
    assert set(failed) == {"compile_error", "incorrect_numerical"}
    assert {run.value for run in failed.values()} == {None}
    # NaN and infinity are no numbers of a record; what is left says which comparison failed.
    assert spec(failed["incorrect_numerical"])["correctness"] == {"comparator": "flashinfer_bench_eval"}


def test_sources_are_pinned_by_their_digests(folder):
    call_command("import_traces", folder)
    one = spec(Implementation.objects.get(name="gemm-torch-a1"))
    assert one["source"]["fileName"] == "main.py"
    assert one["callable"] == {"language": "python", "path": "main.py", "symbol": "run"}
    several = spec(Implementation.objects.get(name="gemm-cuda-b2"))
    assert several["projectRevision"]["treeDigest"].startswith("sha256:")


def test_a_second_import_changes_nothing(folder, capsys):
    call_command("import_traces", folder)
    capsys.readouterr()
    call_command("import_traces", folder)
    assert "0 runs published, 4 were there before" in capsys.readouterr().out
    assert SourceSnapshot.objects.count() == 1


def _line(folder: Path, **changes) -> None:
    path = folder / "traces" / "gemm" / "gemm_n256_k128.jsonl"
    first = json.loads(path.read_text().splitlines()[0])
    path.write_text(json.dumps({**first, **changes}) + "\n")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"definition": "absent"}, "there is no definition absent"),
        ({"solution": "absent"}, "there is no solution absent"),
        ({"solution": "norm_triton_c3"}, "norm_triton_c3 is a solution of rmsnorm_h64, not of gemm_n256_k128"),
        ({"solution": None}, "a trace has a solution and an evaluation, or neither"),
        ({"workload": {"axes": {}, "inputs": {}, "uuid": "x"}}, "the workload gives no value of the axis M"),
        ({"workload": {"axes": {"M": -1}, "inputs": {}, "uuid": "x"}}, "workload.axes.M"),
        ({"evaluation": {"status": "FINE"}}, "evaluation.status"),
    ],
)
def test_a_trace_that_is_wrong_is_told_with_its_line_and_the_others_land(folder, tmp_path, changes, said):
    _line(folder, **changes)
    report = tmp_path / "report.json"
    call_command("import_traces", folder, report=report)
    written = json.loads(report.read_text())
    assert written["faulty"] == 1
    assert written["faults"][0]["place"] == "traces/gemm/gemm_n256_k128.jsonl line 1"
    assert said in written["faults"][0]["message"]
    assert Run.objects.count() == 1


def test_a_definition_that_is_broken_is_told_with_its_file(folder, tmp_path):
    (folder / "definitions" / "rmsnorm" / "rmsnorm_h64.json").write_text('{"name": "a", "name": "b"}')
    report = tmp_path / "report.json"
    call_command("import_traces", folder, report=report)
    faults = {fault["place"]: fault["message"] for fault in json.loads(report.read_text())["faults"]}
    assert "stands twice" in faults["definitions/rmsnorm/rmsnorm_h64.json"]
    assert Run.objects.count() == 3


def test_links_lead_nowhere(folder, tmp_path):
    secret = tmp_path / "secret.json"
    secret.write_text((folder / "definitions" / "gemm" / "gemm_n256_k128.json").read_text())
    link = folder / "definitions" / "linked.json"
    (folder / "definitions" / "gemm" / "gemm_n256_k128.json").unlink()
    link.symlink_to(secret)
    call_command("import_traces", folder)
    assert not Operation.objects.filter(slug="gemm-n256-k128").exists()


def test_a_folder_without_definitions_is_refused(tmp_path):
    with pytest.raises(CommandError, match="no definition was found"):
        call_command("import_traces", tmp_path)
    with pytest.raises(CommandError, match="is no folder"):
        call_command("import_traces", tmp_path / "absent")


def test_a_source_is_named_by_a_slug(folder):
    with pytest.raises(CommandError, match="such as my-lab"):
        call_command("import_traces", folder, source="My Lab")
