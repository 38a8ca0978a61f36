"""Checking all stored reruns anew: signatures, seeds, verdicts, and the levels that follow from them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from django.utils import timezone

from runs.levels import derived
from runs.models import EvidenceLevel, RerunResult, Run
from runs.policy.verdict import decide
from runs.reruns.documents.assessment import facts_of
from runs.reruns.documents.bundle import published
from runs.reruns.documents.exchange import audit_result
from runs.reruns.documents.refusals import Refusal
from runs.reruns.keyring import key_set


def audit() -> Iterator[str]:
    """One line for each result that does not hold or says something else, and for each level that does not follow.

    Results of revoked keys are believed by nobody and passed over.
    """
    keys, now = key_set(), timezone.now()
    for result in RerunResult.objects.select_related("rerun", "runner").order_by("id").iterator(chunk_size=100):
        try:
            verified = audit_result(json.loads(result.envelope), json.loads(result.rerun.job), keys, now)
        except Refusal as refusal:
            if refusal.code != "KEY_REVOKED":
                yield f"RerunResult {result.id}: {refusal}"
            continue
        decision = decide(facts_of(verified.job.job, verified.result))
        if verified.digest != result.digest or verified.key.keyid != result.runner.keyid:
            yield f"RerunResult {result.id}: stored beside another envelope"
        elif str(decision.verdict) != result.verdict or published(decision).plain() != result.decision:
            yield f"RerunResult {result.id}: stored as {result.verdict}, its samples say {decision.verdict}"
    yield from _levels()


def _levels() -> Iterator[str]:
    stored = {row.run_id: (row.level, row.disputed) for row in EvidenceLevel.objects.all()}
    for run in Run.objects.filter(rerun_results__isnull=False).distinct().order_by("id").iterator(chunk_size=100):
        level = stored.pop(run.id, ("reported", False))
        if level != derived(run):
            yield f"EvidenceLevel {run.id}: stored as {level}, its reruns amount to {derived(run)}"
    for run_id, level in stored.items():
        yield f"EvidenceLevel {run_id}: stored as {level} without a rerun"
