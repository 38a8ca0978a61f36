"""One broker after another; each is declared by the site, as in operation."""

from __future__ import annotations

import pytest

from runs.reruns.delivery import declare
from tests.reruns.brokers.lane import Lane
from tests.reruns.brokers.servers import PRODUCT, RabbitHost, RedisServer
from tests.views import rerun_cases


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.allow("runner", PRODUCT)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def rabbit_host():
    host = RabbitHost()
    host.allow("runner", PRODUCT)
    yield host
    host.stop()


@pytest.fixture(params=["redis", "rabbitmq", "filesystem"])
def lane(request, tmp_path, settings, db):
    """A lane with its runners registered; messages that a test leaves behind are purged."""
    if request.param == "filesystem":
        url = f"filesystem://{tmp_path / 'broker'}"
        lane = Lane(tmp_path, url, url, redelivers=False)
    else:
        server = request.getfixturevalue("redis_server" if request.param == "redis" else "rabbit_host")
        lane = Lane(tmp_path, server.url(), server.url("runner"), restart=server.restart)
    settings.RERUN_BROKER_URL = lane.url
    rerun_cases.register()
    declare([PRODUCT])
    yield lane
    lane.close()
    purge(lane.url)


def purge(url: str) -> None:
    from runs.reruns.transport import connect, job_queue, result_queue

    with connect(url, "nothing") as connection:
        channel = connection.channel()
        for queue in (job_queue(url, PRODUCT, declare=True), result_queue(url, declare=True)):
            queue(channel).purge()
    if url.startswith("redis"):
        import redis

        with redis.Redis.from_url(url) as client:
            for key in client.scan_iter("unacked*"):
                client.delete(key)
