"""A result is recorded once or not at all, and a rerun is never lost."""

from __future__ import annotations

import base64
import copy
import json
import re
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from runs.models import EvidenceLevel, OutboxEntry, RerunResult, RerunRun, Run
from runs.publication import decide_signer
from runs.refusals import PublicationRefused
from runs.reruns import intake, queue
from runs.reruns.documents.device import draw_opening
from runs.reruns.documents.refusals import Refusal
from runs.reruns.files import Message
from runs.reruns.intake import Taken, take
from tests.reruns import examples
from tests.reruns.site.cases import failed_result, instant, message
from tests.views import rerun_cases as lane


def refused(result, code):
    """The result is refused for this reason, and nothing of it is recorded."""
    before = Run.objects.count()
    with pytest.raises(Refusal) as refusal:
        take(result)
    assert refusal.value.code == code, refusal.value
    assert not RerunResult.objects.exists()
    assert not EvidenceLevel.objects.exists()
    assert Run.objects.count() == before


def state(rerun):
    rerun.refresh_from_db()
    return rerun.state


def test_a_result_becomes_a_record_a_level_and_runs_of_its_own(rerun):
    assert take(message(rerun)) is Taken.PUBLISHED
    result = RerunResult.objects.get()
    assert (result.verdict, result.run, result.operator) == ("reproduced", rerun.run, "KernelIndex")
    assert EvidenceLevel.objects.get(run=rerun.run).level == "verified"
    assert set(RerunRun.objects.values_list("kind", "run__source__slug")) == {
        ("event", "kernelindex"),
        ("device", "kernelindex"),
    }
    assert state(rerun) == "done"
    assert OutboxEntry.objects.filter(topic="verified", run=rerun.run).count() == 1


def test_a_result_that_comes_twice_is_recorded_once(rerun):
    result = message(rerun)
    assert take(result) is Taken.PUBLISHED
    rows = (Run.objects.count(), OutboxEntry.objects.count())
    assert take(result) is Taken.KNOWN
    assert RerunResult.objects.count() == 1
    assert (Run.objects.count(), OutboxEntry.objects.count()) == rows


def test_a_second_runner_that_got_the_same_job_finds_it_answered(rerun):
    assert take(message(rerun)) is Taken.PUBLISHED
    assert take(message(rerun, key=examples.OTHER_RUNNER, runner="h200-b")) is Taken.KNOWN
    assert RerunResult.objects.get().runner.name == "h200-a"


def test_the_second_of_two_at_the_same_moment_finds_the_state_moved(rerun, monkeypatch):
    """Both have read the rerun as queued and verified their result before either wrote."""
    first, second = message(rerun), message(rerun, key=examples.OTHER_RUNNER, runner="h200-b")
    publish = intake.publish_rerun

    def after_the_other(*arguments, **options):
        monkeypatch.setattr(intake, "publish_rerun", publish)
        assert take(second) is Taken.PUBLISHED
        return publish(*arguments, **options)

    monkeypatch.setattr(intake, "publish_rerun", after_the_other)
    assert take(first) is Taken.KNOWN
    assert RerunResult.objects.get().runner.name == "h200-b"


def test_one_changed_bit_anywhere_is_refused(rerun):
    result = message(rerun)
    payload = bytearray(base64.b64decode(result.envelope["payload"]))
    for place in (len(payload) // 3, len(payload) // 2, len(payload) - 20):
        changed = copy.deepcopy(result.envelope)
        payload[place] ^= 1
        changed["payload"] = base64.b64encode(payload).decode()
        payload[place] ^= 1
        with pytest.raises(Refusal) as refusal:
            take(Message(envelope=changed, opening=result.opening))
        assert refusal.value.code in {"BAD_SIGNATURE", "MALFORMED", "OTHER_JOB"}
    signature = copy.deepcopy(result.envelope)
    signature["signatures"][0]["sig"] = "A" + signature["signatures"][0]["sig"][1:]
    refused(Message(envelope=signature, opening=result.opening), "BAD_SIGNATURE")
    assert state(rerun) == "queued"


def test_a_result_for_a_job_of_nobody_is_refused(rerun):
    refused(message(rerun, jobDigest="sha256:" + "7" * 64), "OTHER_JOB")


def test_an_old_result_replayed_for_a_new_rerun_is_refused(rerun):
    old = message(rerun)
    assert take(old) is Taken.PUBLISHED
    again = lane.queued(rerun.run)
    assert take(old) is Taken.KNOWN  # it answers the old job, whose rerun is done
    assert state(again) == "queued"
    assert RerunResult.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"nonce": "00" * 32}, "NONCE_MISMATCH"),
        ({"jobId": "another"}, "OTHER_JOB"),
        ({"runner": "h200-b"}, "OTHER_RUNNER"),
        ({"product": "nvidia-b200"}, "OTHER_PRODUCT"),
        ({"finishedAt": instant(30)}, "CLOCK"),
        ({"acceptedAt": instant(-60)}, "CLOCK"),
        ({"acceptedAt": instant(-600), "finishedAt": instant(-599)}, "KEY_NOT_VALID"),
    ],
)
def test_a_result_that_contradicts_its_job_or_the_clock_is_refused_and_the_page_says_why(rerun, changes, code):
    refused(message(rerun, **changes), code)
    rerun.refresh_from_db()
    assert (rerun.state, rerun.code) == ("queued", code)


def test_a_remark_is_gone_when_a_good_result_comes(rerun):
    refused(message(rerun, finishedAt=instant(30)), "CLOCK")
    assert take(message(rerun)) is Taken.PUBLISHED
    rerun.refresh_from_db()
    assert (rerun.code, rerun.detail) == ("", "")


def test_a_stranger_leaves_no_trace(rerun):
    refused(message(rerun, key=examples.private_key("stranger")), "UNKNOWN_KEY")
    refused(message(rerun, key=examples.DISPATCHER), "WRONG_ROLE")
    rerun.refresh_from_db()
    assert (rerun.state, rerun.code, rerun.version) == ("queued", "", 2)


def test_a_suspended_runner_is_not_believed_until_it_is_resumed(rerun):
    decide_signer("h200-a", "suspend", actor="An administrator", reason="A strange clock.")
    time.sleep(0.002)  # documents tell milliseconds apart
    result = message(rerun)
    refused(result, "KEY_SUSPENDED")
    assert state(rerun) == "queued"
    time.sleep(0.002)
    decide_signer("h200-a", "resume", actor="An administrator", reason="Mended.")
    refused(result, "KEY_SUSPENDED")  # it was measured meanwhile
    assert take(message(rerun)) is Taken.PUBLISHED


def test_a_revoked_runner_is_never_believed_again(rerun):
    result = message(rerun)
    decide_signer("h200-a", "revoke", actor="An administrator", reason="Lost.")
    refused(result, "KEY_REVOKED")
    with pytest.raises(PublicationRefused):
        decide_signer("h200-a", "resume", actor="An administrator", reason="Found.")


def test_a_late_result_is_refused_before_and_after_the_rerun_is_given_up(rerun, monkeypatch):
    result = message(rerun)
    later = timezone.now() + timedelta(hours=25)
    monkeypatch.setattr(timezone, "now", lambda: later)
    refused(result, "EXPIRED")
    assert queue.expire(later) == 1
    assert take(result) is Taken.KNOWN
    assert state(rerun) == "expired"
    assert not RerunResult.objects.exists()


def test_a_device_that_is_not_the_one_committed_to_is_refused(rerun):
    good = message(rerun)
    other = Message(envelope=good.envelope, opening=draw_opening("GPU-other").plain())
    refused(other, "MALFORMED")
    refused(Message.read({"envelope": good.envelope}), "MALFORMED")


def test_a_failure_ends_the_rerun_and_a_result_that_follows_it_changes_nothing(rerun):
    failure = failed_result(rerun)
    assert take(failure) is Taken.FAILED
    assert take(failure) is Taken.KNOWN
    assert take(message(rerun)) is Taken.KNOWN
    rerun.refresh_from_db()
    assert (rerun.state, rerun.code) == ("failed", "out_of_memory")
    assert not RerunResult.objects.exists()


def test_what_publication_refuses_fails_the_rerun_instead_of_coming_back_for_ever(rerun, monkeypatch):
    from runs.refusals import Refusal as Reason

    def refuse(*_, **__):
        raise PublicationRefused([Reason("INVALID_MANIFEST", "environment")])

    monkeypatch.setattr("runs.publication.publish", refuse)
    assert take(message(rerun)) is Taken.FAILED
    assert state(rerun) == "failed"
    assert not RerunResult.objects.exists()


def test_a_cancelled_rerun_takes_no_result(rerun):
    assert queue.cancel(rerun.id, detail="Asked by mistake.")
    assert take(message(rerun)) is Taken.KNOWN
    assert not RerunResult.objects.exists()


def test_two_intakes_at_once_record_each_result_once(database, tmp_path):
    """As processes, each with its own connection: what the conditional UPDATE is for."""
    script = (
        f"from tests.reruns.site.cases import write_results_of; write_results_of(6, {str(tmp_path / 'RESULTS.json')!r})"
    )
    database.manage("shell", "-v0", "-c", script)
    intakes = [database.start("take_results", str(tmp_path / "RESULTS.json")) for _ in range(2)]
    outputs = [intake_.communicate(timeout=120)[0] for intake_ in intakes]
    counts = (
        "import json; from runs.models import *; print(json.dumps([RerunResult.objects.count(), "
        "RerunRun.objects.count(), Rerun.objects.filter(state='done').count()]))"
    )
    assert json.loads(database.manage("shell", "-v0", "-c", counts).splitlines()[-1]) == [6, 12, 6]
    assert sum(int(count) for output in outputs for count in re.findall(r"(\d+) published", output)) == 6
