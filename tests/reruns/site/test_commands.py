"""The lane from a terminal, by files: keys, approval, jobs out, results in, a bundle that holds."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from runs.models import Rerun, RerunResult, Signer
from runs.reruns import tasks
from runs.reruns.files import read_jobs, write_results
from runs.reruns.runner import work
from runs.reruns.runner.cli import main as runner
from runs.reruns.verify import main as verify
from tests.reruns import examples
from tests.reruns.runner.cases import write_key
from tests.reruns.runner.fake_harness import Harness
from tests.reruns.site.cases import message
from tests.views import rerun_cases as lane


def manage(*arguments, **options):
    out = StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=out, **options)
    return out.getvalue()


@pytest.fixture
def key(tmp_path, settings):
    settings.DISPATCHER_KEY = write_key(tmp_path / "dispatcher.pem", examples.DISPATCHER)
    return settings.DISPATCHER_KEY


def test_keys_are_registered_decided_and_published(db):
    who = ("--actor", "Ann", "--reason", "Ours.")
    manage("runner_key", "register", "site", examples.DISPATCHER.public, "--role", "dispatcher", *who)
    host = ("--operator", "Us", "--product", "nvidia-h200")
    manage("runner_key", "register", "h200-a", examples.RUNNER.public, *host, *who)
    assert json.loads(manage("runner_key", "keys"))["keys"] == []  # nobody has approved them
    for name in ("site", "h200-a"):
        manage("runner_key", "approve", name, *who)
    manage("runner_key", "suspend", "h200-a", *who)
    manage("runner_key", "resume", "h200-a", *who)
    manage("runner_key", "revoke", "h200-a", *who)
    published = json.loads(manage("runner_key", "keys"))["keys"]
    assert [(entry["name"], "revokedAt" in entry) for entry in published] == [("site", False), ("h200-a", True)]
    assert published[1]["suspensions"][0]["until"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("register", "x", "not a key"),
        ("register", "x", "00" * 32, "--role", "runner"),
        ("approve", "nobody"),
    ],
)
def test_a_key_that_cannot_be_is_refused(db, arguments):
    with pytest.raises(CommandError):
        manage("runner_key", *arguments, "--actor", "a", "--reason", "r")
    assert not Signer.objects.exists()


def test_a_claim_goes_out_as_a_file_and_comes_back_as_evidence(run, key, tmp_path, monkeypatch):
    who = ("--requested-by", "asker", "--approved-by", "moderator")
    assert "waits for a runner of nvidia-h200" in manage("rerun", "approve", run.digest, *who)
    jobs, keys, results = (tmp_path / name for name in ("JOBS.json", "KEYS.json", "RESULTS.json"))
    assert "1 jobs written" in manage("dispatch_reruns", "--out", jobs)
    assert "0 jobs written" in manage("dispatch_reruns", "--out", tmp_path / "none.json")
    assert "1 jobs written" in manage("dispatch_reruns", "--out", jobs, "--again")
    keys.write_text(manage("runner_key", "keys"))
    fake = Harness(tmp_path)
    monkeypatch.setattr(work, "execute_batch", fake.execute)
    pem = write_key(tmp_path / "runner.pem", examples.RUNNER)
    arguments = ["execute", jobs, "--out", results, "--key", pem, "--keys", keys, "--spool", tmp_path / "spool"]
    assert runner([*map(str, arguments), "--device", "cuda:0"]) == 0
    assert "1 published" in manage("take_results", results)
    assert "1 known" in manage("take_results", results)
    rerun = Rerun.objects.get()
    bundle = tmp_path / "bundle.json"
    manage("rerun_bundle", rerun.id, "--out", bundle)
    assert verify([str(bundle), "--keys", str(keys)]) == 0
    assert RerunResult.objects.get().verdict == "reproduced"


def test_a_refused_result_is_named_and_the_others_are_taken(runners, tmp_path):
    good, bad = (lane.queued(lane.claim(channels)) for channels in (64, 128))
    messages = [message(bad, nonce="00" * 32), message(good)]
    write_results(tmp_path / "RESULTS.json", messages)
    with pytest.raises(CommandError, match="1 results were refused"):
        manage("take_results", tmp_path / "RESULTS.json")
    assert RerunResult.objects.get().rerun == good


def test_what_is_no_file_of_results_is_refused(db, tmp_path):
    (tmp_path / "RESULTS.json").write_text("[]")
    with pytest.raises(CommandError):
        manage("take_results", tmp_path / "RESULTS.json")


def test_a_process_without_the_key_dispatches_nothing(run, settings):
    lane.approved(run)
    settings.DISPATCHER_KEY = None
    with pytest.raises(CommandError, match="KERNELINDEX_DISPATCHER_KEY"):
        manage("dispatch_reruns")
    with pytest.raises(RuntimeError, match="not the dispatcher"):
        tasks.dispatch_waiting()
    assert Rerun.objects.get().state == "approved"


def test_reruns_are_approved_and_cancelled(run):
    who = ("--requested-by", "asker", "--approved-by", "moderator")
    with pytest.raises(CommandError, match="1 of 1 were not approved"):
        manage("rerun", "approve", run.id, "--requested-by", "x", "--approved-by", "x")
    manage("rerun", "approve", run.id, *who, "--priority", "9")
    rerun = Rerun.objects.get()
    assert rerun.priority == 9
    manage("rerun", "cancel", rerun.id, "--reason", "Asked by mistake.")
    rerun.refresh_from_db()
    assert (rerun.state, rerun.detail) == ("cancelled", "Asked by mistake.")
    with pytest.raises(CommandError):
        manage("rerun", "cancel", rerun.id, "--reason", "Again.")
    for name in ("sha256:" + "0" * 64, "nonsense"):
        with pytest.raises(CommandError):
            manage("rerun", "approve", name, *who)


def test_a_bundle_needs_a_result_that_holds(rerun, tmp_path):
    with pytest.raises(CommandError, match="no published result"):
        manage("rerun_bundle", rerun.id)


def test_a_file_of_jobs_is_private(run, key, tmp_path):
    lane.approved(run)
    manage("dispatch_reruns", "--out", tmp_path / "JOBS.json")
    assert (tmp_path / "JOBS.json").stat().st_mode & 0o077 == 0
    assert len(read_jobs(tmp_path / "JOBS.json")) == 1
