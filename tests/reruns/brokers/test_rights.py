"""A runner's account on the broker reaches its own queue and the result queue, and nothing else."""

from __future__ import annotations

import amqp
import pytest
import redis
from kombu import Connection, Exchange, Queue

from runs.reruns.delivery import declare
from runs.reruns.transport import JOBS, RESULTS, job_queue
from tests.reruns.brokers.servers import PRODUCT
from tests.views import rerun_cases

pytestmark = pytest.mark.broker
OWN, OTHER = f"gpu.{PRODUCT}", "gpu.nvidia-b200"


@pytest.fixture
def client(redis_server):
    with redis.Redis.from_url(redis_server.url("runner")) as client:
        yield client


def test_redis_lets_a_runner_take_jobs_and_hand_in_results(client):
    assert client.brpop([OWN], timeout=0.01) is None
    assert client.lpush(RESULTS, "a test") >= 1


@pytest.mark.parametrize(
    "command",
    [
        ("LPUSH", OTHER, "a job"),
        ("BRPOP", OTHER, "0.01"),
        ("RPOP", RESULTS),
        ("BRPOP", RESULTS, "0.01"),
        ("LLEN", RESULTS),
        ("DEL", RESULTS),
        ("HGET", f"unacked.{OTHER}", "tag"),
        ("LPUSH", "celery", "a task"),
        ("KEYS", "*"),
        ("FLUSHALL",),
        ("CONFIG", "GET", "*"),
        ("ACL", "LIST"),
        ("PUBLISH", "/0.celery.pidbox", "shutdown"),
        ("EVAL", "return redis.call('LRANGE', 'reruns.results', 0, -1)", "0"),
    ],
    ids=lambda command: " ".join(command)[:40],
)
def test_redis_lets_a_runner_do_nothing_else(client, command):
    with pytest.raises(redis.exceptions.ResponseError, match=r"(?i)permission|access"):
        client.execute_command(*command)


@pytest.fixture
def rabbit(rabbit_host, settings, db):
    """Queues of two products, and a connection of the first one's runner."""
    settings.RERUN_BROKER_URL = rabbit_host.url()
    rerun_cases.register()
    declare([PRODUCT, "nvidia-b200"])
    with Connection(rabbit_host.url("runner"), transport_options={"confirm_publish": True}) as connection:
        yield connection


def publish(connection, exchange, key):
    with connection.Producer() as producer:
        producer.publish({}, exchange=exchange, routing_key=key)


def test_rabbitmq_lets_a_runner_take_jobs_and_hand_in_results(rabbit):
    assert job_queue("amqp:", PRODUCT, declare=False)(rabbit.channel()).get() is None
    publish(rabbit, RESULTS, RESULTS)


@pytest.mark.parametrize(
    ("exchange", "key"), [(JOBS, OTHER), (JOBS, OWN), ("", OTHER), ("", "celery"), ("", RESULTS)], ids=str
)
def test_rabbitmq_lets_a_runner_write_nothing_else(rabbit, exchange, key):
    with pytest.raises(amqp.AccessRefused):
        publish(rabbit, exchange, key)


@pytest.mark.parametrize("name", [OTHER, RESULTS])
def test_rabbitmq_lets_a_runner_read_nothing_else(rabbit, name):
    with pytest.raises(amqp.AccessRefused):
        Queue(name, no_declare=True)(rabbit.channel()).get()


def test_rabbitmq_lets_a_runner_declare_and_delete_nothing(rabbit):
    with pytest.raises(amqp.AccessRefused):
        Queue("another", Exchange("another"), routing_key="x")(rabbit.channel()).declare()
    with pytest.raises(amqp.AccessRefused):
        Queue(OWN)(rabbit.channel()).delete()
