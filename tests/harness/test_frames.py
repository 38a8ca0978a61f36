import contextlib
import os
import struct
import threading
import time

import pytest

from runs.reruns.harness.frames import Channel, ChannelClosed, DeadlinePassed, Frame, FrameError, encode


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _soon() -> float:
    return time.monotonic() + 5


def test_a_frame_arrives_as_it_was_sent(pipe):
    channel = Channel(*pipe)
    tensors = [
        {"name": "x", "dtype": "fp32", "shape": [2], "bytes": 8},
        {"name": "y", "dtype": "bf16", "shape": [1], "bytes": 2},
    ]
    channel.send({"op": "compare", "tensors": tensors}, [b"12345678", b"ab"])
    frame = channel.receive(deadline=_soon())
    assert frame.header["op"] == "compare"
    assert {name: bytes(data) for name, (_entry, data) in frame.tensors().items()} == {"x": b"12345678", "y": b"ab"}


def test_a_payload_larger_than_the_pipe_arrives(pipe):
    channel = Channel(*pipe)
    os.set_blocking(pipe[1], False)
    data = os.urandom(3 << 20)
    sender = threading.Thread(target=channel.send, args=({"op": "x"}, [data]), kwargs={"deadline": _soon()})
    sender.start()
    assert channel.receive(deadline=_soon()).payload == data
    sender.join()


def test_sending_to_nobody_who_reads_ends_at_the_deadline(pipe):
    os.set_blocking(pipe[1], False)
    with pytest.raises(DeadlinePassed):
        Channel(*pipe).send({"op": "x"}, [bytes(1 << 20)], deadline=time.monotonic() + 0.05)


@pytest.mark.parametrize(
    "data",
    [
        b"hello, I am a print statement",
        struct.pack(">4sIQ", b"KIX1", 3, 0) + b"{]}",
        struct.pack(">4sIQ", b"KIX1", 2, 0) + b"[]",
        struct.pack(">4sIQ", b"KIX1", 2, 1 << 60) + b"{}",
    ],
)
def test_it_refuses_what_is_no_frame(pipe, data: bytes):
    os.write(pipe[1], data)
    with pytest.raises(FrameError):
        Channel(*pipe).receive(deadline=_soon())


def test_silence_ends_at_the_deadline(pipe):
    with pytest.raises(DeadlinePassed):
        Channel(*pipe).receive(deadline=time.monotonic() + 0.05)


def test_half_a_frame_ends_with_the_sender(pipe):
    os.write(pipe[1], encode({"op": "x"})[:10])
    os.close(pipe[1])
    with pytest.raises(ChannelClosed):
        Channel(*pipe).receive(deadline=_soon())


def test_nan_is_no_json():
    with pytest.raises(ValueError, match="JSON"):
        encode({"value": float("nan")})


@pytest.mark.parametrize("size", [-1, 3, 5])
def test_tensors_have_to_fill_the_payload(size: int):
    with pytest.raises(FrameError):
        Frame({"tensors": [{"name": "x", "bytes": size}]}, b"four").tensors()
