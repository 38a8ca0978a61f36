"""What goes over the broker: JSON, one task, queues that only the site declares."""

from __future__ import annotations

import pytest

from kernelindex.celery import app as site
from runs.reruns.runner.work import BATCH_S, MOST_STARTS
from runs.reruns.runner.worker import build
from runs.reruns.transport import EXECUTE, RESULTS, VISIBILITY_S, job_queue, lane, options_of, result_queue
from tests.reruns.runner.cases import host

URL = "redis://127.0.0.1:1/0"


def test_a_runner_knows_one_task_and_none_of_celerys_own(tmp_path):
    app = build(URL, host(tmp_path), "nvidia-h200")
    assert set(app.tasks) == {EXECUTE}
    assert list(app.amqp.queues) == ["gpu.nvidia-h200"]


def test_the_lane_reads_json_alone_takes_no_commands_and_acknowledges_late(tmp_path):
    conf = build(URL, host(tmp_path), "nvidia-h200").conf
    assert (conf.accept_content, conf.task_serializer) == (["json"], "json")
    assert not conf.worker_enable_remote_control
    assert not conf.worker_send_task_events
    assert conf.task_acks_late
    assert conf.task_reject_on_worker_lost
    assert conf.worker_prefetch_multiplier == 1


def test_the_site_sends_jobs_by_an_application_without_tasks():
    assert set(lane(URL, RESULTS).tasks) == set()


@pytest.mark.parametrize("url", ["redis://h/0", "amqp://h//", "filesystem:///folder"])
def test_a_runner_declares_nothing(url):
    for queue in (job_queue(url, "nvidia-h200", declare=False), result_queue(url, declare=False)):
        assert queue.no_declare
        assert queue.exchange.no_declare


def test_redis_is_more_patient_than_a_batch_takes():
    assert options_of(URL, "gpu.x")["visibility_timeout"] == VISIBILITY_S
    assert MOST_STARTS * BATCH_S < VISIBILITY_S


def test_each_queue_has_its_own_deliveries_under_way():
    first, second = (options_of("redis://h/0", name) for name in ("gpu.a", "gpu.b"))
    keys = [name for name in first if name.endswith("_key")]
    assert len(keys) == 3
    assert not any(first[name] == second[name] for name in keys)


def test_rabbitmq_confirms_what_it_has():
    assert options_of("amqp://h//", "gpu.a") == {"confirm_publish": True}


def test_the_dispatchers_task_has_a_queue_of_its_own():
    site.loader.import_default_modules()
    assert "reruns.dispatch" in site.tasks
    assert site.conf.task_routes["reruns.dispatch"] == {"queue": "dispatcher"}
    assert not [name for name in site.tasks if name.startswith("reruns.") and name != "reruns.dispatch"]
