"""The brokers of the tests: a Redis server and a RabbitMQ virtual host of their own, with a runner's rights."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from pathlib import Path

import redis

from runs.reruns.rights import rabbitmq_permissions, redis_rules

PRODUCT = "nvidia-h200"
PASSWORD = "a-password-of-the-tests"


class RedisServer:
    """A server that keeps its data over a restart."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder = folder
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        (self.folder / "users.acl").touch()
        options = ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--aclfile", "users.acl"]
        process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", *options],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 10
        while True:
            with contextlib.suppress(redis.ConnectionError), redis.Redis(port=self.port) as client:
                client.ping()
                return process
            assert time.monotonic() < deadline, "redis-server did not start"
            time.sleep(0.05)

    def url(self, user: str = "") -> str:
        who = f"{user}:{PASSWORD}@" if user else ""
        return f"redis://{who}127.0.0.1:{self.port}/0"

    def allow(self, user: str, product: str) -> None:
        with redis.Redis(port=self.port) as client:
            client.execute_command("ACL", "SETUSER", user, "on", f">{PASSWORD}", *redis_rules(product))
            client.execute_command("ACL", "SAVE")

    def restart(self) -> None:
        self.stop()
        self.process = self._start()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


def rabbitmqctl(*arguments: str) -> None:
    subprocess.run(["rabbitmqctl", "-q", *arguments], check=True, capture_output=True, timeout=120)


class RabbitHost:
    """A virtual host of the RabbitMQ server on this machine, with a site's user and runners' users."""

    def __init__(self) -> None:
        self.name = f"kernelindex-test-{os.getpid()}"
        self.users = []
        rabbitmqctl("add_vhost", self.name)
        self.add("site", (".*", ".*", ".*"))

    def add(self, user: str, permissions: tuple[str, str, str]) -> None:
        rabbitmqctl("add_user", self._user(user), PASSWORD)
        self.users.append(user)
        rabbitmqctl("set_permissions", "-p", self.name, self._user(user), *permissions)

    def allow(self, user: str, product: str) -> None:
        self.add(user, rabbitmq_permissions(product))

    def _user(self, user: str) -> str:
        return f"{self.name}-{user}"

    def url(self, user: str = "site") -> str:
        return f"amqp://{self._user(user)}:{PASSWORD}@127.0.0.1:5672/{self.name}"

    def restart(self) -> None:
        rabbitmqctl("stop_app")
        rabbitmqctl("start_app")

    def stop(self) -> None:
        for user in self.users:
            rabbitmqctl("delete_user", self._user(user))
        rabbitmqctl("delete_vhost", self.name)
