"""Messages between the parent and its children: a JSON header and raw tensor bytes, never pickle.

A frame is ``b"KIX1"``, the header's length and the payload's length (big-endian, 4 and 8 bytes), the header as JSON,
the payload. The payload holds the tensors named in the header's ``tensors`` list one after the other.
"""

import json
import os
import select
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

_MAGIC = b"KIX1"
_PREFIX = struct.Struct(">4sIQ")
MAX_HEADER_BYTES = 64 * 1024 * 1024
MAX_PAYLOAD_BYTES = 1024 * 1024 * 1024
_CHUNK = 1 << 20


class FrameError(Exception):
    """What came over the pipe is no frame: the other side broke the protocol."""


class ChannelClosed(Exception):  # an end of stream is no fault of the reader
    """The other side closed its end."""


class DeadlinePassed(Exception):  # a deadline is a fact, not a fault
    """Nothing complete arrived in time."""


@dataclass(frozen=True)
class Frame:
    """One message: ``header`` is JSON-able, ``payload`` the concatenated tensor bytes."""

    header: dict[str, Any]
    payload: bytes = b""

    def tensors(self) -> dict[str, tuple[dict[str, Any], memoryview]]:
        """Each tensor's description ({name, dtype, shape, bytes}) and its bytes, by name."""
        found: dict[str, tuple[dict[str, Any], memoryview]] = {}
        view = memoryview(self.payload)
        offset = 0
        for entry in self.header.get("tensors", []):
            size = entry["bytes"]
            if not isinstance(size, int) or size < 0 or offset + size > len(view):
                raise FrameError("a tensor reaches beyond the payload")
            found[entry["name"]] = (entry, view[offset : offset + size])
            offset += size
        if offset != len(view):
            raise FrameError("the payload is longer than its tensors")
        return found


def encode(header: dict[str, Any], chunks: Sequence[bytes] = ()) -> bytes:
    """A frame as bytes. Raises ValueError for a header that JSON cannot carry (NaN included) or is too long."""
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    payload_length = sum(len(chunk) for chunk in chunks)
    if len(text) > MAX_HEADER_BYTES or payload_length > MAX_PAYLOAD_BYTES:
        raise ValueError("a frame's header or payload is over its limit")
    return b"".join([_PREFIX.pack(_MAGIC, len(text), payload_length), text, *chunks])


@dataclass
class Channel:
    """A pair of pipe ends. ``alive`` lets a reader stop when the other side is gone.

    A side that passes deadlines makes its writing end non-blocking, or a full pipe would outlast them.
    """

    reading: int
    writing: int
    alive: Callable[[], bool] = field(default=lambda: True)

    def send(self, header: dict[str, Any], chunks: Sequence[bytes] = (), *, deadline: float | None = None) -> None:
        """Write one frame; raises ChannelClosed or DeadlinePassed (``deadline`` on the monotonic clock, in seconds)."""
        view = memoryview(encode(header, chunks))
        while view:
            self._wait(self.writing, for_writing=True, deadline=deadline)
            try:
                view = view[os.write(self.writing, view[:_CHUNK]) :]
            except BlockingIOError:  # a full pipe that does not block: poll says when there is room again
                continue
            except BrokenPipeError as error:
                raise ChannelClosed("the other side closed its end") from error

    def receive(self, *, deadline: float | None = None) -> Frame:
        """Read one frame; raises ChannelClosed, DeadlinePassed or FrameError."""
        magic, header_length, payload_length = _PREFIX.unpack(self._read(_PREFIX.size, deadline))
        if magic != _MAGIC or header_length > MAX_HEADER_BYTES or payload_length > MAX_PAYLOAD_BYTES:
            raise FrameError("what arrived is no frame")
        try:
            header = json.loads(self._read(header_length, deadline))
        except ValueError as error:
            raise FrameError("a frame's header is not JSON") from error
        if not isinstance(header, dict):
            raise FrameError("a frame's header is not an object")
        return Frame(header, self._read(payload_length, deadline))

    def readable(self) -> bool:
        """Whether something, or the end of the stream, can be read now."""
        poll = select.poll()
        poll.register(self.reading, select.POLLIN)
        return bool(poll.poll(0))

    def _read(self, size: int, deadline: float | None) -> bytes:
        parts: list[bytes] = []
        while size:
            self._wait(self.reading, for_writing=False, deadline=deadline)
            part = os.read(self.reading, min(size, _CHUNK))
            if not part:
                raise ChannelClosed("the other side closed its end")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _wait(self, descriptor: int, *, for_writing: bool, deadline: float | None) -> None:
        if deadline is None:
            return
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT if for_writing else select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise DeadlinePassed("nothing arrived in time")
            if poll.poll(min(left, 0.5) * 1000):
                return
            if not self.alive():
                raise ChannelClosed("the other side ended")
