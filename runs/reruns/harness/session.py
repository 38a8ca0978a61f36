"""One attempt at a batch: its processes, its clock and its records. The parent's side, without torch."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from runs.reruns.harness.canary_names import CANARIES
from runs.reruns.harness.checking import ReferenceFailed, check_purpose, faults, run_check, seed_of
from runs.reruns.harness.environment import environment_spec, gpu_uuid
from runs.reruns.harness.errors import HarnessError
from runs.reruns.harness.jobs import INCORRECT, JobState
from runs.reruns.harness.journal import Journal
from runs.reruns.harness.limits import CHECK_DISTRIBUTIONS, Limits
from runs.reruns.harness.phases import Phases
from runs.reruns.harness.pool import CHECKER, EXECUTOR, Pool
from runs.reruns.harness.processes import Child, ChildFailed
from runs.reruns.harness.round_runner import RoundRunner
from runs.reruns.harness.telemetry import Family, Telemetry, find_device, nvml_reader, void_reasons

Progress = Callable[[dict[str, Any]], None]
_FINISH_MARGIN_S = 3.0
_OTHER_HOST = HarnessError("other_host", "The batch was begun with other packages or on another device.")


class Cut(Exception):  # the end of the time is no fault
    """The batch has used its time."""


class Session:
    """Runs checks, canaries and rounds until all is done or the time is up; what is finished stays in the journal."""

    def __init__(
        self,
        states: list[JobState],
        *,
        journal: Journal,
        runner_bytes: bytes,
        salt: bytes,
        device: str,
        limits: Limits,
        scratch: Path,
        uid: int | None,
        progress: Progress,
    ) -> None:
        self.states, self.journal, self.runner_bytes, self.salt = states, journal, runner_bytes, salt
        self.device, self.limits, self.scratch, self.progress = device, limits, scratch, progress
        self.phases = Phases()
        self.family = Family()
        packages = sorted({state.recipe.package for state in states if state.recipe is not None})
        self.pool = Pool(device, scratch, packages, uid=uid, limits=limits, family=self.family, phases=self.phases)
        self.telemetry = Telemetry(None)
        self.deadline = time.monotonic() + limits.batch_s
        self.versions: dict[str, str] = {}
        self.device_facts: dict[str, Any] = {}
        self.sentinels: dict[str, dict[str, int]] = {}
        self.canaries: dict[str, dict[str, Any]] = {}
        self.cut = False
        self.restarts = 0
        self._wanted: dict[str, int] = {}
        self._handle: Any = None
        self._executor: Child | None = None
        self._checker: Child | None = None
        self._finish_s = 0.0

    # Time and processes

    def time_left(self) -> float:
        """Seconds until the batch must begin to end: what the last sentinels need is kept back."""
        return self.deadline - time.monotonic() - self._finish_s

    def patience(self) -> tuple[float, bool]:
        """How long to wait for one request, and whether the end of the batch shortens it. Raises Cut without time."""
        left = self.time_left()
        if left <= 0:
            raise Cut
        return min(self.limits.job_s, left), left < self.limits.job_s

    def patience_over(self) -> NoReturn:
        """A request ran into the end of the batch, which is nobody's fault."""
        raise Cut

    def start_executor(self) -> Child:
        """A fresh executor that has imported what the batch's recipes need."""
        child = self.pool.take(EXECUTOR)
        versions = child.hello["versions"]
        if not self.versions:
            self.versions = versions
            self.journal.append({"kind": "host", "versions": versions, "device": self.device_facts})
        elif versions != self.versions:
            self.pool.end(child)
            raise _OTHER_HOST
        return child

    def _end_both(self) -> None:
        self.pool.end(self._executor)
        self.pool.end(self._checker)
        self._executor = self._checker = None

    def close(self) -> None:
        """End whatever still runs or waits."""
        self._end_both()
        self.pool.clear()
        self.telemetry.stop()

    def _ensure_checker(self) -> Child:
        """The checker. At its first start telemetry begins and the sentinels run, while no process imports."""
        if self._checker is None and self.sentinels:
            self._checker = self.pool.take(CHECKER)
        elif self._checker is None:
            begun = time.monotonic()
            self.pool.launch(CHECKER)
            self.pool.settle()
            self._checker = self.pool.take(CHECKER)
            self._finish_s = 1.5 * (time.monotonic() - begun) + _FINISH_MARGIN_S
            self._begin_telemetry(self._checker)
            self.sentinels["before"] = self._run_sentinels(self._checker)
        return self._checker

    def _start_ahead(self) -> None:
        """Between two checks: start processes of the first rounds, and the checker that ends the batch."""
        due = max((self.limits.rounds - len(state.rounds) for state in self.timeable()), default=0)
        if due > 0:
            self.pool.launch_beside_checks({EXECUTOR: due, CHECKER: 1})

    def _begin_telemetry(self, checker: Child) -> None:
        facts = checker.hello["device"]
        if self.versions and facts != self.device_facts:
            raise _OTHER_HOST
        self.device_facts = facts
        if self.device_facts:
            self._handle = find_device(self.device_facts.get("uuid"))
        if self._handle is not None:
            self.telemetry = Telemetry(nvml_reader(self._handle, self.family))
        self.telemetry.start()

    def _run_sentinels(self, checker: Child) -> dict[str, int]:
        with self.phases.measured("sentinels_s"):
            reply = checker.request({"op": "sentinels"}, timeout_s=self.limits.job_s)
        values: dict[str, int] = reply.header["sentinels"]
        return values

    # Records

    def resume(self) -> None:
        """Take over what an earlier attempt at this batch has finished."""
        by_id = {state.id: state for state in self.states}
        for record in self.journal.records():
            state = by_id.get(record.get("id", ""))
            if record["kind"] == "canaries":
                self.canaries = record["canaries"]
            elif record["kind"] == "host":
                self.versions, self.device_facts = record["versions"], record["device"]
            elif state is None:
                continue
            elif record["kind"] == "check":
                state.checks.append(record["check"])
            elif record["kind"] == "round":
                state.rounds.append(record["round"])
            elif record["kind"] == "graph":
                state.graphs.append(record["graph"])
            elif record["kind"] == "failed":
                state.fail(record["status"], record["code"], record["message"], record["log"])

    def fail(self, state: JobState, failure: ChildFailed) -> None:
        """Charge a failure of the executor to the job that ran."""
        self._record_failure(state, failure.code, failure.code, str(failure), failure.log)

    def _record_failure(self, state: JobState, status: str, code: str, message: str, log: str = "") -> None:
        state.fail(status, code, message, log)
        self.journal.append(
            {"kind": "failed", "id": state.id, "status": status, "code": code, "message": message, "log": log}
        )

    def add_round(self, state: JobState, record: dict[str, Any], since: float) -> None:
        """Keep one round of a job; what telemetry saw since its process began can make it void."""
        record["void"] += self.telemetry.void_since(since)
        state.rounds.append(record)
        self.journal.append({"kind": "round", "id": state.id, "round": record})

    def add_graph(self, state: JobState, graph: dict[str, Any]) -> None:
        """Keep one graph replay of a job."""
        state.graphs.append(graph)
        self.journal.append({"kind": "graph", "id": state.id, "graph": graph})

    # Checks and canaries

    def run_checks(self) -> None:
        """Check every job that has a recipe; one that does not pass is ended."""
        waiting = [state for state in self.states if state.status is None and not self._checked(state)]
        if waiting and not self.sentinels:
            self.pool.launch(EXECUTOR)  # it imports beside the checker
        for done, state in enumerate(waiting):
            self.progress({"phase": "check", "done": done, "of": len(waiting), "id": state.id})
            try:
                self._check_job(state)
            except Cut:
                self.cut = True
                return
            self._start_ahead()

    def _checked(self, state: JobState) -> bool:
        return state.passed_checks(len(CHECK_DISTRIBUTIONS))

    def _check_job(self, state: JobState) -> None:
        del state.checks[:]  # a job whose checks were cut short is checked anew
        for index in range(len(CHECK_DISTRIBUTIONS)):
            try:
                check = self._check(state, state.job, index)
            except ChildFailed as failure:
                self.fail(state, failure)
                return
            except ReferenceFailed as failure:
                self._record_failure(state, "invalid_reference", "reference_failed", str(failure))
                return
            state.checks.append(check)
            self.journal.append({"kind": "check", "id": state.id, "check": check})
            if not check["passed"]:
                self._record_failure(state, INCORRECT, "check_failed", ", ".join(faults(check)))
                return
        self.phases.add_first_call([check["run_s"] for check in state.checks])

    def _check(self, state: JobState, job: dict[str, Any], index: int) -> dict[str, Any]:
        """One check, with processes that are started where none runs and forgotten where they ended."""
        checker = self._ensure_checker()
        if self._executor is None:
            self._executor = self.start_executor()
        patience, shortened = self.patience()
        purpose = check_purpose(index)
        try:
            with self.phases.measured("check_s"):
                check = run_check(
                    self._executor,
                    checker,
                    job,
                    seed=seed_of(self.runner_bytes, self.salt, state.digest, purpose),
                    distribution=CHECK_DISTRIBUTIONS[index],
                    timeout_s=patience,
                )
        except ChildFailed as failure:
            if failure.gone:
                self.pool.end(self._executor)
                self._executor = None
                self.restarts += 1
            if failure.code == "timeout" and shortened:
                raise Cut from failure
            raise
        except ReferenceFailed:
            self.pool.end(self._checker)
            self._checker = None
            raise
        return {"purpose": purpose, **check}

    def run_canaries(self) -> None:
        """Run each canary, disguised as the smallest job that passed, through the same checks."""
        passed = [state for state in self.states if state.status is None and self._checked(state)]
        if self.canaries or not passed:
            return
        state = min(passed, key=_input_bytes)
        try:
            for name in CANARIES:
                self.canaries[name] = self._run_canary(name, state)
        except Cut:
            self.cut = True
            return
        self.journal.append({"kind": "canaries", "canaries": self.canaries})

    def _run_canary(self, name: str, state: JobState) -> dict[str, Any]:
        job = {**state.job, "canary": name}
        try:
            for index in range(len(CHECK_DISTRIBUTIONS)):
                check = self._check(state, job, index)
                if not check["passed"]:
                    return {"caught": True, "by": faults(check), "job": state.id}
        except (ChildFailed, ReferenceFailed) as failure:
            # A canary that broke something has not been caught by a check: the batch has to count as unguarded.
            return {"caught": False, "by": [f"failed: {failure}"[:200]], "job": state.id}
        return {"caught": False, "by": [], "job": state.id}

    # Rounds

    def timeable(self) -> list[JobState]:
        """The jobs that passed their checks and have not failed since."""
        return [state for state in self.states if state.status is None and self._checked(state)]

    def wanted_rounds(self, state: JobState) -> int:
        """How many rounds a job was to have."""
        return self._wanted.get(state.id, self.limits.rounds)

    def run_rounds(self, wanted: int, states: Sequence[JobState]) -> None:
        """Time each job in fresh processes until it has as many rounds as wanted or the time is up."""
        for state in states:
            self._wanted[state.id] = wanted
        if not self.sentinels and any(len(state.rounds) < wanted for state in states):
            self._ensure_checker()  # a batch that goes on after its checks has its sentinels and telemetry too
        self._end_both()
        runner = RoundRunner(self)
        last_s = 0.0
        for number in range(wanted):
            pending = [state for state in states if state.status is None and len(state.rounds) <= number]
            if not pending:
                continue
            if self.time_left() < last_s:
                self.cut = True
                return
            self.progress({"phase": "timing", "done": number, "of": wanted, "id": None})
            begun = time.monotonic()
            self.pool.prepare(wanted - number)
            try:
                runner.run(number, pending)
            except Cut:
                self.cut = True
                return
            last_s = time.monotonic() - begun

    # The end

    def finish(self) -> None:
        """The sentinels after the batch, in a process that no implementation has touched."""
        self.pool.clear(EXECUTOR)
        if not self.timeable():
            return
        try:
            self.sentinels["after"] = self._run_sentinels(self._ensure_checker())
        except ChildFailed:
            return  # a batch without its last sentinels is void

    def report(self, harness_version: str, started_at: float) -> dict[str, Any]:
        """The batch document (see ``batch.execute_batch``)."""
        self.close()
        telemetry = self.telemetry.report()
        clocks = tuple(telemetry["summary"]["sm_mhz_range"]) if telemetry["available"] else None
        return {
            "kind": "batch",
            "harness_version": harness_version,
            "device": self.device,
            "gpu_uuid": gpu_uuid(self.device_facts),
            "environment": environment_spec(self.device_facts, self.versions, self._handle, clocks)
            if self.versions
            else None,
            "runner_bytes": self.runner_bytes.hex(),
            "started_at": _instant(started_at),
            "ended_at": _instant(time.time()),
            "void": self._void(telemetry),
            "cut": self.cut,
            "rounds": max((len(state.rounds) for state in self.states), default=0),
            "sentinels": self.sentinels,
            "canaries": self.canaries,
            "telemetry": telemetry,
            "phases": self.phases.report(),
            "restarts": self.restarts,
        }

    def _void(self, telemetry: dict[str, Any]) -> list[str]:
        found = set(void_reasons(telemetry, gpu=bool(self.device_facts)))
        if set(self.canaries) != set(CANARIES):
            found.add("no_canary")
        if not all(canary["caught"] for canary in self.canaries.values()):
            found.add("canary_passed")
        if set(self.sentinels) != {"before", "after"}:
            found.add("sentinels_missing")
        return sorted(found)


def _input_bytes(state: JobState) -> int:
    """How much a job's inputs hold, roughly: elements of all tensors."""
    total = 0
    for tensor in state.job["workload"]["tensors"].values():
        count = 1
        for size in tensor["shape"]:
            count *= int(size)
        total += count
    return total


def _instant(seconds: float) -> str:
    """UTC with milliseconds and a Z."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
