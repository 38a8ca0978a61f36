"""A round: one fresh process times every job that is due, first all event times, then all device times.

Event times come first because the profiler that measures device time slows down every later launch of its process. A
job that ends the process is charged with it; the others go on in a new one, where both their times are taken anew.
"""

import random
import time
from typing import TYPE_CHECKING, Any

from runs.reruns.harness.checking import seed_of
from runs.reruns.harness.jobs import JobState
from runs.reruns.harness.processes import Child, ChildFailed
from runs.reruns.harness.recipes.schedule import FORWARD, NO_GRAD
from runs.reruns.harness.rounds import round_record

if TYPE_CHECKING:
    from runs.reruns.harness.session import Session


# Graph replay varies as little as device time; capturing it costs more than measuring it.
_ROUNDS_WITH_GRAPH = 2


class RoundRunner:
    """Runs rounds for a session."""

    def __init__(self, session: "Session") -> None:
        self._session = session

    def run(self, number: int, pending: list[JobState]) -> None:
        """One round of the given jobs, in an order of its own. Raises Cut."""
        due = list(pending)
        random.Random(number).shuffle(due)  # noqa: S311  (an order, not a secret)
        while due:
            executor = self._session.start_executor()
            try:
                self._run_in(executor, number, due)
            finally:
                self._session.pool.end(executor)
            left = [state for state in due if state.status is None and len(state.rounds) <= number]
            if left:
                self._session.restarts += 1
            due = left

    def _run_in(self, executor: Child, number: int, due: list[JobState]) -> None:
        """Time the jobs in one process; returns early where a job ended it."""
        since = time.monotonic()
        events: list[tuple[JobState, dict[str, Any]]] = []
        for state in due:
            event = self._ask(executor, state, {"op": "event_time"})
            if event is not None:
                self._account_event(event)
                events.append((state, event))
            elif executor.process.poll() is not None:
                return
        timed: list[tuple[JobState, dict[str, Any]]] = []
        for state, event in events:
            device = self._ask(executor, state, {"op": "device_time", "samples": event["samples"]})
            if device is not None:
                self._session.phases.add("device_time_s", device["device_s"])
                self._session.phases.add("build_s", device["build_s"])
                self._session.add_round(state, round_record(number, executor.pid, event, device), since)
                timed.append((state, device))
            elif executor.process.poll() is not None:
                return
        if number < _ROUNDS_WITH_GRAPH:
            self._replay_graphs(executor, number, timed)

    def _replay_graphs(self, executor: Child, number: int, timed: list[tuple[JobState, dict[str, Any]]]) -> None:
        """Graph replays, last of all: a capture that fails may leave its process unfit, and is charged to nobody."""
        for state, device in timed:
            assert state.recipe is not None
            if state.recipe.mode not in (FORWARD, NO_GRAD):
                continue
            request = {"op": "graph_time", "expected_ns": device["device_ns"]}
            try:
                replay = self._request(executor, state, request)
            except ChildFailed as failure:
                self._session.add_graph(state, {"round": number, "ns": None, "reason": failure.code})
                if failure.gone:
                    return
                continue
            self._session.phases.add("device_time_s", replay["graph_s"])
            self._session.phases.add("build_s", replay["build_s"])
            self._session.add_graph(state, {"round": number, "ns": replay["ns"], "reason": replay["reason"]})

    def _ask(self, executor: Child, state: JobState, request: dict[str, Any]) -> dict[str, Any] | None:
        """One measurement of one job; None, with the job charged, where it failed."""
        try:
            return self._request(executor, state, request)
        except ChildFailed as failure:
            self._session.fail(state, failure)
            return None

    def _request(self, executor: Child, state: JobState, request: dict[str, Any]) -> dict[str, Any]:
        """One request about one job. Raises ChildFailed, or Cut where the end of the batch shortened the wait."""
        session = self._session
        patience, shortened = session.patience()
        seed = seed_of(session.runner_bytes, session.salt, state.digest, "timing")
        try:
            return executor.request({**request, "job": state.job, "seed": seed.hex()}, timeout_s=patience).header
        except ChildFailed as failure:
            if failure.code == "timeout" and shortened:
                session.patience_over()
            raise

    def _account_event(self, event: dict[str, Any]) -> None:
        phases = self._session.phases
        phases.add("timing_s", event["wall_s"])
        phases.add("timing_needed_s", event["needed_s"])
        phases.add("host_time_s", event["host_s"])
        phases.add("build_s", event["build_s"])
        phases.add("compile_s", event["compile_s"])
