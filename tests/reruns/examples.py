"""A small claim, its job and its result, and the keys that sign them, for the tests of the lane."""

import hashlib
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from securesystemslib.signer import CryptoSigner

from runs.manifests.manifest import parse_manifest
from runs.policy.verdict import REQUIRED_CANARIES
from runs.reruns.documents.envelope import envelope_digest
from runs.reruns.documents.exchange import sign_job, sign_result
from runs.reruns.documents.job import Job
from runs.reruns.documents.keys import KeySet, PrivateKey
from runs.reruns.documents.result import Result
from runs.reruns.harness.seeds import derive_seed

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
OPERATION = "sha256:" + "1" * 64


def instant(minutes: float = 0) -> str:
    """NOW and some minutes, as documents spell it."""
    moment = NOW + timedelta(minutes=minutes)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def manifest(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "kernelindex.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": "example"},
        "spec": spec,
    }


def manifests(claim_ns: int = 100_000) -> dict[str, Any]:
    """The five manifests of a claim on an NVIDIA H200."""
    found = {
        "workload": manifest(
            "WorkloadCase",
            {
                "operationSpecDigest": OPERATION,
                "axes": {"hidden": 4096},
                "tensors": {"x": {"shape": [4096], "dtype": "bf16"}},
                "correctness": {"comparator": "not_asserted"},
            },
        ),
        "implementation": manifest(
            "ImplementationRevision",
            {
                "projectRevision": {"version": "0.8.5"},
                "operation": {"specDigest": OPERATION},
                "callable": {"language": "triton"},
                "support": {"hardwareArchitectures": [], "dtypes": []},
                "licensing": {},
            },
        ),
        "protocol": manifest(
            "BenchmarkProtocol",
            {
                "harness": {"name": "scripts"},
                "measurement": {"timer": "cuda_events", "primaryStatistic": "median"},
            },
        ),
        "environment": environment(),
    }
    digests = {f"{role}Digest": parse_manifest(item).digest for role, item in found.items()}
    run = {
        **digests,
        "status": "passed",
        "timing": {"primaryStatistic": "median", "latencyNs": {"median": claim_ns}},
        "observedAt": "2026-02-28T00:23:31.000Z",
    }
    return {"run": manifest("BenchmarkRun", run), **found}


def environment(product: str = "NVIDIA H200") -> dict[str, Any]:
    hardware = {"vendor": "nvidia", "product": product, "architecture": "sm_90"}
    return manifest("ExecutionEnvironment", {"hardware": hardware, "software": {}})


RECIPE = {"id": "liger-rms-norm/liger/forward", "version": 1}


def job_document(claim_ns: int = 100_000, **changes: Any) -> dict[str, Any]:
    document = {
        "jobId": "rerun-1",
        "nonce": "ab" * 32,
        "issuedAt": instant(-10),
        "expiresAt": instant(60),
        "product": "nvidia-h200",
        "recipe": RECIPE,
        "harnessVersion": "1.0",
        "implementationPackage": "liger-kernel",
        "claimedVersions": [
            {"package": "liger-kernel", "version": "0.8.5", "readFrom": "column liger_version"},
            {"package": "torch", "version": "2.11.0+cu130", "readFrom": "environment manifest"},
            {"package": "triton", "version": "3.6.0", "readFrom": "environment manifest"},
        ],
        "siteSalt": "cd" * 32,
        "limits": {"seconds": 480, "memoryBytes": 2**34, "logCharacters": 1000},
        "manifests": manifests(claim_ns),
    }
    return {**document, **changes}


def correctness(job_digest: str, value: float = 1e-4) -> dict[str, Any]:
    checks = []
    for index, distribution in enumerate(("normal", "hard", "normal")):
        purpose = f"check/{index}"
        seed = derive_seed(
            bytes.fromhex("ef" * 32), site_salt=bytes.fromhex("cd" * 32), job_digest=job_digest, purpose=purpose
        )
        checks.append(
            {
                "purpose": purpose,
                "seed": seed.hex(),
                "distribution": distribution,
                "differences": [
                    {
                        "output": "y",
                        "dtype": "bf16",
                        "metric": "scaled_error",
                        "value": value,
                        "tolerance": 1e-2,
                        "checked": 4096,
                        "elements": 4096,
                    }
                ],
                "faults": [],
            }
        )
    return {"runnerBytes": "ef" * 32, "checks": checks}


def process(index: int, event: int = 100_000, device: int = 95_000) -> dict[str, Any]:
    """Three samples of event time around its median, and device time."""
    return {
        "index": index,
        "eventNs": [event - 500, event + 100 * index, event + 700],
        "deviceNs": device + 50 * index,
        "deviceCalls": 50,
        "deviceActivities": 1,
        "hostNs": 40_000,
        "void": [],
    }


def result_document(job_digest: str, **changes: Any) -> dict[str, Any]:
    document = {
        "jobDigest": job_digest,
        "jobId": "rerun-1",
        "nonce": "ab" * 32,
        "runner": "h200-a",
        "product": "nvidia-h200",
        "acceptedAt": instant(-5),
        "finishedAt": instant(-1),
        "executed": {
            "recipe": RECIPE,
            "schedule": {"warmup_ms": 25, "grad_to_none": ["x"]},
            "harnessVersion": "1.0",
            "packages": {"liger-kernel": "0.8.5", "torch": "2.11.0+cu130", "triton": "3.6.0"},
        },
        "environment": environment(),
        "processes": [process(index) for index in range(5)],
        "correctness": correctness(job_digest),
        "batch": {
            "batchId": "batch-1",
            "jobs": 3,
            "canaries": [{"name": name, "caught": True} for name in sorted(REQUIRED_CANARIES)],
            "sentinels": [{"name": "copy", "beforeNs": 1000, "afterNs": 1010, "bandNs": [900, 1100]}],
            "watch": watch(),
        },
        "log": "measured\n",
    }
    return {**document, **changes}


def watch(**changes: Any) -> dict[str, Any]:
    """Twenty samples a second over 40 s in which nothing happened."""
    names = ("atMs", "smMhz", "memoryMhz", "celsius", "watts", "reasons", "others")
    quiet = {"samples": 800, "seconds": 40.0, "throttleReasons": 1, "samplesWithCompany": 0}
    return {**quiet, "telemetry": {name: [1, 2] for name in names}, **changes}


def private_key(seed: str) -> PrivateKey:
    """A key that is the same in every test, so that failures repeat."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return PrivateKey(CryptoSigner(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(seed.encode()).digest())))


DISPATCHER = private_key("dispatcher")
RUNNER = private_key("runner")
OTHER_RUNNER = private_key("other runner")
DISPATCHER_ENTRY = {"role": "dispatcher", "name": "site", "validFrom": instant(-10_000)}
RUNNER_ENTRY = {
    "role": "runner",
    "name": "h200-a",
    "operator": "KernelIndex",
    "product": "nvidia-h200",
    "validFrom": instant(-10_000),
}


def key_set(runner: dict[str, Any] | None = None, dispatcher: dict[str, Any] | None = None) -> KeySet:
    """The published keys, with changes to the entry of the runner or the dispatcher."""
    entries = [
        DISPATCHER.describe({**DISPATCHER_ENTRY, **(dispatcher or {})}),
        RUNNER.describe({**RUNNER_ENTRY, **(runner or {})}),
        OTHER_RUNNER.describe({**RUNNER_ENTRY, "name": "h200-b", "operator": "Somebody else"}),
    ]
    return KeySet.read({"version": 1, "keys": [entry.plain() for entry in entries]})


KEYS = key_set()


@dataclass(frozen=True)
class Exchange:
    """A signed job and its signed result."""

    job: dict[str, Any]
    result: dict[str, Any]

    def copies(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both, to be tampered with: (result, job)."""
        return deepcopy(self.result), deepcopy(self.job)


def signed_job(key: PrivateKey = DISPATCHER, claim_ns: int = 100_000, **changes: Any) -> dict[str, Any]:
    return sign_job(Job.read(job_document(claim_ns, **changes)), key)


def exchange(key: PrivateKey = RUNNER, job: dict[str, Any] | None = None, **changes: Any) -> Exchange:
    """A job and a result for it; `changes` go into the result."""
    job = job or signed_job()
    return Exchange(job, sign_result(Result.read(result_document(envelope_digest(job), **changes)), key))
