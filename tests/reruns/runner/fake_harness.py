"""A harness that measures nothing and answers as the real one does, for the tests of what surrounds it.

Each job that it executes leaves a line in `executed.log` beside the spool's scratch folder, so that a test can count.
With a file `hold` there it waits in the middle of each job, which is where a test can kill the worker.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runs.reruns.harness.batch import HARNESS_VERSION
from runs.reruns.harness.canary_names import CANARIES
from runs.reruns.harness.journal import Journal
from runs.reruns.harness.limits import CHECK_DISTRIBUTIONS, Limits
from runs.reruns.harness.rounds import round_record
from runs.reruns.harness.seeds import derive_seed
from runs.reruns.harness.telemetry import COLUMNS

EVENT_NS = 101_000
DEVICE_NS = 97_000
PACKAGES = {"python": "3.12.3", "liger-kernel": "0.8.5", "torch": "2.11.0+cu130", "triton": "3.6.0"}
HOST = {
    "hardware": {"vendor": "nvidia", "product": "NVIDIA H200", "architecture": "sm_90"},
    "software": {"driver": "580.200.01"},
}
SENTINELS = {"copy_ns": 1000, "matmul_ns": 2000, "launch_ns": 3000}


class Harness:
    """`execute` stands in for `execute_batch`. `most` jobs are done in one attempt; the rest is left to the next."""

    def __init__(self, folder: Path, *, most: int = 10**6, sentinels: Mapping[str, int] = SENTINELS) -> None:
        self.folder, self.most, self.sentinels = folder, most, dict(sentinels)
        self.limits: list[Limits] = []
        self.failing: dict[str, tuple[str, str]] = {}
        self.dies = False

    @property
    def executed(self) -> list[str]:
        """The ids of the jobs that were executed, in order."""
        log = self.folder / "executed.log"
        return log.read_text().splitlines() if log.exists() else []

    def execute(
        self,
        jobs: Sequence[Mapping[str, Any]],
        *,
        salt: bytes,
        device: str,
        limits: Limits,
        journal_path: Path,
        scratch_parent: Path,
        uid: int | None,
        undecided: Callable[[dict[str, Any]], bool],
        progress: Callable[[dict[str, Any]], None],
    ) -> Iterator[dict[str, Any]]:
        self.limits.append(limits)
        journal = Journal(journal_path)
        records = list(journal.records())
        runner_bytes = next((record["bytes"] for record in records if record["kind"] == "begun"), secrets.token_hex(32))
        if not records:
            journal.append({"kind": "begun", "bytes": runner_bytes, "jobs": [job["digest"] for job in jobs]})
        else:
            assert records[0]["jobs"] == [job["digest"] for job in jobs], "the journal of other jobs"
        done = {record["id"] for record in records if record["kind"] == "done"}
        progress({"phase": "check", "done": 0, "of": len(jobs), "id": jobs[0]["id"]})
        if self.dies:
            raise KeyboardInterrupt
        left = self.most
        for job in jobs:
            if job["id"] in done or left == 0:
                continue
            with (self.folder / "executed.log").open("a") as log:
                log.write(f"{job['id']}\n")
            while (self.folder / "hold").exists():
                time.sleep(0.05)
            journal.append({"kind": "done", "id": job["id"]})
            done.add(job["id"])
            left -= 1
        for job in jobs:
            yield self._result(job, salt, runner_bytes, finished=job["id"] in done)
        yield self._batch(device, runner_bytes, cut=len(done) < len(jobs))

    def _result(self, job: Mapping[str, Any], salt: bytes, runner_bytes: str, *, finished: bool) -> dict[str, Any]:
        reason = self.failing.get(job["id"], None if finished else ("batch_cut", "The time was up."))
        status = "measured" if reason is None else (reason[0] if finished else "not_run")
        return {
            "kind": "result",
            "id": job["id"],
            "job_digest": job["digest"],
            "status": status,
            "reason": None if reason is None else {"code": reason[0], "message": reason[1]},
            "recipe": {**job["recipe"], "schedule": {"warmup_ms": 25}},
            "claimed": job["claimed"],
            "executed": PACKAGES,
            "implementation": {"package": "liger-kernel", "version": "0.8.5"},
            "correctness": {
                "passed": reason is None,
                "wanted": 4,
                "checks": [_check(job["digest"], salt, runner_bytes, index) for index in range(4 * (reason is None))],
            },
            "rounds": [_round(number) for number in range(5 * (reason is None))],
            "graphs": [],
            "complete": reason is None,
            "summary": None,
            "log": "measured",
        }

    def _batch(self, device: str, runner_bytes: str, *, cut: bool) -> dict[str, Any]:
        now = time.time()
        columns = {"at_ms": [50 * row for row in range(100)], "sm_mhz": [1980] * 100}
        return {
            "kind": "batch",
            "harness_version": HARNESS_VERSION,
            "device": device,
            "gpu_uuid": "GPU-1234",
            "environment": HOST,
            "runner_bytes": runner_bytes,
            "started_at": _instant(now),
            "ended_at": _instant(now),
            "void": [],
            "cut": cut,
            "rounds": 5,
            "sentinels": {"before": self.sentinels, "after": self.sentinels},
            "canaries": {name: {"caught": True, "by": ["y"], "job": "a"} for name in CANARIES},
            "telemetry": {
                "available": True,
                "columns": list(COLUMNS),
                "samples": [columns.get(name, [0] * 100) for name in COLUMNS],
            },
            "phases": {},
            "restarts": 0,
        }


def _check(digest: str, salt: bytes, runner_bytes: str, index: int) -> dict[str, Any]:
    purpose = f"check/{index}"
    seed = derive_seed(bytes.fromhex(runner_bytes), site_salt=salt, job_digest=digest, purpose=purpose)
    output = {
        "matched": True,
        "dtype": "fp32",
        "scaled_error": 1e-4,
        "set_aside": 0,
        "max_scaled_error": 1e-4,
        "relative_norm": 1e-4,
        "element_tolerance": 1e-2,
        "norm_tolerance": 1e-2,
        "checked": 10,
        "elements": 10,
        "not_finite": 0,
    }
    return {
        "purpose": purpose,
        "distribution": CHECK_DISTRIBUTIONS[index],
        "seed": seed.hex(),
        "passed": True,
        "late": False,
        "missing": [],
        "changed_inputs": [],
        "outputs": {"y": output},
        "run_s": 0.1,
    }


def _round(number: int) -> dict[str, Any]:
    samples = [EVENT_NS + 50 * number + offset for offset in (-200, 0, 200)]
    device = {"device_ns": DEVICE_NS + 20 * number, "activities": 3.0, "calls": 50, "tampered": False}
    return round_record(number, 4711, {"samples": samples, "tampered": False, "host_ns": 40_000}, device)


def _instant(moment: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
