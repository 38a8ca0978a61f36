"""The audit trail, its check, the public log, the roles, and the queue of impossible runs."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from attestations.accounts.deletion import delete_account
from attestations.accounts.hooks import Statements
from attestations.models import AuditEntry, Step
from attestations.moderation.queues import below_floor
from attestations.services import audit, moderation, office
from runs import outbox
from runs.models import OutboxEntry
from tests.attestations.conftest import signed_in, waiting

pytestmark = pytest.mark.django_db

TABLES = ("attestations_auditentry", "attestations_step")


@pytest.fixture
def trail(ada, bob, run, moderator):
    """Three entries."""
    made = waiting(ada, run)
    for action in ("publish", "hide", "unhide"):
        moderation.decide_statement(moderator, made.id, action, reason=f"Because {ada.email} {action}.")
    return list(AuditEntry.objects.order_by("sequence"))


def test_an_entry_says_who_what_before_after_and_why(trail, moderator, run):
    entry = trail[0]
    assert (entry.actor, entry.action, entry.run_id) == (moderator, "publish", run.id)
    assert (entry.before, entry.after) == ({"state": "waiting"}, {"state": "published"})
    assert [each.previous for each in trail] == [audit.FIRST, trail[0].hash, trail[1].hash]


@pytest.mark.parametrize("table", TABLES)
def test_the_database_refuses_to_change_or_delete(trail, table):
    assert Step.objects.exists()
    statements = [f"DELETE FROM {table}", f"UPDATE {table} SET reason = 'another'"]
    if connection.vendor == "postgresql":
        statements.append(f"TRUNCATE {table}")
        with connection.cursor() as cursor:  # no foreign key check of the fixture's own is pending
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for statement in statements:
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def past_the_triggers(*statements: str) -> None:
    """What somebody with the rights of the database's owner could do."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("ALTER TABLE attestations_auditentry DISABLE TRIGGER USER")
        else:
            for event in ("update", "delete"):
                cursor.execute(f"DROP TRIGGER attestations_auditentry_no_{event}")
        for statement in statements:
            cursor.execute(statement)


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE attestations_auditentry SET reason = 'another' WHERE sequence = 2",
        "UPDATE attestations_auditentry SET actor_id = NULL WHERE sequence = 2",
        "UPDATE attestations_auditentry SET action = 'reject' WHERE sequence = 3",
        "DELETE FROM attestations_auditentry WHERE sequence = 2",
        "DELETE FROM attestations_auditentry WHERE sequence = 1",
        "UPDATE attestations_auditentry SET hash = previous WHERE sequence = 1",
    ],
)
def test_whoever_gets_past_the_triggers_is_noticed(trail, tampering):
    call_command("verify_audit")
    past_the_triggers(tampering)
    with pytest.raises(CommandError, match="tampered"):
        call_command("verify_audit")


def test_an_end_that_was_cut_off_is_noticed_by_who_kept_the_last_hash(trail, capsys):
    number, last = audit.head()
    assert number == 3
    call_command("verify_audit", contains=last)
    assert last in capsys.readouterr().out
    past_the_triggers("DELETE FROM attestations_auditentry WHERE sequence = 3")
    call_command("verify_audit")
    with pytest.raises(CommandError):
        call_command("verify_audit", contains=last)


def test_the_chain_holds_after_a_person_left(trail, ada, moderator):
    delete_account(ada, Statements.WITHDRAW)
    delete_account(moderator, Statements.KEEP)
    call_command("verify_audit")


def test_the_public_log_names_acts_and_no_persons(trail, client, run, ada, moderator):
    page = client.get(reverse("moderation-log"))
    text = page.content.decode()
    for word in ("publish", "unhide", str(run.id)):
        assert word in text
    for person in (ada, moderator):
        assert person.username not in text
        assert person.email not in text
    assert "Because" not in text
    listed = client.get(reverse("moderation-log"), headers={"Accept": "application/json"}).json()
    assert [row["sequence"] for row in listed["rows"]] == [3, 2, 1]
    assert set(listed["rows"][0]) == {"sequence", "action", "subject", "run", "public_reason", "at"}


def test_the_log_goes_on_where_a_page_ends(client, moderator, run):
    for number in range(52):
        audit.record(moderator, "explain_floor", "run", run.id, before={}, after={}, reason=str(number), run=run.id)
    page = client.get(reverse("moderation-log")).content.decode()
    assert "?below=3" in page
    assert client.get(reverse("moderation-log"), {"below": "3"}).status_code == 200
    for wrong in ("x", "-1", "٣", "9" * 30):
        assert client.get(reverse("moderation-log"), {"below": wrong}).status_code == 404


def test_roles_are_what_they_are_after_every_migration(db):
    moderator, administrator = (
        set(Group.objects.get(name=name).permissions.values_list("codename", flat=True))
        for name in ("moderator", "administrator")
    )
    assert {"moderate", "suspend_person", "view_run", "view_evidencelevel"} <= moderator
    assert administrator - moderator == {"redact", "appoint"}
    for codename in administrator:
        assert not codename.startswith(("add_", "change_", "delete_")), codename


def test_impossible_runs_wait_until_one_confirms_or_explains(run, other_run, moderator, monkeypatch):
    for each in (run, other_run):
        outbox.announce("below_floor", each, {"value": 1, "floor": 2.0, "impossible": 1.5}, timezone.now())
    desk = signed_in(moderator)
    page = desk.get(reverse("admin:floor-queue")).content.decode()
    assert run.title in page
    assert "impossible below 1.5 ns" in page
    desk.post(reverse("admin:floor-queue"), {"run": run.id, "decision": "explain", "reason": "The cache holds it."})
    assert list(below_floor()) == [other_run]
    # Publication looks for itself: this run is not below the floor, whoever says so.
    desk.post(reverse("admin:floor-queue"), {"run": other_run.id, "decision": "confirm", "reason": "Impossible."})
    assert list(below_floor()) == [other_run]
    monkeypatch.setattr("runs.floor.is_below", lambda _: True)
    desk.post(reverse("admin:floor-queue"), {"run": other_run.id, "decision": "confirm", "reason": "Impossible."})
    assert list(below_floor()) == []
    other_run.standing.refresh_from_db()
    assert other_run.standing.rank is None
    assert OutboxEntry.objects.filter(topic="below_floor_confirmed").exists()
    for wrong in ({}, {"run": "x", "decision": "confirm"}, {"run": run.id, "decision": "delete", "reason": "x"}):
        assert desk.post(reverse("admin:floor-queue"), wrong).status_code == 302
    assert set(AuditEntry.objects.values_list("action", flat=True)) == {"explain_floor", "confirm_floor"}


def test_an_unexplained_decision_on_the_floor_is_none(run, moderator):
    from attestations.refusals import Refused

    with pytest.raises(Refused, match="needs a reason"):
        office.explain_floor(moderator, run, reason=" ")
