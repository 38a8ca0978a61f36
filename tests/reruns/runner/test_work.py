"""Each job is executed once, whatever happens to the delivery, the runner or its host."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from runs.reruns.documents.envelope import envelope_digest
from runs.reruns.documents.exchange import verify_result
from runs.reruns.documents.refusals import Refusal
from runs.reruns.runner import work
from runs.reruns.runner.work import Served, serve
from tests.reruns import examples
from tests.reruns.runner.cases import host, instant, job, jobs, keys, predicate, write_keys
from tests.reruns.runner.fake_harness import Harness


@pytest.fixture
def harness(tmp_path, monkeypatch):
    fake = Harness(tmp_path)
    monkeypatch.setattr(work, "execute_batch", fake.execute)
    return fake


def run(envelopes, tmp_path, served=None, **options):
    return list(serve(envelopes, options.pop("host", None) or host(tmp_path), served or Served(), **options))


def ids(messages):
    return [predicate(message.envelope)["jobId"] for message in messages]


def test_a_job_becomes_a_result_that_the_site_accepts(harness, tmp_path):
    envelope = job("a")
    (message,) = run([envelope], tmp_path)
    verified = verify_result(message.envelope, envelope, keys(), datetime.now(UTC))
    assert verified.result.runner == "h200-a"
    assert len(verified.result.processes) == 5
    assert message.opening["uuid"] == "GPU-1234"


def test_a_job_that_is_delivered_twice_is_executed_once_and_answered_with_the_same_bytes(harness, tmp_path):
    envelopes = jobs(3)
    first = run(envelopes, tmp_path)
    second = run(envelopes, tmp_path)
    assert first == second
    assert harness.executed == ["job-0", "job-1", "job-2"]


def test_a_job_that_comes_again_in_another_delivery_is_not_executed_again(harness, tmp_path):
    envelopes = jobs(4)
    run(envelopes[:3], tmp_path)
    assert sorted(ids(run(envelopes[2:], tmp_path))) == ["job-2", "job-3"]
    assert harness.executed == ["job-0", "job-1", "job-2", "job-3"]


def test_a_batch_whose_runner_was_killed_goes_on_where_its_journal_stops(harness, tmp_path):
    envelopes = jobs(3)
    harness.dies = True
    with pytest.raises(KeyboardInterrupt):
        run(envelopes, tmp_path)
    (batch,) = host(tmp_path).spool.unfinished()
    accepted = batch.accepted_at
    harness.dies = False
    messages = run(envelopes, tmp_path)
    assert sorted(ids(messages)) == ["job-0", "job-1", "job-2"]
    assert {predicate(message.envelope)["acceptedAt"] for message in messages} == {accepted}
    assert host(tmp_path).spool.unfinished() == []


def test_a_runner_killed_between_two_results_answers_with_the_stored_one_and_executes_nothing_again(harness, tmp_path):
    envelopes = jobs(2)
    delivery = serve(envelopes, host(tmp_path), Served())
    first = next(delivery)
    delivery.close()  # as a process ends that is killed here: nothing after the first result was stored
    messages = run(envelopes, tmp_path)
    assert first in messages
    assert len(messages) == 2
    assert harness.executed == ["job-0", "job-1"]


def test_what_the_end_of_a_batch_left_open_is_finished_by_another_attempt(harness, tmp_path):
    harness.most = 2
    messages = run(jobs(5), tmp_path)
    assert len(messages) == 5
    assert not [message for message in messages if "failure" in predicate(message.envelope)]
    assert len(harness.executed) == 5
    assert len(harness.limits) == 3


def test_without_time_left_the_rest_is_left_to_the_next_call(harness, tmp_path):
    assert run(jobs(2), tmp_path, seconds=10) == []
    assert harness.executed == []
    assert len(run(jobs(2), tmp_path, seconds=100)) == 2
    assert 90 < harness.limits[0].batch_s <= 100


def test_a_batch_that_ends_its_host_every_time_is_given_up_with_a_signed_reason(harness, tmp_path):
    envelope = job("a")
    harness.dies = True
    for _ in range(work.MOST_STARTS):
        with pytest.raises(KeyboardInterrupt):
            run([envelope], tmp_path)
    (message,) = run([envelope], tmp_path)
    assert predicate(message.envelope)["failure"]["code"] == "runner_lost"
    verify_result(message.envelope, envelope, keys(), datetime.now(UTC))
    assert run([envelope], tmp_path) == [message]


def test_a_failure_is_signed_and_says_why(harness, tmp_path):
    harness.failing["job-0"] = ("out_of_memory", "It needed more.")
    (message,) = run(jobs(1), tmp_path)
    assert predicate(message.envelope)["failure"] == {"code": "out_of_memory", "message": "It needed more."}


def test_a_measurement_that_fits_no_document_becomes_a_failure_and_not_a_lost_job(harness, tmp_path, monkeypatch):
    def refuse(*_):
        raise Refusal("MALFORMED", "processes are in order, each once")

    monkeypatch.setattr(work, "result_document", refuse)
    (message,) = run(jobs(1), tmp_path)
    assert predicate(message.envelope)["failure"]["code"] == "result_malformed"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"issuedAt": instant(-60), "expiresAt": instant(-30)}, "EXPIRED"),
        ({"issuedAt": instant(30)}, "CLOCK"),
        ({"product": "nvidia-b200"}, "OTHER_PRODUCT"),
        ({"harnessVersion": "0.0.1"}, "OTHER_RECIPE"),
    ],
)
def test_a_job_that_is_not_for_now_or_not_for_here_is_refused_and_the_others_go_on(harness, tmp_path, changes, code):
    served = Served()
    envelope = job("other", **changes)
    assert ids(run([envelope, job("a")], tmp_path, served)) == ["a"]
    assert served.refused[envelope_digest(envelope)].code == code


def test_a_job_that_no_dispatcher_signed_is_refused(harness, tmp_path):
    served = Served()
    forged = examples.signed_job(examples.RUNNER, jobId="forged", issuedAt=instant(-1), expiresAt=instant(60))
    assert run([forged], tmp_path, served) == []
    assert [refusal.code for refusal in served.refused.values()] == ["WRONG_ROLE"]
    assert harness.executed == []


def test_a_runner_that_is_not_approved_or_suspended_executes_nothing(harness, tmp_path):
    write_keys(tmp_path / "KEYS.json", keys({"suspensions": [{"since": instant(-5)}]}))
    with pytest.raises(Refusal) as refused:
        run(jobs(1), tmp_path)
    assert refused.value.code == "KEY_SUSPENDED"
    assert harness.executed == []


def test_jobs_of_two_dispatches_do_not_share_a_batch(harness, tmp_path):
    envelopes = [*jobs(2), job("other", siteSalt="ab" * 32)]
    messages = run(envelopes, tmp_path)
    assert len({predicate(message.envelope)["batch"]["batchId"] for message in messages}) == 2


def test_a_large_delivery_is_cut_into_batches(harness, tmp_path):
    messages = run(jobs(5), tmp_path, host=host(tmp_path, jobs_per_batch=2))
    assert sorted(predicate(message.envelope)["batch"]["jobs"] for message in messages) == [1, 2, 2, 2, 2]


def test_an_expired_batch_is_forgotten(harness, tmp_path, monkeypatch):
    envelope = job("a", expiresAt=instant(0.02))
    harness.dies = True
    with pytest.raises(KeyboardInterrupt):
        run([envelope], tmp_path)
    time.sleep(1.3)
    served = Served()
    assert run([envelope], tmp_path, served) == []
    assert [refusal.code for refusal in served.refused.values()] == ["EXPIRED"]
    assert host(tmp_path).spool.unfinished() == []


def test_two_processes_take_turns_on_one_device(harness, tmp_path):
    envelopes = jobs(1)
    (tmp_path / "hold").touch()
    found, ours = {}, host(tmp_path)
    threads = [
        threading.Thread(target=lambda name=name: found.update({name: run(envelopes, tmp_path, host=ours)}))
        for name in range(2)
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 10
    while not harness.executed and time.monotonic() < deadline:
        time.sleep(0.02)
    (tmp_path / "hold").unlink()
    for thread in threads:
        thread.join(20)
    assert harness.executed == ["job-0"]
    assert found[0] == found[1]


def test_progress_names_the_jobs_that_wait(harness, tmp_path):
    heard = []
    run(jobs(2), tmp_path, report=lambda digests, event: heard.append((len(digests), event["phase"])))
    assert heard == [(2, "check")]


def test_the_history_of_sentinels_becomes_the_band_of_later_results(harness, tmp_path):
    for number in range(5):
        (message,) = run([job(f"early-{number}")], tmp_path)
        assert all("bandNs" not in each for each in predicate(message.envelope)["batch"]["sentinels"])
    (message,) = run([job("late")], tmp_path)
    bands = {each["name"]: each["bandNs"] for each in predicate(message.envelope)["batch"]["sentinels"]}
    assert bands["copy"] == [900, 1100]


def test_a_batch_outside_its_bands_says_so_and_does_not_enter_the_history(harness, tmp_path):
    for number in range(5):
        run([job(f"early-{number}")], tmp_path)
    history = (tmp_path / "spool" / "sentinels.jsonl").read_text()
    harness.sentinels["copy_ns"] = 1500
    (message,) = run([job("slow")], tmp_path)
    copy = next(each for each in predicate(message.envelope)["batch"]["sentinels"] if each["name"] == "copy")
    assert copy["beforeNs"] > copy["bandNs"][1]
    assert (tmp_path / "spool" / "sentinels.jsonl").read_text() == history


def test_old_results_leave_the_spool(harness, tmp_path, monkeypatch):
    envelope = job("a")
    run([envelope], tmp_path)
    later = time.time() + timedelta(days=15).total_seconds()
    monkeypatch.setattr("runs.reruns.runner.spool.time.time", lambda: later)
    host(tmp_path).spool.prune()
    assert host(tmp_path).spool.result(envelope_digest(envelope)) is None
