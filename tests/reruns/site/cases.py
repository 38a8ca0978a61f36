"""Results as a runner hands them in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from runs.models import Rerun
from runs.reruns.documents.device import draw_opening
from runs.reruns.documents.exchange import sign_result
from runs.reruns.documents.result import Result
from runs.reruns.files import Message, write_results
from tests.reruns import examples
from tests.reruns.runner.cases import predicate
from tests.views import rerun_cases as lane


def instant(minutes: float) -> str:
    moment = datetime.now(UTC) + timedelta(minutes=minutes)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def message(
    rerun: Rerun, *, key: Any = examples.RUNNER, runner: str = "h200-a", gpu: str = "GPU-1", **changes: Any
) -> Message:
    """A result that reproduces the claim; `changes` go into the document."""
    opening = draw_opening(gpu)
    fields = {
        "processes": lane.processes(101_000, 97_000),
        "runner": runner,
        "deviceCommitment": opening.commitment,
        **changes,
    }
    return Message(envelope=lane.result_of(rerun, key, fields.pop("runner"), **fields), opening=opening.plain())


def failed_result(rerun: Rerun) -> Message:
    """A runner that could not measure anything."""
    document = predicate(lane.result_of(rerun, processes=[]))
    del document["correctness"]
    document["failure"] = {"code": "out_of_memory", "message": "It needed 200 GiB."}
    return Message.read({"envelope": sign_result(Result.read(document), examples.RUNNER)})


def write_results_of(count: int, path: str) -> None:
    """Fill a database with so many queued reruns, and a file with their results."""
    lane.register()
    write_results(Path(path), [message(lane.queued(lane.claim(64 + 4 * number))) for number in range(count)])
