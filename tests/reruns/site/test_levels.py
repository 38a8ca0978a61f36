"""A level comes from signed reruns alone; whoever tries to set one by another door is refused by the database."""

from __future__ import annotations

import time
import uuid
from itertools import product

import pytest
from django.contrib.auth import get_user_model
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from runs.models import EvidenceLevel, OutboxEntry, Rerun, RerunResult, Run, Signer, SignerDecision
from runs.publication import decide_signer, register_signer
from runs.refusals import PublicationRefused
from runs.reruns.intake import Taken, take
from tests.reruns import examples
from tests.reruns.site.cases import message
from tests.views import rerun_cases as lane

REFUSED = "controlled rerun"
LEVELS = ("verified", "replicated", "gold", "reported", "")


def level(run) -> tuple[str, bool]:
    found = EvidenceLevel.objects.filter(run=run).first()
    return (found.level, found.disputed) if found else ("reported", False)


def rerun(run, **changes) -> RerunResult:
    """A rerun of the run with its published result."""
    queued = lane.queued(run)
    assert take(message(queued, **changes)) is Taken.PUBLISHED
    return RerunResult.objects.get(rerun=queued)


def other(run, gpu="GPU-2", **changes) -> RerunResult:
    """A rerun by another operator."""
    return rerun(run, key=examples.OTHER_RUNNER, runner="h200-b", gpu=gpu, **changes)


def contradicted(run, **changes) -> RerunResult:
    result = rerun(run, processes=lane.processes(200_000, 190_000), **changes)
    assert result.verdict == "contradicted"
    return result


def forge(run, name, disputed=False) -> None:
    """Try every door; each is refused."""
    values = {"level": name, "disputed": disputed, "since": timezone.now()}
    with pytest.raises(DatabaseError, match=REFUSED), transaction.atomic():
        EvidenceLevel.objects.create(run=run, **values)
    with pytest.raises(DatabaseError, match=REFUSED), transaction.atomic():
        EvidenceLevel.objects.bulk_create([EvidenceLevel(run=run, **values)])
    with pytest.raises(DatabaseError, match=REFUSED), transaction.atomic():
        EvidenceLevel.objects.update_or_create(run=run, defaults=values)
    insert = "INSERT INTO runs_evidencelevel (run_id, level, disputed, since) VALUES (%s, %s, %s, %s)"
    with pytest.raises(DatabaseError, match=REFUSED), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(insert, [_key(run.id), name, disputed, timezone.now()])


def _key(value: uuid.UUID) -> object:
    return value if connection.vendor == "postgresql" else value.hex


def change(run, name, disputed=False) -> None:
    """Try to change the row that is there."""
    with pytest.raises(DatabaseError, match=REFUSED), transaction.atomic():
        EvidenceLevel.objects.filter(run=run).update(level=name, disputed=disputed)
    with pytest.raises(DatabaseError, match=REFUSED), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_evidencelevel SET level = %s, disputed = %s WHERE run_id = %s", [name, disputed, _key(run.id)]
        )


@pytest.mark.parametrize(("name", "disputed"), list(product(LEVELS, (False, True))))
def test_without_a_rerun_no_level_and_no_dispute_can_be_set(run, name, disputed):
    forge(run, name, disputed)


@pytest.mark.parametrize(
    "changes",
    [
        {"processes": lane.processes(180_000, 60_000)},
        {"processes": lane.processes(60_000, 50_000)},
        {"batch": lane.batch("void", throttleReasons=0x21)},
    ],
    ids=["host-bound", "faster", "void"],
)
def test_a_rerun_that_did_not_reproduce_carries_no_level(run, changes):
    rerun(run, **changes)
    assert level(run) == ("reported", False)
    forge(run, "verified")
    forge(run, "replicated")
    forge(run, "reported", disputed=True)


def test_one_reproduction_verifies_and_carries_no_more(run):
    rerun(run)
    assert level(run) == ("verified", False)
    change(run, "replicated")
    change(run, "verified", disputed=True)
    change(run, "gold")


def test_a_level_cannot_be_moved_to_another_run(run):
    rerun(run)
    stranger = lane.claim(128)
    with pytest.raises(DatabaseError, match=REFUSED), transaction.atomic():
        EvidenceLevel.objects.filter(run=run).update(run=stranger)


def test_replication_needs_two_operators_and_two_devices(run):
    rerun(run)
    rerun(run, gpu="GPU-2")
    assert level(run) == ("verified", False)  # two devices, one operator
    change(run, "replicated")


def test_one_device_in_two_hands_is_no_replication(run):
    rerun(run)
    other(run, gpu="GPU-1")
    assert level(run) == ("verified", False)
    change(run, "replicated")


def test_two_operators_on_two_devices_replicate(run):
    rerun(run)
    other(run)
    assert level(run) == ("replicated", False)
    topics = OutboxEntry.objects.filter(run=run, topic__in=("verified", "replicated")).order_by("id")
    assert [entry.topic for entry in topics] == ["verified", "replicated"]


def test_a_contradiction_disputes_and_takes_the_level_away(run):
    rerun(run)
    contradicted(run)
    assert level(run) == ("reported", True)
    change(run, "verified")
    change(run, "replicated")
    EvidenceLevel.objects.filter(run=run).delete()
    forge(run, "verified")


def test_revoking_a_runner_takes_every_level_that_rested_on_it(run):
    second = lane.claim(128)
    rerun(run)
    rerun(second)
    other(second)
    assert (level(run), level(second)) == (("verified", False), ("replicated", False))
    decide_signer("h200-a", "revoke", actor="An administrator", reason="The key was lost.")
    assert (level(run), level(second)) == (("reported", False), ("verified", False))
    forge(run, "verified")
    change(second, "replicated")
    assert OutboxEntry.objects.filter(run=run, topic="reported").count() == 1


def test_a_suspension_leaves_levels_alone(run):
    rerun(run)
    decide_signer("h200-a", "suspend", actor="An administrator", reason="Maintenance.")
    assert level(run) == ("verified", False)


def test_revoking_the_runner_that_disputes_does_not_end_the_dispute(run):
    other(run)
    contradicted(run)
    decide_signer("h200-a", "revoke", actor="An administrator", reason="The key was lost.")
    assert level(run) == ("reported", True)
    change(run, "verified")
    time.sleep(0.002)  # documents tell milliseconds apart
    other(run)
    assert level(run) == ("verified", False)


def test_a_rerun_touches_the_page_of_its_run(run):
    before = run.standing.version
    rerun(run)
    run.standing.refresh_from_db()
    assert run.standing.version > before


# A result is evidence: it cannot be changed, and none can be put beside those that reruns ended with.


def test_a_result_cannot_be_turned_into_another(run):
    result = rerun(run, processes=lane.processes(180_000, 60_000))
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        RerunResult.objects.filter(id=result.id).update(verdict="reproduced")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE runs_rerunresult SET verdict = 'reproduced'")


def forged_result(run, **changes) -> RerunResult:
    now = timezone.now()
    runner = Signer.objects.get(name="h200-a")
    values = {
        "run": run,
        "runner": runner,
        "operator": runner.operator,
        "device": "d" * 64,
        "digest": "sha256:" + "9" * 64,
        "envelope": "{}",
        "verdict": "reproduced",
        "decision": {},
        "hardware_equal": True,
        "claim": 1.0,
        "finished_at": now,
        "published_at": now,
        **changes,
    }
    return RerunResult(**values)


def test_no_result_can_be_put_beside_the_one_of_a_rerun(run):
    result = rerun(run)
    with pytest.raises(DatabaseError), transaction.atomic():
        forged_result(run, rerun=result.rerun).save(force_insert=True)


@pytest.mark.parametrize("state", ["approved", "queued", "running", "failed", "cancelled", "expired"])
def test_no_result_can_be_put_beside_a_rerun_that_did_not_end_with_one(run, state):
    open_ = Rerun.objects.create(
        run=run, product="nvidia-h200", state=state, created_at=timezone.now(), requested_by="a", approved_by="b"
    )
    with pytest.raises(DatabaseError, match="rerun result"), transaction.atomic():
        forged_result(run, rerun=open_).save(force_insert=True)


def test_a_key_that_nobody_approved_has_no_results(run):
    key = examples.private_key("new")
    register_signer(key.describe({**examples.RUNNER_ENTRY, "name": "new"}), actor="a", reason="r")
    new = Signer.objects.get(name="new")
    done = Rerun.objects.create(run=run, product="nvidia-h200", state="done", created_at=timezone.now(), runner=new)
    with pytest.raises(DatabaseError, match="rerun result"), transaction.atomic():
        forged_result(run, rerun=done, runner=new).save(force_insert=True)


def test_a_result_of_another_run_carries_nothing(run):
    result = rerun(run)
    stranger = lane.claim(128)
    with pytest.raises(DatabaseError), transaction.atomic():
        forged_result(stranger, rerun=result.rerun).save(force_insert=True)
    forge(stranger, "verified")


# Keys and their decisions.


def test_nobody_approves_the_key_of_a_runner_that_they_operate(db):
    key = examples.private_key("own")
    register_signer(key.describe({**examples.RUNNER_ENTRY, "name": "own", "operator": "Ann"}), actor="Bob", reason="r")
    with pytest.raises(PublicationRefused, match="operate themselves"):
        decide_signer("own", "approve", actor="ann", reason="Mine.")
    decide_signer("own", "approve", actor="Bob", reason="Hers.")


@pytest.mark.parametrize(
    "decisions", [["resume"], ["approve", "approve"], ["approve", "revoke", "resume"], ["suspend"], ["promote"]]
)
def test_a_decision_has_to_follow_from_the_state_of_the_key(db, decisions):
    register_signer(examples.RUNNER.describe(examples.RUNNER_ENTRY), actor="a", reason="r")
    *before, last = decisions
    for decision in before:
        decide_signer("h200-a", decision, actor="a", reason="r")
    with pytest.raises(PublicationRefused):
        decide_signer("h200-a", last, actor="a", reason="r")


def test_decisions_cannot_be_undone_in_the_database(run):
    decide_signer("h200-a", "revoke", actor="An administrator", reason="Lost.")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        SignerDecision.objects.filter(decision="revoke")._raw_delete("default")


# The admin.


@pytest.mark.parametrize("model", [EvidenceLevel, RerunResult, Rerun, Signer, SignerDecision])
def test_the_admin_offers_nobody_a_way_to_write(run, model):
    rerun(run)
    user = get_user_model().objects.create_superuser(username="root", email="root@example.org", password="x")
    client = Client()
    client.force_login(user)
    row = model._default_manager.first()
    base = f"admin:runs_{model._meta.model_name}"
    for name, arguments in (("add", ()), ("change", (row.pk,)), ("delete", (row.pk,))):
        try:
            path = reverse(f"{base}_{name}", args=arguments)
        except NoReverseMatch:
            continue  # the model is not in the admin at all
        assert client.post(path, {"level": "replicated", "state": "done"}).status_code in (302, 403, 404)
    row_after = model._default_manager.get(pk=row.pk)
    assert {f.attname: getattr(row_after, f.attname) for f in model._meta.concrete_fields} == {
        f.attname: getattr(row, f.attname) for f in model._meta.concrete_fields
    }


def test_the_triggers_are_those_of_the_last_migration(run):
    """A later migration that makes a table anew would drop them silently on SQLite."""
    if connection.vendor == "sqlite":
        query = "SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger'"
    else:
        query = "SELECT DISTINCT event_object_table, trigger_name FROM information_schema.triggers"
    with connection.cursor() as cursor:
        cursor.execute(query)
        guarded = {table for table, _ in cursor.fetchall()}
    assert {
        "runs_evidencelevel",
        "runs_rerunresult",
        "runs_rerunrun",
        "runs_signer",
        "runs_signerdecision",
        "runs_calibration",
    } <= guarded
    assert Run.objects.exists()
