"""The processes of a batch: started ahead of their turn, so that a round waits for a device context and nothing else.

Every round has a process of its own, and importing torch and the implementations takes seconds that are the same each
time. So coming processes are launched while nothing is timed, import, and wait off the device: no context, no memory
there, no company. While anything is timed no process imports, for that would be seen in host time.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from runs.reruns.harness.errors import HarnessError
from runs.reruns.harness.limits import Limits
from runs.reruns.harness.phases import Phases
from runs.reruns.harness.processes import Child, ChildFailed
from runs.reruns.harness.telemetry import Family

EXECUTOR, CHECKER = "executor", "checker"
# Importing takes one core for each process: beside checks it may use a quarter of them, while nothing else runs half.
_BESIDE_CHECKS = max(1, (os.cpu_count() or 1) // 4)
_ALONE = max(1, (os.cpu_count() or 1) // 2)


class Pool:
    """Launches, hands out and ends the children of a batch. Time that the batch waits for a start is ``startup_s``."""

    def __init__(
        self,
        device: str,
        scratch: Path,
        packages: Sequence[str],
        *,
        uid: int | None,
        limits: Limits,
        family: Family,
        phases: Phases,
    ) -> None:
        self._device, self._scratch, self._packages, self._uid = device, scratch, packages, uid
        self._limits, self._family, self._phases = limits, family, phases
        self._waiting: list[Child] = []

    def launch(self, role: str, count: int = 1) -> None:
        """Start so many children of a role, without waiting for them."""
        with self._phases.measured("startup_s"):
            for _ in range(count):
                packages, uid = (self._packages, self._uid) if role == EXECUTOR else ((), None)
                child = Child.launch(role, self._device, self._scratch, packages, uid=uid)
                self._family.launch(child.pid)
                self._waiting.append(child)

    def launch_beside_checks(self, wanted: Mapping[str, int]) -> None:
        """Start, of the children wanted by role, as many more as the host can import beside its checks."""
        self._drop_ended()
        importing = sum(not child.has_imported() for child in self._waiting)
        for role, count in wanted.items():
            missing = max(0, count - self.count(role))
            some = min(missing, max(0, _BESIDE_CHECKS - importing))
            self.launch(role, some)
            importing += some

    def prepare(self, wanted: int) -> None:
        """Before a round: wait until nothing imports any more, with at least one executor of ``wanted`` waiting.

        Where none waits, as many are started at once as the host has cores for.
        """
        self._drop_ended()
        if not self.count(EXECUTOR):
            self.launch(EXECUTOR, min(wanted, _ALONE))
        self.settle()

    def settle(self) -> None:
        """Wait until every child has imported; one that could not is dropped, and started again when it is needed."""
        with self._phases.measured("startup_s"):
            for child in self._waiting:
                with contextlib.suppress(ChildFailed):  # which has ended it
                    child.wait_imported(timeout_s=self._limits.start_s)
        self._drop_ended()

    def count(self, role: str) -> int:
        """How many children of a role wait or import."""
        return sum(child.role == role for child in self._waiting)

    def take(self, role: str) -> Child:
        """A fresh child on the device: the first launched of those that wait, else one started now.

        Raises HarnessError (``process_did_not_start``).
        """
        while True:
            self._drop_ended()
            waited = self.count(role) > 0
            if not waited:
                self.launch(role)
            child = next(child for child in self._waiting if child.role == role)
            self._waiting.remove(child)
            self._family.start(child.pid)
            try:
                with self._phases.measured("startup_s"):
                    child.begin(timeout_s=self._limits.start_s)
            except HarnessError:
                self.end(child)
                if not waited:  # one that was started now speaks for the host; one that ended in waiting is replaced
                    raise
            except BaseException:
                self.end(child)
                raise
            else:
                return child

    def _drop_ended(self) -> None:
        """Forget children that have ended while they waited: whoever needs one starts another."""
        for child in [child for child in self._waiting if child.process.poll() is not None]:
            self._waiting.remove(child)
            self.end(child)

    def end(self, child: Child | None) -> None:
        """End a child, if there is one."""
        if child is not None:
            with self._phases.measured("ending_s"):
                child.stop()
            self._family.remove(child.pid)

    def clear(self, role: str | None = None) -> None:
        """End the children, all or of one role, that nobody has taken."""
        for child in list(self._waiting):
            if role in (None, child.role):
                self._waiting.remove(child)
                self.end(child)
