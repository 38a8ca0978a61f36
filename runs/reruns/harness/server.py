"""What both children have in common: the pipe to the parent, kept out of the reach of prints, and a request loop."""

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from runs.reruns.harness.frames import Channel, ChannelClosed, Frame

Reply = tuple[dict[str, Any], list[bytes]]
Handler = Callable[[Frame], Reply]


class Fatal(Exception):  # it says how a process ends, not what went wrong
    """The process cannot go on after this request: its device context or memory is lost. ``reply`` is sent first."""

    def __init__(self, reply: dict[str, Any]) -> None:
        super().__init__(reply.get("message", ""))
        self.reply = reply


def open_channel(arguments: list[str]) -> Channel:
    """The channel whose descriptors the command line names; neither is inherited by what this process starts."""
    reading, writing = int(arguments[0]), int(arguments[1])
    os.set_inheritable(reading, False)
    os.set_inheritable(writing, False)
    return Channel(reading, writing)


def serve(channel: Channel, handlers: dict[str, Handler]) -> None:
    """Answer requests by their ``op`` until the parent closes its end or a request is fatal.

    A failed request is answered with {"error": code, "message", "trace"}; the standard streams go to the log.
    """
    while True:
        try:
            request = channel.receive()
        except ChannelClosed:
            return
        try:
            header, chunks = handlers[request.header["op"]](request)
        except Fatal as ending:
            channel.send(ending.reply)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(1)  # a lost device context may hang in an orderly exit
        except Exception as error:  # whatever an implementation raises is its job's failure
            header, chunks = failure(error), []
        channel.send({"ok": "error" not in header, **header}, chunks)


def failure(error: BaseException, code: str = "runtime_error") -> dict[str, Any]:
    """An exception as a reply."""
    trace = "".join(traceback.format_exception(error))[-4000:]
    message = str(error).strip() or type(error).__name__
    return {"error": getattr(error, "code", code), "message": message[:1000], "trace": trace}
