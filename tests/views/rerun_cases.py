"""Claims on an H200 that were rerun, each with another outcome, published as a runner's signed results are."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from runs.manifests.bundle import Record
from runs.models import Rerun, Run, Signer
from runs.publication import decide_signer, publish, publish_rerun, register_signer
from runs.reruns import queue
from runs.reruns.dispatch import dispatch
from runs.reruns.documents.envelope import envelope_digest
from runs.reruns.documents.exchange import sign_result, verify_result
from runs.reruns.documents.result import Result
from runs.reruns.harness.batch import HARNESS_VERSION
from runs.reruns.harness.seeds import derive_seed
from runs.reruns.keyring import key_set
from runs.reruns.progress import Progress
from tests import factories
from tests.reruns import examples

PACKAGES = {"liger-kernel": "0.8.5", "torch": "2.11.0+cu130", "triton": "3.6.0"}
H200 = factories.manifest(
    "ExecutionEnvironment",
    "nvidia-h200",
    {
        "hardware": {"vendor": "nvidia", "product": "NVIDIA H200", "architecture": "sm_90"},
        "software": {
            "driver": "580.159.04",
            "framework": {"name": "torch", "version": PACKAGES["torch"]},
            "libraries": {"triton": PACKAGES["triton"]},
        },
    },
    title="H200",
)
HOST = {
    **examples.environment(),
    "spec": {
        "hardware": {"vendor": "nvidia", "product": "NVIDIA H200", "architecture": "sm_90"},
        "software": {"driver": "580.200.01", "operatingSystem": "Debian 12"},
    },
}
CLAIM = 100_000
EVIL = '<script>alert("x")</script>'


@dataclass(frozen=True)
class Runners:
    """The keys that the tests' reruns are signed with."""

    dispatcher: Signer
    runner: Signer
    other: Signer


def register() -> Runners:
    """A dispatcher and two runners of different operators, all approved."""
    signers = []
    for key, entry in (
        (examples.DISPATCHER, examples.DISPATCHER_ENTRY),
        (examples.RUNNER, examples.RUNNER_ENTRY),
        (examples.OTHER_RUNNER, {**examples.RUNNER_ENTRY, "name": "h200-b", "operator": f"Somebody {EVIL}"}),
    ):
        signer = register_signer(key.describe(entry), actor="An administrator", reason="A host of ours.")
        decide_signer(signer.name, "approve", actor="An administrator", reason="Calibrated.")
        signers.append(signer)
    return Runners(*signers)


def claim(channels: int, provider: str = "liger") -> Run:
    """A published claim of 100 µs about GroupNorm with so many channels."""
    workload = factories.workload(channels)
    identifier = f"batch128-channels{channels}"
    run = factories.run(
        factories.LIGER,
        workload,
        name=f"claim-{channels}-{provider}",
        title=f"GroupNorm · {provider} · backward",
        median=CLAIM,
        observed_at="2026-05-01T00:00:00.000Z",
        environment=H200,
        sourceNative={
            "source": "liger-kernel-bench",
            "benchmark": "group_norm/backward",
            "externalId": f"group_norm/backward/{provider}/nvidia-h200/{identifier}",
            "metrics": {"ms_50": CLAIM / 1e6},
        },
        metadata={"labels": {"liger_version": "0.8.5"}},
    )
    subjects = (*factories.SUBJECTS, Record(H200), Record(workload))
    publish(factories.bundle(run, subjects=subjects))
    return Run.objects.get(digest=factories.digest(run))


def approved(run: Run) -> Rerun:
    return queue.approve(run, requested_by="asker", approved_by="moderator")


def queued(run: Run) -> Rerun:
    """A rerun whose job is signed."""
    rerun = approved(run)
    dispatch(examples.DISPATCHER, budget=10_000)
    rerun.refresh_from_db()
    assert rerun.state == "queued"
    return rerun


def say(rerun: Rerun, done: int) -> None:
    """A runner says that it has timed so many of 60 processes."""
    assert queue.heard(Progress.read({"jobs": [rerun.job_digest], "phase": "timing", "done": done, "of": 60})) == 1


def result_of(rerun: Rerun, key: Any = examples.RUNNER, runner: str = "h200-a", **changes: Any) -> dict[str, Any]:
    """The signed result of a queued rerun; `changes` go into the document."""
    envelope = json.loads(rerun.job)
    digest = envelope_digest(envelope)
    job = examples_job(envelope)
    now = timezone.now()
    document = {
        **examples.result_document(digest),
        "jobId": job["jobId"],
        "nonce": job["nonce"],
        "runner": runner,
        "acceptedAt": _instant(now - timedelta(minutes=2)),
        "finishedAt": _instant(now),
        "executed": {
            "recipe": job["recipe"],
            "schedule": {"warmup_ms": 25, "grad_to_none": ["x"]},
            "harnessVersion": HARNESS_VERSION,
            "packages": PACKAGES,
        },
        "environment": HOST,
        "correctness": correctness(digest, job["siteSalt"]),
        "batch": batch(str(rerun.id)),
        **changes,
    }
    return sign_result(Result.read(document), key)


def examples_job(envelope: Mapping[str, Any]) -> dict[str, Any]:
    """The predicate of a signed job."""
    from runs.reads.reruns.documents import stored

    return stored(json.dumps(envelope)).predicate


def correctness(digest: str, salt: str, value: float = 1e-4) -> dict[str, Any]:
    """Checks whose seeds follow from the job's own salt."""
    found = examples.correctness(digest, value)
    for check in found["checks"]:
        seed = derive_seed(
            bytes.fromhex(found["runnerBytes"]),
            site_salt=bytes.fromhex(salt),
            job_digest=digest,
            purpose=check["purpose"],
        )
        check["seed"] = seed.hex()
    return found


def batch(name: str, **watch: Any) -> dict[str, Any]:
    """A batch in order, with a course of telemetry."""
    base = examples.result_document("sha256:" + "0" * 64)["batch"]
    count = 80
    telemetry = {
        "atMs": [500 * place for place in range(count)],
        "smMhz": [1980 - 15 * (place % 4) for place in range(count)],
        "memoryMhz": [3201] * count,
        "celsius": [35 + place // 8 for place in range(count)],
        "watts": [120 + 380 * (1 < place % 20 < 15) for place in range(count)],
        "reasons": [0x20 if watch and 30 < place < 36 else 1 for place in range(count)],
        "others": [0] * count,
    }
    sentinels = [
        {"name": "copy", "beforeNs": 1000, "afterNs": 1010, "bandNs": [900, 1100]},
        {"name": "launch", "beforeNs": 2100, "afterNs": 2050},
    ]
    seen = {**examples.watch(**watch), "telemetry": telemetry}
    return {**base, "batchId": f"batch-{name[:20]}", "sentinels": sentinels, "watch": seen}


def processes(event: float, device: float, count: int = 5, scatter: float = 0.004) -> list[dict[str, Any]]:
    """Processes with 60 samples each around their medians, which scatter by so much to either side."""
    found = []
    for index in range(count):
        middle = event * (1 + scatter * (index % 5 - 2) / 2)
        found.append(
            {
                **examples.process(index, device=int(device)),
                "eventNs": [int(middle * (1 + 0.0004 * ((37 * place) % 60 - 30))) for place in range(60)],
                "graphNs": int(device * 1.01),
            }
        )
    return found


def publish_result(rerun: Rerun, envelope: dict[str, Any], device: str | None = "d" * 64) -> None:
    verified = verify_result(envelope, json.loads(rerun.job), key_set(), timezone.now())
    assert publish_rerun(verified, envelope, device=device, project="liger-kernel") is not None


def rerun_with(run: Run, *, key: Any = examples.RUNNER, runner: str = "h200-a", **changes: Any) -> Rerun:
    """A rerun of a run with a published result."""
    rerun = queued(run)
    publish_result(rerun, result_of(rerun, key, runner, **changes))
    rerun.refresh_from_db()
    return rerun


def _instant(moment: Any) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _reproduced(run: Run) -> Rerun:
    return rerun_with(run, processes=processes(101_000, 97_000), log=f"measured {EVIL}\n")


def _contradicted(run: Run) -> Rerun:
    return rerun_with(run, processes=processes(200_000, 190_000))


def _host_bound(run: Run) -> Rerun:
    return rerun_with(run, processes=processes(180_000, 60_000))


def _inconclusive(run: Run) -> Rerun:
    return rerun_with(run, processes=processes(105_000, 60_000, count=15, scatter=0.4))


def _incorrect(run: Run) -> Rerun:
    rerun = queued(run)
    digest = envelope_digest(json.loads(rerun.job))
    wrong = correctness(digest, examples_job(json.loads(rerun.job))["siteSalt"], value=0.5)
    publish_result(rerun, result_of(rerun, correctness=wrong, processes=[]))
    rerun.refresh_from_db()
    return rerun


def _void(run: Run) -> Rerun:
    return rerun_with(run, batch=batch("void", throttleReasons=0x21))


def _failed(run: Run) -> Rerun:
    rerun = queued(run)
    assert queue.fail(rerun.id, "out_of_memory", f"It needed 200 GiB. {EVIL}")
    rerun.refresh_from_db()
    return rerun


def _running(run: Run) -> Rerun:
    rerun = queued(run)
    say(rerun, 3)
    rerun.refresh_from_db()
    return rerun


def _expired(run: Run) -> Rerun:
    rerun = queued(run)
    Rerun.objects.filter(id=rerun.id).update(expires_at=timezone.now() - timedelta(minutes=1))
    assert queue.expire(timezone.now()) == 1
    rerun.refresh_from_db()
    return rerun


def _cancelled(run: Run) -> Rerun:
    rerun = approved(run)
    assert queue.cancel(rerun.id, detail="The claim was retracted.")
    rerun.refresh_from_db()
    return rerun


CASES: dict[str, Callable[[Run], Rerun]] = {
    "reproduced": _reproduced,
    "contradicted": _contradicted,
    "host_bound": _host_bound,
    "inconclusive": _inconclusive,
    "incorrect": _incorrect,
    "void": _void,
    "failed": _failed,
    "running": _running,
    "expired": _expired,
    "cancelled": _cancelled,
    "approved": approved,
}


def make(name: str) -> Rerun:
    """The rerun of this name, of a claim of its own."""
    return CASES[name](claim(256 + 64 * list(CASES).index(name)))
