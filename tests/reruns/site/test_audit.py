"""`verify_catalog` checks every stored rerun anew."""

from __future__ import annotations

import pytest
from django.db import connection

from runs.models import EvidenceLevel, RerunResult
from runs.publication import decide_signer
from runs.reruns.audit import audit
from runs.reruns.intake import take
from tests.reruns.site.cases import message
from tests.views import rerun_cases as lane


@pytest.fixture
def result(rerun):
    take(message(rerun))
    return RerunResult.objects.get()


def tamper(result, **changes) -> None:
    """What somebody could do who may alter the schema."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER runs_rerunresult_no_update")
        else:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # no check of the fixtures' is pending
            cursor.execute("ALTER TABLE runs_rerunresult DISABLE TRIGGER runs_rerunresult_append_only")
    RerunResult.objects.filter(id=result.id).update(**changes)


def test_reruns_that_hold_are_passed_over(result):
    assert list(audit()) == []


def test_a_changed_verdict_is_found(result):
    tamper(result, verdict="contradicted")
    assert "its samples say reproduced" in next(audit())


def test_a_changed_envelope_is_found(result):
    tamper(result, envelope=result.envelope.replace('"sig": "', '"sig": "A', 1).replace('=="}]', '="}]'))
    assert f"RerunResult {result.id}" in next(audit())


def test_a_level_that_does_not_follow_is_found(result):
    EvidenceLevel.objects.all().delete()
    (line,) = audit()
    assert "its reruns amount to ('verified', False)" in line


def test_a_revoked_runner_is_passed_over_and_its_levels_are_gone(result):
    decide_signer("h200-a", "revoke", actor="a", reason="r")
    assert list(audit()) == []


def test_a_dispute_is_no_fault(run):
    take(message(lane.queued(run), processes=lane.processes(200_000, 190_000)))
    assert list(audit()) == []
