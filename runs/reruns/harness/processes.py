"""Child processes of the harness: started with a scrubbed environment, spoken to with deadlines, ended for certain."""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runs.reruns.harness.errors import HarnessError
from runs.reruns.harness.frames import Channel, ChannelClosed, DeadlinePassed, Frame, FrameError

PACKAGE_ROOT = Path(__file__).resolve().parents[3]
_LOG_TAIL_BYTES = 8_192
_PIPE_BYTES = 1 << 20
_END_WAIT_S = 30.0  # a driver may take long to take a device context apart
_CRASH_WAIT_S = 2.0

# What a child may know: where libraries and devices are. A broker's URL, a key's path and every credential of the site
# or the runner live under other names, and names not listed here do not pass.
PASSED_ON = frozenset(
    {"PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES"}
    | {"CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "OMP_NUM_THREADS", "CC", "CPATH"}
    | {"LIBRARY_PATH", "TRITON_LIBCUDA_PATH", "TRITON_PTXAS_PATH"}
)


class ChildFailed(Exception):  # reads as what happened to the child
    """A request that a child did not answer as asked.

    ``code`` is runtime_error (or the code the child gave), out_of_memory, crashed, timeout or protocol_broken; ``gone``
    says whether the process has ended.
    """

    def __init__(self, code: str, message: str, *, gone: bool, log: str = "") -> None:
        super().__init__(message)
        self.code, self.gone, self.log = code, gone, log


def scrubbed_environment(environment: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """The environment of a child: what PASSED_ON names, import paths, and caches and home in the scratch folder."""
    scrubbed = {name: value for name, value in environment.items() if name in PASSED_ON}
    paths = [str(PACKAGE_ROOT), *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    return scrubbed | {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
        "PYTHONUNBUFFERED": "1",
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "TRITON_CACHE_DIR": str(scratch / "triton"),
        "TORCHINDUCTOR_CACHE_DIR": str(scratch / "inductor"),
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


@dataclass
class Child:
    """One running child. ``role`` is the harness module it runs: executor or checker.

    A child is launched, imports what it needs without touching the device, says so, and waits; ``begin`` lets it on
    the device.
    """

    role: str
    process: subprocess.Popen[bytes]
    channel: Channel
    log_path: Path
    hello: dict[str, Any] = field(default_factory=dict)
    _imported: bool = False
    _pipe_broke: bool = False

    @staticmethod
    def launch(role: str, device: str, scratch: Path, packages: Sequence[str], *, uid: int | None) -> "Child":
        """Start a child that imports the packages' modules and then waits; does not wait for it.

        Raises HarnessError (``process_did_not_start``): that is the host's failure, no job's.
        """
        to_child, from_child = os.pipe(), os.pipe()
        for descriptor in (to_child[1], from_child[1]):
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        home, log_path = scratch / role, scratch / f"{role}-{time.monotonic_ns()}.log"
        command = [sys.executable, "-P", "-m", f"runs.reruns.harness.{role}"]
        user: dict[str, Any] = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
        try:
            with log_path.open("wb") as log:
                process = subprocess.Popen(  # noqa: S603  (our own module, arguments that no job chooses)
                    [*command, str(to_child[0]), str(from_child[1]), device, *packages],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=home,
                    env=scrubbed_environment(os.environ, home),
                    pass_fds=(to_child[0], from_child[1]),
                    start_new_session=True,
                    **user,
                )
        except OSError as error:
            for descriptor in (*to_child, *from_child):
                os.close(descriptor)
            raise HarnessError("process_did_not_start", f"The {role} could not be started: {error}.") from error
        os.close(to_child[0])
        os.close(from_child[1])
        os.set_blocking(to_child[1], False)
        channel = Channel(from_child[0], to_child[1], alive=lambda: process.poll() is None)
        return Child(role, process, channel, log_path)

    def has_imported(self) -> bool:
        """Whether the child has imported everything, or has ended and never will. Does not wait."""
        return self._imported or self.channel.readable() or self.process.poll() is not None

    def begin(self, *, timeout_s: float) -> None:
        """Wait until the child has imported everything, then let it create its device context.

        Raises HarnessError (``process_did_not_start``), with the child ended: that is the host's failure, no job's.
        """
        try:
            self.wait_imported(timeout_s=timeout_s)
            self.hello = self.request({"op": "hello"}, timeout_s=timeout_s).header
        except ChildFailed as failure:
            self.stop()
            message = f"The {self.role} did not start ({failure.code}): {failure} {failure.log[-2000:]}"
            raise HarnessError("process_did_not_start", message) from failure

    def wait_imported(self, *, timeout_s: float) -> None:
        """Wait until the child has imported everything. Raises ChildFailed, with the child ended."""
        if not self._imported:
            self._answer(None, [], timeout_s)
            self._imported = True

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self.process.pid

    def request(self, header: dict[str, Any], chunks: list[bytes] | None = None, *, timeout_s: float) -> Frame:
        """Send a request and wait for its reply; whatever goes wrong is a ChildFailed, and a silent child is ended."""
        return self._answer(header, chunks or [], timeout_s)

    def _answer(self, header: dict[str, Any] | None, chunks: list[bytes], timeout_s: float) -> Frame:
        """The child's next frame, after sending it a request if there is one."""
        deadline = time.monotonic() + timeout_s
        try:
            if header is not None:
                self.channel.send(header, chunks, deadline=deadline)
            reply = self.channel.receive(deadline=deadline)
        except DeadlinePassed:
            self.stop()
            raise self._failed("timeout", f"No answer within {timeout_s:.0f} s.", gone=True) from None
        except (ChannelClosed, FrameError) as error:
            broken = isinstance(error, FrameError)
            self._pipe_broke = not broken
            status = self.stop()
            how = f"by signal {-status}" if status < 0 else f"with status {status}"
            ended = f"The process ended {how}."
            raise self._failed(
                "protocol_broken" if broken else "crashed", str(error) if broken else ended, gone=True
            ) from error
        if reply.header.get("ok"):
            return reply
        code = str(reply.header.get("error", "runtime_error"))
        gone = code in ("out_of_memory", "device_lost")
        if gone:
            self.stop()
        raise ChildFailed(
            "crashed" if code == "device_lost" else code,
            str(reply.header.get("message", "")),
            gone=gone,
            log=str(reply.header.get("trace", "")),
        )

    def _failed(self, code: str, message: str, *, gone: bool) -> ChildFailed:
        return ChildFailed(code, message, gone=gone, log=self.log_tail())

    def log_tail(self) -> str:
        """The last 8 KiB of what the child printed."""
        with contextlib.suppress(OSError), self.log_path.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - _LOG_TAIL_BYTES))
            return log.read().decode("utf-8", "replace")
        return ""

    def stop(self) -> int:
        """End the child and all it started; returns its exit status, negative where a signal ended it.

        A child that has ended keeps the status it ended with; one that runs is killed: it has nothing to tidy up.
        """
        for descriptor in (self.channel.writing, self.channel.reading):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self.channel.writing = self.channel.reading = -1
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=_CRASH_WAIT_S if self._pipe_broke else 0)
        # What the child has started lives in its session: the group is gone once nobody is in it.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait(timeout=_END_WAIT_S)


def make_scratch(parent: Path, uid: int | None) -> Path:
    """The folder of one batch: logs, and a private home for each role; the executor's belongs to its user alone.

    The folder itself stays ours, so that the executor cannot put something else where a log is to be written. Where it
    runs as another user, ``parent`` has to let that user pass.
    """
    scratch = parent / f"batch-{os.getpid()}-{time.monotonic_ns()}"
    scratch.mkdir(mode=0o711, parents=True)
    for role in ("executor", "checker"):
        (scratch / role).mkdir(mode=0o700)
    if uid is not None:
        os.chown(scratch / "executor", uid, uid)
    return scratch


def remove_scratch(scratch: Path) -> None:
    """Remove a batch's folder with the compiled kernels in it."""
    shutil.rmtree(scratch, ignore_errors=True)
