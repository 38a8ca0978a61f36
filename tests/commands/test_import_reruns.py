"""The project's first evidence: signed reruns of the laboratory's claims on an H200, as `make demo` publishes them."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from runs.models import EvidenceLevel, Rerun, RerunResult, Run
from runs.publication import decide_signer, register_signer
from runs.reruns.documents.base import moment
from runs.reruns.documents.keys import KeySet

H200 = settings.BASE_DIR / "runs" / "sources" / "h200"
LINES = gzip.decompress((H200 / "reruns.jsonl.gz").read_bytes()).splitlines()
WHO = {"actor": "an administrator", "reason": "for a test"}
ASKED = {"asked_by": "one", "approved_by": "another"}


@pytest.fixture
def claims(db) -> None:
    call_command("import_liger", file=H200 / "claims.csv", environment=H200 / "environment.yaml")


@pytest.fixture
def trusted(claims) -> None:
    for key in KeySet.read(json.loads((H200 / "keys.json").read_bytes())).keys:
        register_signer(key, **WHO, since=moment(key.valid_from))
        decide_signer(key.name, "approve", **WHO)


@pytest.fixture
def some(tmp_path) -> Path:
    file = tmp_path / "some.jsonl"
    file.write_bytes(b"\n".join(LINES[:5]) + b"\n")
    return file


def test_it_publishes_the_reruns_and_the_levels_that_follow(trusted, capsys):
    call_command("import_reruns", H200 / "reruns.jsonl.gz", **ASKED)
    assert "120 published" in capsys.readouterr().out
    verdicts = Counter(RerunResult.objects.values_list("verdict", flat=True))
    levels = Counter(EvidenceLevel.objects.values_list("level", "disputed"))
    assert levels == {("verified", False): verdicts["reproduced"]}
    assert verdicts["reproduced"] > 40
    assert verdicts["contradicted"] == verdicts["incorrect"] == 0
    assert Run.objects.filter(source__slug="kernelindex").count() == 240


def test_a_second_time_changes_nothing(trusted, some, capsys):
    call_command("import_reruns", some, **ASKED)
    call_command("import_reruns", some, **ASKED)
    assert capsys.readouterr().out.splitlines()[-1] == "5 known"
    assert Rerun.objects.count() == RerunResult.objects.count() == 5


def test_keys_that_nobody_approved_here_count_for_nothing(claims, some):
    with pytest.raises(CommandError, match="UNKNOWN_KEY"):
        call_command("import_reruns", some, **ASKED)
    assert not Rerun.objects.exists()


def test_a_revoked_runner_is_believed_nothing(trusted, some):
    decide_signer("lab-h200-1", "revoke", **WHO)
    with pytest.raises(CommandError, match="KEY_REVOKED"):
        call_command("import_reruns", some, **ASKED)


def test_revoking_the_runner_takes_every_level_away(trusted):
    call_command("import_reruns", H200 / "reruns.jsonl.gz", **ASKED)
    assert EvidenceLevel.objects.exists()
    decide_signer("lab-h200-1", "revoke", **WHO)
    assert not EvidenceLevel.objects.exists()
    assert RerunResult.objects.count() == 120


@pytest.mark.parametrize("place", ["jobEnvelope", "resultEnvelope"])
def test_a_changed_payload_is_refused(trusted, tmp_path, place):
    bundle = json.loads(LINES[0])
    payload = bundle[place]["payload"]
    bundle[place]["payload"] = payload[:400] + ("A" if payload[400] != "A" else "B") + payload[401:]
    file = tmp_path / "changed.jsonl"
    file.write_text(json.dumps(bundle) + "\n")
    with pytest.raises(CommandError, match="line 1"):
        call_command("import_reruns", file, **ASKED)
    assert not Rerun.objects.exists()


def test_nobody_approves_what_they_asked_for(trusted, some):
    with pytest.raises(CommandError, match="nobody approves"):
        call_command("import_reruns", some, asked_by="one", approved_by="one")


def test_a_bundle_checks_offline(tmp_path):
    file = tmp_path / "bundle.json"
    file.write_bytes(LINES[0])
    command = [sys.executable, "-m", "runs.reruns.verify", str(file), "--keys", str(H200 / "keys.json")]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
