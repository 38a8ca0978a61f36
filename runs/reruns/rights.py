"""What a runner's account on the broker may do: take from its product's queue and write to the result queue."""

from __future__ import annotations

import re
from typing import Final

from runs.reruns.transport import RESULTS, job_queue

# What Kombu's Redis transport sends for a consumer of one queue and a producer for another.
_CONNECTION: Final = ("ping", "client|setname", "select", "multi", "exec", "watch", "unwatch", "discard")
_MESSAGES: Final = ("brpop", "rpop", "rpush", "lpush", "llen", "hset", "hget", "hdel", "zadd", "zrem", "zrange")
_LOCK: Final = ("set", "get", "del", "exists", "evalsha", "script|load")
_COMMANDS: Final = (*_CONNECTION, *_MESSAGES, "zrevrangebyscore", *_LOCK)


def redis_rules(product: str) -> list[str]:
    """The rules of `ACL SETUSER` for a runner of a product, beside its name, `on` and its password."""
    queue = job_queue("redis:", product, declare=False).name
    own = [f"~{queue}", f"~{queue}\x06\x16*", *(f"~unacked{part}.{queue}" for part in ("", "_index", "_mutex"))]
    hand_in = f"(%W~{RESULTS} +lpush)"  # of all that writes a key, this alone: another command could delete what waits
    return ["resetchannels", *own, "-@all", *(f"+{command}" for command in _COMMANDS), hand_in]


def rabbitmq_permissions(product: str) -> tuple[str, str, str]:
    """What a runner's user may configure, write and read, as regular expressions for `rabbitmqctl set_permissions`."""
    queue = job_queue("amqp:", product, declare=False).name
    return "^$", f"^{re.escape(RESULTS)}$", f"^{re.escape(queue)}$"
