"""Exactly once over real brokers: whatever is killed or restarted, each rerun ends with one record."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from runs.models import Rerun
from runs.reruns import queue
from runs.reruns.delivery import send
from runs.reruns.dispatch import Delivery, dispatch, overdue
from tests.reruns import examples
from tests.reruns.brokers.lane import done, recorded_once, wait
from tests.views import rerun_cases

pytestmark = pytest.mark.broker


def approved(count: int) -> list[Rerun]:
    return [rerun_cases.approved(rerun_cases.claim(64 + 4 * number)) for number in range(count)]


def dispatched(count: int) -> list[Delivery]:
    approved(count)
    deliveries = dispatch(examples.DISPATCHER, budget=100)
    send(deliveries)
    return deliveries


def all_reruns() -> list[Rerun]:
    return list(Rerun.objects.order_by("id"))


def deliver_again(lane) -> None:
    """After a worker was killed: the broker delivers anew, or the dispatcher does when the lease is over."""
    if not lane.redelivers:
        send(overdue(timezone.now() + queue.LEASE + timedelta(minutes=1)))


def test_a_claim_goes_to_a_worker_and_comes_back_as_evidence(lane):
    lane.start()
    dispatched(3)
    lane.take(done(all_reruns()))
    assert recorded_once(all_reruns())
    assert len(lane.executed) == 3
    assert {rerun.progress.get("phase") for rerun in all_reruns()} == {"check"}


def test_jobs_wait_for_a_worker_that_starts_later(lane):
    dispatched(2)
    lane.start()
    lane.take(done(all_reruns()))
    assert recorded_once(all_reruns())


def test_a_job_that_is_delivered_twice_is_executed_and_recorded_once(lane):
    deliveries = dispatched(2)
    send(deliveries)
    lane.start()
    lane.take(done(all_reruns()))
    lane.take_rest()
    assert recorded_once(all_reruns())
    assert len(lane.executed) == 2


def test_a_worker_killed_while_it_executes_loses_no_job(lane):
    lane.hold()
    worker = lane.start()
    dispatched(2)
    wait(lambda: len(lane.executed) == 1)
    lane.kill(worker)
    lane.release()
    lane.start_after_patience()
    deliver_again(lane)
    lane.take(done(all_reruns()))
    lane.take_rest()
    assert recorded_once(all_reruns())


def test_a_process_killed_while_it_executes_is_replaced_and_loses_no_job(lane):
    lane.hold()
    worker = lane.start()
    dispatched(2)
    wait(lambda: len(lane.executed) == 1)
    lane.kill_child(worker)
    lane.release()
    lane.take(done(all_reruns()))
    lane.take_rest()
    assert recorded_once(all_reruns())
    assert worker.poll() is None


def test_a_worker_killed_after_it_sent_its_results_and_before_it_acknowledged_records_nothing_twice(lane):
    (lane.folder / "die-after-sending").touch()
    worker = lane.start()
    dispatched(2)
    worker.wait(30)
    lane.start_after_patience()
    deliver_again(lane)
    lane.take(done(all_reruns()))
    lane.take_rest()
    assert recorded_once(all_reruns())
    assert len(lane.executed) == 2


def test_a_restart_of_the_broker_while_a_job_runs_loses_nothing(lane):
    if lane.restart is None:
        pytest.skip("files do not restart")
    lane.hold()
    lane.start()
    dispatched(2)
    wait(lambda: len(lane.executed) == 1)
    lane.restart()
    lane.release()
    lane.take(done(all_reruns()), seconds=90)
    lane.take_rest()
    assert recorded_once(all_reruns())
    assert len(lane.executed) == 2


def test_a_restart_of_the_broker_while_jobs_and_results_wait_loses_nothing(lane):
    if lane.restart is None:
        pytest.skip("files do not restart")
    worker = lane.start()
    dispatched(1)
    wait(lambda: bool(list((lane.folder / "spool" / "results").glob("*.json"))))
    lane.kill(worker)  # its result is with the broker, or its message is
    send(dispatch_more())
    lane.restart()
    lane.start_after_patience()
    lane.take(done(all_reruns()), seconds=90)
    assert recorded_once(all_reruns())
    assert len(all_reruns()) == 2


def dispatch_more() -> list[Delivery]:
    rerun_cases.approved(rerun_cases.claim(256))
    return dispatch(examples.DISPATCHER, budget=100)


def test_two_runners_share_a_queue_and_nothing_is_executed_twice(lane):
    lane.start()
    lane.start(spool="other-spool", product_key="other")
    for number in range(4):
        rerun_cases.approved(rerun_cases.claim(64 + 4 * number))
        send(dispatch(examples.DISPATCHER, budget=100))
    lane.take(done(all_reruns()))
    assert recorded_once(all_reruns())
    assert len(lane.executed) == 4


def test_a_message_that_names_another_task_or_brings_one_along_runs_nothing(lane):
    from runs.reruns.transport import EXECUTE, RESULTS, job_queue
    from runs.reruns.transport import lane as application

    app = application(lane.url, RESULTS)
    target = job_queue(lane.url, "nvidia-h200", declare=True)
    address = {"exchange": target.exchange, "routing_key": target.routing_key}
    app.send_task("celery.chain", args=[[]], **address)
    app.send_task("os.system", args=["touch /tmp/owned"], **address)
    app.send_task(EXECUTE, args=[[]], link=app.signature("accounts.fan_out"), **address)
    app.send_task(EXECUTE, args=["nonsense"], **address)
    app.close()
    lane.start()
    dispatched(1)
    lane.take(done(all_reruns()))
    lane.take_rest()
    assert recorded_once(all_reruns())
    assert len(lane.executed) == 1
    log = (lane.folder / "worker.log").read_text()
    assert "brings no other tasks along" in log
    assert "is no list of jobs" in log
