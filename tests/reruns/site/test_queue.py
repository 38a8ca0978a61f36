"""Approving, dispatching, leasing, expiring: who waits, who is sent, and what is sent again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from runs.models import Rerun
from runs.publication import decide_signer, retract
from runs.reruns import dispatch as dispatching
from runs.reruns import queue
from runs.reruns.dispatch import dispatch, overdue
from runs.reruns.documents.envelope import envelope_digest
from runs.reruns.documents.exchange import verify_job
from runs.reruns.documents.refusals import Refusal
from runs.reruns.intake import Taken, take
from runs.reruns.keyring import key_set
from runs.reruns.progress import Progress
from tests.reruns import examples
from tests.reruns.site.cases import failed_result, message
from tests.views import rerun_cases as lane


def refused(code, run, **options):
    with pytest.raises(queue.RerunRefused) as refusal:
        queue.approve(run, **{"requested_by": "asker", "approved_by": "moderator", **options})
    assert refusal.value.code == code


def sent(**options):
    return dispatch(examples.DISPATCHER, **{"budget": 1000, **options})


def names(deliveries):
    return [[envelope_digest(envelope) for envelope in delivery.envelopes] for delivery in deliveries]


def claims(count):
    return [lane.claim(64 + 4 * number) for number in range(count)]


# Approval


@pytest.mark.parametrize("approved_by", ["asker", " Asker "])
def test_nobody_approves_their_own_wish(run, approved_by):
    refused("OWN_RERUN", run, approved_by=approved_by)


def test_a_run_has_one_open_rerun(run):
    lane.approved(run)
    refused("RERUN_OPEN", run)


def test_a_run_is_not_rerun_for_ever(run):
    for _ in range(queue.ATTEMPTS):
        assert take(failed_result(lane.queued(run))) is Taken.FAILED
    refused("RERUN_LIMIT", run)
    Rerun.objects.update(created_at=timezone.now() - timedelta(days=8))
    lane.approved(run)


def test_what_has_no_recipe_is_not_rerunnable(runners):
    refused("NOT_RERUNNABLE", lane.claim(64, provider="unheard-of"))


def test_a_retracted_run_is_not_rerun(run):
    retract(run.digest, reason="r", actor="a")
    refused("RUN_WITHDRAWN", run)


# Dispatch


def test_a_job_carries_the_claim_and_verifies(run):
    lane.approved(run)
    (delivery,) = sent()
    (envelope,) = delivery.envelopes
    job = verify_job(envelope, key_set(), timezone.now(), product="nvidia-h200").job
    assert delivery.product == job.product == "nvidia-h200"
    assert job.recipe.id == "liger-group-norm/liger/backward"
    assert job.claim.value == lane.CLAIM
    assert {item.package: item.version for item in job.claimed_versions} == {
        "liger-kernel": "0.8.5",
        "torch": lane.PACKAGES["torch"],
        "triton": lane.PACKAGES["triton"],
    }
    assert {item.package: item.read_from for item in job.claimed_versions}["liger-kernel"].startswith("the run's label")


def test_a_rerun_is_dispatched_once(run):
    lane.approved(run)
    assert len(sent()) == 1
    assert sent() == []


def test_urgent_reruns_go_first_and_the_rest_waits_where_priorities_count(runners):
    runs = claims(4)
    for run, priority in zip(runs, (1, 9, 5, 7), strict=True):
        queue.approve(run, requested_by="a", approved_by="b", priority=priority)
    sent(most=2)
    states = {rerun.priority: rerun.state for rerun in Rerun.objects.all()}
    assert states == {9: "queued", 7: "queued", 5: "approved", 1: "approved"}
    assert sent(most=2) == []
    assert len(names(sent(most=3))[0]) == 1


def test_a_budget_a_day_and_product_is_kept(runners):
    for run in claims(3):
        lane.approved(run)
    assert [len(each) for each in names(sent(budget=2))] == [2]
    assert sent(budget=2) == []
    Rerun.objects.filter(state="queued").update(queued_at=timezone.now() - timedelta(days=2))
    assert [len(each) for each in names(sent(budget=2))] == [1]


def test_jobs_are_cut_into_batches_that_share_a_salt(runners, monkeypatch):
    monkeypatch.setattr(dispatching, "BATCH_JOBS", 2)
    for run in claims(3):
        lane.approved(run)
    deliveries = sent()
    assert [len(delivery.envelopes) for delivery in deliveries] == [2, 1]
    salts = [
        {verify_job(envelope, key_set(), timezone.now()).job.site_salt for envelope in delivery.envelopes}
        for delivery in deliveries
    ]
    assert [len(each) for each in salts] == [1, 1]
    assert salts[0] != salts[1]


def test_only_the_product_asked_for_is_dispatched(run):
    lane.approved(run)
    assert sent(product="nvidia-b200") == []
    assert len(sent(product="nvidia-h200")) == 1


def test_a_claim_that_no_job_can_carry_does_not_hold_up_the_others(runners, monkeypatch):
    for run in claims(2):
        lane.approved(run)
    sign = dispatching.sign_job

    def refuse_the_first(job, key):
        if job.job_id == str(Rerun.objects.order_by("id")[0].id):
            raise Refusal("TOO_LARGE", "2 MiB")
        return sign(job, key)

    monkeypatch.setattr(dispatching, "sign_job", refuse_the_first)
    assert [len(each) for each in names(sent())] == [1]
    assert [(rerun.state, rerun.code) for rerun in Rerun.objects.order_by("id")] == [
        ("failed", "TOO_LARGE"),
        ("queued", ""),
    ]


@pytest.mark.parametrize(
    ("key", "code"), [(examples.private_key("nobody"), "UNKNOWN_KEY"), (examples.RUNNER, "WRONG_ROLE")]
)
def test_only_an_approved_dispatcher_signs(run, key, code):
    lane.approved(run)
    with pytest.raises(Refusal) as refusal:
        dispatch(key, budget=10)
    assert refusal.value.code == code
    assert Rerun.objects.get().state == "approved"


def test_a_suspended_dispatcher_signs_nothing(run):
    lane.approved(run)
    decide_signer("site", "suspend", actor="a", reason="r")
    with pytest.raises(Refusal):
        sent()


# Leases


def test_a_job_that_was_heard_of_is_not_sent_again(rerun):
    assert overdue(timezone.now()) == []
    later = timezone.now() + queue.LEASE + timedelta(minutes=1)
    Rerun.objects.update(leased_until=later)
    assert overdue(timezone.now()) == []


def test_a_job_whose_lease_ran_out_is_sent_again_with_the_same_bytes_and_once(rerun):
    later = timezone.now() + queue.LEASE + timedelta(minutes=1)
    (delivery,) = overdue(later)
    assert names([delivery]) == [[rerun.job_digest]]
    assert overdue(later) == []  # it is leased anew


def test_a_running_job_keeps_its_lease_by_progress_and_loses_it_by_silence(rerun):
    lane.say(rerun, 3)
    rerun.refresh_from_db()
    assert (rerun.state, rerun.progress) == ("running", {"phase": "timing", "done": 3, "of": 60})
    assert rerun.leased_until > timezone.now() + queue.LEASE - timedelta(minutes=1)
    assert len(overdue(timezone.now() + queue.LEASE + timedelta(minutes=1))) == 1


def test_a_job_that_did_not_get_out_is_sent_when_its_lease_is_over(rerun, monkeypatch):
    """The dispatcher dies between its commit and the broker."""
    rerun.refresh_from_db()
    assert names(overdue(rerun.leased_until + timedelta(seconds=1))) == [[rerun.job_digest]]


def test_again_sends_everything_that_has_no_result(rerun):
    assert len(overdue(timezone.now(), again=True)) == 1
    assert len(overdue(timezone.now(), again=True)) == 1
    take(message(rerun))
    assert overdue(timezone.now(), again=True) == []


def test_an_expired_job_is_not_sent_again(rerun):
    later = timezone.now() + timedelta(hours=25)
    assert overdue(later) == []
    assert queue.expire(later) == 1
    assert queue.expire(later) == 0
    rerun.refresh_from_db()
    assert (rerun.state, rerun.code) == ("expired", "EXPIRED")


def test_a_rerun_that_waits_for_approval_or_dispatch_does_not_expire(run):
    lane.approved(run)
    assert queue.expire(timezone.now() + timedelta(days=30)) == 0


def test_progress_of_an_ended_rerun_moves_nothing(rerun):
    take(message(rerun))
    assert queue.heard(Progress.read({"jobs": [rerun.job_digest], "phase": "timing", "done": 1, "of": 2})) == 0
    rerun.refresh_from_db()
    assert rerun.state == "done"


def test_a_cancelled_rerun_is_not_sent(run):
    rerun = lane.approved(run)
    assert queue.cancel(rerun.id, detail="Not needed.")
    assert sent() == []
    assert not queue.cancel(rerun.id, detail="Not needed.")
