"""What a message of the result queue can do: be a result or progress, and nothing else."""

from __future__ import annotations

import json

import pytest
from django.db import OperationalError

from runs.models import RerunResult
from runs.reruns import consumer
from runs.reruns.consumer import PAUSE_S, ResultConsumer, handle
from tests.reruns.site.cases import message

JSON = "application/json"


def body(content) -> bytes:
    return json.dumps(content).encode()


class Delivered:
    """A message of the broker."""

    def __init__(self, content) -> None:
        self.body, self.content_type, self.said = body(content), JSON, []

    def ack(self):
        self.said.append("ack")

    def requeue(self):
        self.said.append("requeue")


def test_a_result_is_taken(rerun):
    handle(body(message(rerun).plain()), JSON)
    assert RerunResult.objects.count() == 1


def test_progress_is_shown(rerun):
    handle(body({"progress": {"jobs": [rerun.job_digest], "phase": "check", "done": 1, "of": 4}}), JSON)
    rerun.refresh_from_db()
    assert (rerun.state, rerun.progress["phase"]) == ("running", "check")


@pytest.mark.parametrize(
    "content",
    [
        [["accounts.fan_out"], {}, {"callbacks": [{"task": "accounts.fan_out"}]}],
        {"task": "accounts.fan_out", "args": []},
        {"method": "shutdown", "destination": None},
        {"progress": {"jobs": [], "phase": "check", "done": 0, "of": 0}},
        {"progress": {"jobs": ["sha256:" + "0" * 64], "phase": "<script>", "done": 0, "of": 0}},
        {"envelope": {}},
        "text",
        None,
    ],
)
def test_anything_else_changes_nothing_and_is_dropped(rerun, content):
    delivered = Delivered(content)
    ResultConsumer(None).on_message(delivered)
    assert delivered.said == ["ack"]
    rerun.refresh_from_db()
    assert (rerun.state, rerun.version) == ("queued", 2)


@pytest.mark.parametrize(
    ("data", "content_type"),
    [(b"cos\nsystem\n(S'true'\ntR.", "application/x-python-serialize"), (b"{", JSON), (b'{"a":1,"a":2}', JSON)],
)
def test_what_is_not_json_is_not_read(data, content_type, monkeypatch):
    said = []
    monkeypatch.setattr(consumer.log, "warning", lambda text, code, refusal: said.append(code))
    handle(data, content_type)
    assert said == ["MALFORMED"]


def test_without_a_database_a_message_goes_back_and_the_connection_is_given_up(monkeypatch):
    def away(*_):
        raise OperationalError("gone")

    monkeypatch.setattr(consumer, "handle", away)
    paused, closed = [], []
    monkeypatch.setattr(consumer, "close_old_connections", lambda: closed.append(True))
    taker = ResultConsumer(None)
    taker.pause = paused.append
    delivered = Delivered({})
    taker.on_message(delivered)
    assert delivered.said == ["requeue"]
    assert (paused, closed) == ([PAUSE_S], [True])
