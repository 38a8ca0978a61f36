"""The import as an operator meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from runs.models import Environment, Run, SourceSnapshot

pytestmark = pytest.mark.django_db

HEADER = (
    "kernel_name,kernel_provider,kernel_operation_mode,metric_name,metric_unit,x_name,x_label,x_value,"
    "y_value_50,y_value_20,y_value_80,extra_benchmark_config_str,gpu_name,timestamp,liger_version\n"
)
ROW = (
    'rms_norm,{provider},forward,speed,ms,T,Sequence length,{x},{p50},0.11,0.13,"{{""hidden_size"": 4096, '
    '""dtype"": ""torch.bfloat16"", ""eps"": 1e-06, ""bsz"": 1, ""seq_len"": 8192}}",NVIDIA H200,'
    "2026-12-01 01:35:58,0.8.5\n"
)
ENVIRONMENT = """
apiVersion: kernelindex.dev/v1alpha1
kind: {kind}
metadata: {{name: a-lab-h200}}
spec:
  hardware: {{vendor: nvidia, product: NVIDIA H200, architecture: sm_90}}
  software: {{driver: "580.159.04", framework: {{name: torch, version: 2.11.0+cu130}}}}
"""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    file = tmp_path / "results.csv"
    rows = [ROW.format(provider=p, x=x, p50=0.12) for p in ("liger", "huggingface") for x in (1024, 2048)]
    file.write_text(HEADER + "".join(rows) + ROW.format(provider="liger", x=4096, p50="fast"))
    return file


def test_it_publishes_a_csv_file_and_reports_every_row(results, tmp_path, capsys):
    report = tmp_path / "report.json"
    call_command("import_liger", file=results, report=report)
    printed = capsys.readouterr().out
    assert "5 rows read, 4 become runs" in printed
    assert "results.csv line 6: not_a_number" in printed
    assert "4 runs published, 0 were there before" in printed
    assert Run.objects.count() == 4
    written = json.loads(report.read_text())
    assert written["rows"] == 5 == sum(cell["rows"] for cell in written["table"])
    snapshot = SourceSnapshot.objects.get()
    assert (snapshot.name, snapshot.license, snapshot.size) == ("results.csv", "BSD-2-Clause", results.stat().st_size)


def test_a_second_import_changes_nothing(results, capsys):
    call_command("import_liger", file=results)
    capsys.readouterr()
    call_command("import_liger", file=results)
    assert "0 runs published, 4 were there before" in capsys.readouterr().out
    assert SourceSnapshot.objects.count() == 1


def test_a_dry_run_publishes_nothing(results, capsys):
    call_command("import_liger", file=results, dry_run=True)
    assert "nothing was published" in capsys.readouterr().out
    assert not Run.objects.exists()
    assert not SourceSnapshot.objects.exists()


def test_a_known_environment_is_attached_to_the_claims(results, tmp_path):
    described = tmp_path / "environment.yaml"
    described.write_text(ENVIRONMENT.format(kind="ExecutionEnvironment"))
    call_command("import_liger", file=results, environment=described)
    spec = json.loads(Environment.objects.get().canonical)["spec"]
    assert spec["software"]["driver"] == "580.159.04"
    assert Run.objects.filter(environment__product="NVIDIA H200").count() == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [(ENVIRONMENT.format(kind="BenchmarkProtocol"), "spec"), ("a: [", "line"), ("a: 1\na: 2", "twice")],
)
def test_an_environment_that_is_none_is_refused(results, tmp_path, text, said):
    described = tmp_path / "environment.yaml"
    described.write_text(text)
    with pytest.raises(CommandError, match=said):
        call_command("import_liger", file=results, environment=described)
    assert not Run.objects.exists()


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path):
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_liger", file=tmp_path / "absent.csv")


def test_without_network_the_demo_shows_the_records_that_the_project_carries(database):
    database.environment.update(
        PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_EXTRA_INDEX_URL="", PIP_CONFIG_FILE="/dev/null"
    )
    output = database.manage("demo", "--no-serve")
    assert "could not be had" in output
    assert "/runs/" in output
    assert "every digest and comparison key is as stored" in database.manage("verify_catalog")
    again = database.manage("demo", "--no-serve")
    assert again.splitlines()[-3:] == output.splitlines()[-3:]


def test_the_demo_says_when_its_port_is_taken(database):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        output = database.manage("demo", "--port", str(port), fails=True)
    assert f"make demo PORT={port + 1}" in output
    assert "Traceback" not in output
