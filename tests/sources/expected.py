"""What a bundle's runs are identified by, to compare with what is expected."""

from __future__ import annotations

from typing import Any

from runs.manifests.bundle import Bundle
from runs.manifests.canonical import manifest_digest
from runs.manifests.keys import comparison_key, correctness_key, metric_key, primary_measurement

REFERENCES = ("implementation", "workload", "protocol", "environment")


def manifests(bundle: Bundle) -> dict[str, dict[str, Any]]:
    """The manifests of a bundle by digest."""
    return {manifest_digest(record.manifest): record.manifest for record in bundle.records}


def identities(bundle: Bundle) -> dict[str, dict[str, str]]:
    """By external id the digest of each run, of all that it refers to, and its comparison key."""
    known = manifests(bundle)
    return {
        manifest["spec"]["sourceNative"]["externalId"]: _identity(digest, manifest["spec"], known)
        for digest, manifest in known.items()
        if manifest["kind"] == "BenchmarkRun"
    }


def _identity(digest: str, run: dict[str, Any], known: dict[str, dict[str, Any]]) -> dict[str, str]:
    digests = {name: run[f"{name}Digest"] for name in REFERENCES}
    assert digests.keys() == {name for name in REFERENCES if digests[name] in known}
    workload = known[digests["workload"]]["spec"]
    operation = workload["operationSpecDigest"]
    assert known[digests["implementation"]]["spec"]["operation"]["specDigest"] == operation
    key = comparison_key(
        operation=operation,
        workload=digests["workload"],
        protocol=digests["protocol"],
        environment=digests["environment"],
        correctness=correctness_key(workload),
        metric=metric_key(primary_measurement(run)),
    )
    return {"run": digest, "operation": operation, **digests, "comparison_key": key}
