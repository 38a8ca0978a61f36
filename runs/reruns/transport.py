"""What site and runners agree on: queues, their names, and how each broker is used. Celery and Kombu, no Django.

Jobs go to one queue a product, results and progress to one queue for all. The site declares them; a runner declares
nothing, so that it needs no right to. Everything is JSON.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from celery import Celery
from kombu import Connection, Exchange, Queue

EXECUTE: Final = "reruns.execute"
"""The one task of a runner: its argument is a list of signed jobs."""
RESULTS: Final = "reruns.results"
JOBS: Final = "reruns.jobs"
MAX_MESSAGE_BYTES: Final = 32 * 1024 * 1024
VISIBILITY_S: Final = 3600
"""Redis delivers anew what was not acknowledged for this long: several times what a batch takes."""


def job_queue(url: str, product: str, *, declare: bool) -> Queue:
    """The queue of a product's jobs on the broker at a URL."""
    return _queue(url, f"gpu.{product}", JOBS, declare=declare)


def result_queue(url: str, *, declare: bool) -> Queue:
    """The queue of results on the broker at a URL."""
    return _queue(url, RESULTS, RESULTS, declare=declare)


def _queue(url: str, name: str, exchange: str, *, declare: bool) -> Queue:
    # RabbitMQ grants the right to write by exchange, so each direction has one. Elsewhere Kombu keeps bindings as data
    # of its own, which can get lost; there a message goes straight to its queue.
    through = Exchange(exchange if _is_amqp(url) else "", type="direct", durable=True, no_declare=not declare)
    return Queue(name, through, routing_key=name, durable=True, no_declare=not declare)


def _is_amqp(url: str) -> bool:
    return _scheme(url) in ("amqp", "amqps", "pyamqp")


def _scheme(url: str) -> str:
    return urlsplit(url).scheme.partition("+")[0]


def options_of(url: str, consumes: str) -> dict[str, Any]:
    """Transport options for a broker URL. `consumes` names the queue that this process takes from.

    With Redis each queue's deliveries under way have keys of their own, so that who may read one cannot read another's.
    """
    scheme = _scheme(url)
    if scheme == "filesystem":
        folder = Path(urlsplit(url).path)
        return {
            "data_folder_in": str(folder / "messages"),
            "data_folder_out": str(folder / "messages"),
            "control_folder": str(folder / "control"),
        }
    if scheme in ("redis", "rediss"):
        return {
            "visibility_timeout": VISIBILITY_S,
            "unacked_key": f"unacked.{consumes}",
            "unacked_index_key": f"unacked_index.{consumes}",
            "unacked_mutex_key": f"unacked_mutex.{consumes}",
        }
    if _is_amqp(url):
        return {"confirm_publish": True}  # a message counts as sent when the broker has it
    return {}


def make_folders(options: dict[str, Any]) -> None:
    """Make the folders of the file-system broker."""
    for name in ("data_folder_in", "data_folder_out", "control_folder"):
        if name in options:
            Path(options[name]).mkdir(parents=True, exist_ok=True)


def connect(url: str, consumes: str) -> Connection:
    """A connection to the broker, not opened yet."""
    options = options_of(url, consumes)
    make_folders(options)
    return Connection(url, transport_options=options, heartbeat=0)


def lane(url: str, consumes: str) -> Celery:
    """A Celery application that has no task of its own, not even Celery's built-in ones.

    It speaks JSON, takes no remote commands, sends no events, and acknowledges a message when its task has ended.
    """
    options = options_of(url, consumes)
    make_folders(options)
    app = Celery("kernelindex-reruns", broker=url, set_as_current=False, fixups=[])
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_create_missing_queues=False,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options=options,
        worker_proc_alive_timeout=60.0,
    )
    app.finalize()
    for name in list(app.tasks):
        app.tasks.unregister(name)
    return app
