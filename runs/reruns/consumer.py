"""The consumer of the result queue. It can do one thing with a message: take it as a result or as progress.

Runners may write to this queue, so it is no Celery worker: a message here can name no task, no callback and no command.
A message is acknowledged when what it says is committed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError, close_old_connections
from kombu import Connection
from kombu.mixins import ConsumerMixin

from runs.reruns import queue
from runs.reruns.delivery import declare
from runs.reruns.documents.base import read_json
from runs.reruns.documents.refusals import Refusal
from runs.reruns.files import Message
from runs.reruns.intake import take
from runs.reruns.progress import Progress
from runs.reruns.transport import MAX_MESSAGE_BYTES, RESULTS, connect, result_queue

PAUSE_S: Final = 5.0
log = logging.getLogger(__name__)


def consume(*, until: Callable[[], bool] = lambda: False) -> None:
    """Take results until something is so or the process is stopped; survives a restart of broker and database."""
    declare()
    with connect(settings.RERUN_BROKER_URL, RESULTS) as connection:
        ResultConsumer(connection, until=until).run()


class ResultConsumer(ConsumerMixin):  # type: ignore[misc]  # Kombu is untyped
    """Reads the result queue, one message at a time."""

    def __init__(self, connection: Connection, *, until: Callable[[], bool] = lambda: False) -> None:
        self.connection = connection
        self.pause: Callable[[float], None] = time.sleep
        self._until = until

    @property
    def should_stop(self) -> bool:
        """Whether to stop, asked about once a second."""
        return self._until()

    def get_consumers(self, Consumer: Any, channel: Any) -> list[Any]:
        """One consumer that accepts JSON alone and has one message in hand."""
        queues = [result_queue(settings.RERUN_BROKER_URL, declare=False)]
        return [Consumer(queues, on_message=self.on_message, accept=["json"], prefetch_count=1)]

    def on_message(self, message: Any) -> None:
        """Take one message. Without a database it goes back to the queue; what does not hold is dropped and logged."""
        try:
            handle(message.body, message.content_type)
        except DatabaseError:
            log.exception("a message could not be taken, and goes back to the queue")
            message.requeue()
            close_old_connections()
            self.pause(PAUSE_S)
            return
        message.ack()


def handle(body: bytes | str, content_type: str) -> None:
    """Take what a message says; a fault in it is logged. Raises DatabaseError."""
    try:
        if content_type != "application/json":
            raise Refusal("MALFORMED", f"{content_type} is not JSON")
        data = body.encode() if isinstance(body, str) else bytes(body)
        content = read_json(data, limit=MAX_MESSAGE_BYTES)
        if not isinstance(content, dict):
            raise Refusal("MALFORMED", "it is no object")
        if "progress" in content:
            queue.heard(Progress.read(content["progress"]))
        else:
            log.info("a result was taken: %s", take(Message.read(content)))
    except Refusal as refusal:
        log.warning("a message was refused: %s: %s", refusal.code, refusal)
