"""The command of a GPU host without a network."""

from __future__ import annotations

import json
import stat

import pytest

from runs.reruns.documents.keys import load_private_key
from runs.reruns.files import read_results, write_jobs
from runs.reruns.runner import work
from runs.reruns.runner.cli import DONE, REFUSED, UNFINISHED, UNUSABLE, main
from tests.reruns import examples
from tests.reruns.runner.cases import instant, job, jobs, keys, write_key, write_keys
from tests.reruns.runner.fake_harness import Harness


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Calls execute with the usual options."""
    fake = Harness(tmp_path)
    monkeypatch.setattr(work, "execute_batch", fake.execute)
    write_key(tmp_path / "runner.pem", examples.RUNNER)
    write_keys(tmp_path / "KEYS.json", keys())

    def call(envelopes, *more):
        write_jobs(tmp_path / "JOBS.json", envelopes)
        paths = {name: str(tmp_path / name) for name in ("JOBS.json", "RESULTS.json", "runner.pem", "KEYS.json")}
        arguments = ["execute", paths["JOBS.json"], "--out", paths["RESULTS.json"], "--key", paths["runner.pem"]]
        arguments += ["--keys", paths["KEYS.json"], "--spool", str(tmp_path / "spool"), "--device", "cuda:0"]
        return main([*arguments, *more])

    return call


def test_a_file_of_jobs_becomes_a_file_of_results(command, tmp_path):
    assert command(jobs(3)) == DONE
    assert len(read_results(tmp_path / "RESULTS.json")) == 3


def test_the_results_are_readable_by_their_owner_alone(command, tmp_path):
    command(jobs(1))
    assert stat.S_IMODE((tmp_path / "RESULTS.json").stat().st_mode) == 0o600


def test_a_second_call_writes_the_same_results(command, tmp_path):
    envelopes = jobs(2)
    command(envelopes)
    first = (tmp_path / "RESULTS.json").read_bytes()
    assert command(envelopes) == DONE
    assert (tmp_path / "RESULTS.json").read_bytes() == first


def test_a_refused_job_is_named(command, capsys):
    assert command([job("late", expiresAt=instant(-0.5)), job("a")]) == REFUSED
    assert "EXPIRED" in capsys.readouterr().err


def test_the_time_is_up_before_all_are_done(command, tmp_path):
    assert command(jobs(2), "--seconds", "5") == UNFINISHED
    assert json.loads((tmp_path / "RESULTS.json").read_bytes())["results"] == []


def test_a_key_that_others_can_read_is_not_used(command, tmp_path, capsys):
    (tmp_path / "runner.pem").chmod(0o644)
    assert command(jobs(1)) == UNUSABLE
    assert "0600" in capsys.readouterr().err


def test_a_key_that_the_site_does_not_publish_executes_nothing(command, tmp_path, capsys):
    write_key(tmp_path / "runner.pem", examples.private_key("nobody"))
    assert command(jobs(1)) == UNUSABLE
    assert "not among the published keys" in capsys.readouterr().err


def test_keygen_makes_a_key_and_prints_its_public_half(tmp_path, capsys):
    assert main(["keygen", str(tmp_path / "new.pem")]) == DONE
    assert load_private_key(tmp_path / "new.pem").public in capsys.readouterr().out
    assert main(["keygen", str(tmp_path / "new.pem")]) == UNUSABLE
