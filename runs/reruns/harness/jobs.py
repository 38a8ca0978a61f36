"""A job as the harness sees it, and what it gathers about one while a batch runs."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.reruns.harness.errors import HarnessError
from runs.reruns.harness.recipes.catalog import NotRerunnable, Recipe, find_recipe
from runs.reruns.harness.rounds import summarise_rounds

NOT_RUN = "not_run"
MEASURED = "measured"
INCORRECT = "incorrect"


def job_digest(job: Mapping[str, Any]) -> str:
    """The digest seeds are derived from: the job document's own where it has one, else that of its sorted JSON."""
    if "digest" in job:
        return str(job["digest"])
    text = json.dumps(job, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@dataclass
class JobState:
    """One job of a batch: its recipe or why it has none, and what has been found out so far."""

    job: dict[str, Any]
    digest: str
    recipe: Recipe | None
    status: str | None = None
    reason: dict[str, str] | None = None
    checks: list[dict[str, Any]] = field(default_factory=list)
    rounds: list[dict[str, Any]] = field(default_factory=list)
    graphs: list[dict[str, Any]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    yielded: bool = False

    @property
    def id(self) -> str:
        """The job's id."""
        return str(self.job["id"])

    def fail(self, status: str, code: str, message: str, log: str = "") -> None:
        """End the job: nothing more of it runs in this batch."""
        self.status, self.reason = status, {"code": code, "message": message}
        self.log.append(f"{code}: {message}")
        if log:
            self.log.append(log)

    def passed_checks(self, wanted: int) -> bool:
        """Whether all checks were run and passed."""
        return len(self.checks) >= wanted and all(check["passed"] for check in self.checks)

    def executed_package(self, versions: Mapping[str, str]) -> dict[str, str] | None:
        """The package the implementation came from, with its installed version."""
        if self.recipe is None or self.recipe.package not in versions:
            return None
        return {"package": self.recipe.package, "version": versions[self.recipe.package]}


def read_jobs(jobs: Sequence[Mapping[str, Any]]) -> list[JobState]:
    """Look every job up. Raises HarnessError (``job_malformed``, ``job_twice``); one without a recipe has a status."""
    states: list[JobState] = []
    for job in jobs:
        missing = [key for key in ("id", "operation", "provider", "mode", "workload", "claimed") if key not in job]
        if missing:
            raise HarnessError("job_malformed", f"A job lacks {', '.join(missing)}.")
        found = find_recipe(job["operation"], job["provider"], job["mode"], job["claimed"].get("liger_version"))
        state = JobState(dict(job), job_digest(job), None if isinstance(found, NotRerunnable) else found)
        if isinstance(found, NotRerunnable):
            state.fail("not_rerunnable", found.code, found.reason)
        elif "recipe" in job and (job["recipe"]["id"], job["recipe"]["version"]) != (found.id, found.version):
            state.fail("not_rerunnable", "recipe_changed", "The job names another recipe than this harness has.")
        states.append(state)
    if len({state.id for state in states}) != len(states):
        raise HarnessError("job_twice", "Two jobs of a batch have the same id.")
    return states


def result_of(
    state: JobState, versions: Mapping[str, str], *, wanted_checks: int, wanted_rounds: int
) -> dict[str, Any]:
    """The result document of a job (see ``batch.execute_batch``)."""
    status, reason = state.status, state.reason
    if status is None and state.passed_checks(wanted_checks) and state.rounds:
        status = MEASURED
    elif status is None:
        status = NOT_RUN
        reason = {"code": "batch_cut", "message": "The batch reached its time limit before this job was measured."}
    recipe = state.recipe
    return {
        "kind": "result",
        "id": state.id,
        "job_digest": state.digest,
        "status": status,
        "reason": reason,
        "recipe": None if recipe is None else recipe.as_document(),
        "claimed": state.job["claimed"],
        "executed": dict(versions),
        "implementation": state.executed_package(versions),
        "correctness": {
            "passed": state.passed_checks(wanted_checks),
            "wanted": wanted_checks,
            "checks": state.checks,
        },
        "rounds": state.rounds,
        "graphs": state.graphs,
        "complete": len(state.rounds) >= wanted_rounds,
        "summary": summarise_rounds(state.rounds, state.graphs),
        "log": "\n".join(state.log)[-16_384:],
    }
