"""A runner that takes jobs from its product's queue: a Celery worker with one task, one process and one message.

The message is acknowledged when the results are with the broker. Whatever happens before (the process is killed, the
broker restarts, the message comes twice) the spool knows what was done, and what is missing is delivered anew.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celery import Celery
from celery.exceptions import Reject
from kombu import Connection
from kombu.exceptions import KombuError

from runs.reruns.documents.refusals import Refusal
from runs.reruns.harness.errors import HarnessError
from runs.reruns.progress import PHASES
from runs.reruns.runner.work import Host, Served, serve
from runs.reruns.transport import EXECUTE, connect, job_queue, lane, result_queue

PAUSE_S: Final = 30.0
BETWEEN_REPORTS_S: Final = 5.0
_UNTIL_GIVEN_BACK: Final = {"max_retries": 60, "interval_start": 1, "interval_step": 1, "interval_max": 5}

log = logging.getLogger(__name__)


def run_worker(broker: str, host: Host) -> int:
    """Work until stopped. The exit status. Raises `Refusal` before the runner's key is approved."""
    product = str(host.identity.entry(host.identity.keys()).product)
    app = build(broker, host, product)
    worker = app.Worker(
        pool_cls="prefork",
        concurrency=1,
        queues=list(app.amqp.queues),
        hostname=f"{product}@{host.device}",
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


def build(broker: str, host: Host, product: str) -> Celery:
    """The worker's application: the lane with its one task."""
    queue = job_queue(broker, product, declare=False)
    app = lane(broker, queue.name)
    app.conf.update(task_queues=[queue], task_default_queue=queue.name)

    @app.task(name=EXECUTE, bind=True, shared=False)
    def execute(task: Any, envelopes: Any) -> None:
        _require_plain(task.request, envelopes)
        with connect(broker, queue.name) as connection:
            run(envelopes, host, Outlet(connection, broker))

    return app


def _require_plain(request: Any, envelopes: Any) -> None:
    """A message is a list of jobs. One that brings along other tasks to be sent is not ours."""
    if any(getattr(request, name, None) for name in ("callbacks", "errbacks", "chain", "chord", "group")):
        raise Reject("a job brings no other tasks along", requeue=False)
    if not isinstance(envelopes, list) or not all(isinstance(item, dict) for item in envelopes):
        raise Reject("the message is no list of jobs", requeue=False)


def run(
    envelopes: Sequence[Mapping[str, Any]],
    host: Host,
    outlet: Outlet,
    *,
    pause: Callable[[float], None] = time.sleep,
) -> Served:
    """Execute a delivery and send what came of it. Raises Reject where this host cannot, so that another may."""
    served = Served()
    try:
        for message in serve(envelopes, host, served, report=outlet.report):
            outlet.send(message.plain())
    except (HarnessError, OSError, KombuError, Refusal) as error:
        log.exception("this host cannot execute the delivery, which goes back to its queue")
        pause(PAUSE_S)
        raise Reject(str(error), requeue=True) from error
    for digest, refusal in served.refused.items():
        log.warning("job %s is refused: %s", digest, refusal)
    return served


class Outlet:
    """Publishes to the result queue, patiently."""

    def __init__(self, connection: Connection, url: str) -> None:
        queue = result_queue(url, declare=False)
        self._exchange, self._key = queue.exchange, queue.routing_key
        self._producer = connection.Producer(serializer="json")
        self._reported: tuple[str, float] = ("", 0.0)

    def send(self, content: Mapping[str, Any]) -> None:
        """Publish one message; the broker has it when this returns."""
        self._producer.publish(
            dict(content),
            exchange=self._exchange,
            routing_key=self._key,
            delivery_mode="persistent",
            retry=True,
            retry_policy=_UNTIL_GIVEN_BACK,
        )

    def report(self, jobs: Sequence[str], event: Mapping[str, Any]) -> None:
        """Publish progress: each new phase at once, otherwise every few seconds. Never worth failing for."""
        phase, last = self._reported
        if event["phase"] not in PHASES or (event["phase"] == phase and time.monotonic() - last < BETWEEN_REPORTS_S):
            return
        self._reported = (event["phase"], time.monotonic())
        progress = {"jobs": list(jobs), **{name: event[name] for name in ("phase", "done", "of")}}
        try:
            self.send({"progress": progress})
        except (KombuError, OSError):
            log.warning("progress could not be reported", exc_info=True)
