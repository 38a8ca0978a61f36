"""Recomputing what the database says: digests from manifests, comparison keys from digests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from runs.manifests.canonical import canonical_json, object_digest
from runs.manifests.keys import comparison_key, correctness_key, metric_key, primary_measurement
from runs.models import Environment, Implementation, Operation, Project, Protocol, Redaction, Run, Workload
from runs.reruns.audit import audit

TABLES = (Project, Operation, Workload, Implementation, Protocol, Environment, Run)


def verify(advance: Callable[[int], None]) -> Iterator[str]:
    """One line for each record that is not what its digest or key says. `advance` is called with 1 a record."""
    for model in TABLES:
        rows = model._default_manager.values_list("id", "digest", "canonical").iterator(chunk_size=500)
        for id_, digest, canonical in rows:
            advance(1)
            if not canonical:
                if not Redaction.objects.filter(run=id_, digest=digest).exists():
                    yield f"{model.__name__} {id_}: its manifest is gone, and no tombstone says why"
                continue
            document = json.loads(canonical)
            computed = object_digest(document)
            if computed != digest:
                yield f"{model.__name__} {id_}: stored as {digest}, its manifest digests to {computed}"
            elif canonical_json(document).decode() != canonical:
                yield f"{model.__name__} {id_}: its manifest is not stored in canonical form"
    yield from _keys()
    yield from audit()


def _keys() -> Iterator[str]:
    correctness: dict[str, str] = {}
    for run in Run.objects.exclude(canonical="").select_related("workload", "operation").iterator(chunk_size=500):
        spec = json.loads(run.canonical)["spec"]
        workload = run.workload
        if workload.digest not in correctness:
            correctness[workload.digest] = correctness_key(json.loads(workload.canonical)["spec"])
        computed = comparison_key(
            operation=run.operation.digest,
            workload=spec["workloadDigest"],
            protocol=spec["protocolDigest"],
            environment=spec["environmentDigest"],
            correctness=correctness[workload.digest],
            metric=metric_key(primary_measurement(spec)),
        )
        if computed != run.comparison_key:
            yield f"Run {run.id}: stored under comparison key {run.comparison_key}, its key is {computed}"
