"""Runs that are faster than their hardware could be, from their publication to a moderator's finding."""

import pytest
from django.db import DatabaseError, transaction

from runs.floor import below_floor, is_below
from runs.models import FloorConfirmation, OutboxEntry, Run
from runs.outbox import announce_below_floor
from runs.publication import confirm_below_floor, publish
from runs.refusals import PublicationRefused
from tests import factories
from tests.floor import IMPOSSIBLE, POSSIBLE, impossible_bundle

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs():
    publish(impossible_bundle())
    return [Run.objects.get(digest=factories.digest(manifest)) for manifest in (IMPOSSIBLE, POSSIBLE)]


def columns():
    return list(Run.objects.values())


def test_only_the_impossible_run_is_below_the_floor(runs):
    impossible, possible = runs
    [found] = below_floor(columns())
    assert (found.run, found.value) == (impossible.id, impossible.value)
    assert found.floor.impossible_ns > found.value
    assert (is_below(impossible), is_below(possible)) == (True, False)


def test_a_run_that_did_not_pass_is_not_looked_at():
    failed = {**IMPOSSIBLE, "spec": {**IMPOSSIBLE["spec"], "status": "incorrect_numerical"}}
    publish(impossible_bundle(failed))
    assert below_floor(columns()) == []


def test_a_group_of_runs_takes_four_statements(runs, django_assert_num_queries):
    rows = columns()
    with django_assert_num_queries(4):
        below_floor(rows * 10)


def test_moderators_are_told_with_the_figures(runs):
    impossible, _ = runs
    found = below_floor(columns())
    announce_below_floor(found, impossible.published_at)
    entry = OutboxEntry.objects.filter(topic="below_floor").last()
    assert entry.run == impossible
    assert entry.payload == {
        "value": impossible.value,
        "floor": found[0].floor.ns,
        "impossible": found[0].floor.impossible_ns,
    }


def test_it_keeps_its_rank_until_a_moderator_confirms(runs):
    impossible, possible = runs
    assert impossible.standing.rank == 1
    confirm_below_floor(impossible.digest, reason="the kernel returned early", actor="moderator ann")
    for run in runs:
        run.standing.refresh_from_db()
    assert (impossible.standing.rank, impossible.standing.reasons) == (None, ["BELOW_PHYSICAL_FLOOR"])
    assert possible.standing.rank == 1
    entry = OutboxEntry.objects.get(topic="below_floor_confirmed")
    assert entry.payload == {"reason": "the kernel returned early", "actor": "moderator ann"}


@pytest.mark.parametrize(("reason", "actor"), [("", "ann"), ("early", " ")])
def test_a_confirmation_needs_a_reason_and_an_actor(runs, reason, actor):
    with pytest.raises(PublicationRefused) as refused:
        confirm_below_floor(runs[0].digest, reason=reason, actor=actor)
    assert [refusal.code for refusal in refused.value.refusals] == ["NO_REASON"]


def test_only_what_is_below_the_floor_can_be_confirmed_and_only_once(runs):
    impossible, possible = runs
    with pytest.raises(PublicationRefused) as refused:
        confirm_below_floor(possible.digest, reason="r", actor="a")
    assert [refusal.code for refusal in refused.value.refusals] == ["NOT_BELOW_FLOOR"]
    confirm_below_floor(impossible.digest, reason="r", actor="a")
    with pytest.raises(PublicationRefused) as refused:
        confirm_below_floor(impossible.digest, reason="r", actor="a")
    assert [refusal.code for refusal in refused.value.refusals] == ["ALREADY_CONFIRMED"]
    assert FloorConfirmation.objects.count() == 1


def test_the_database_keeps_a_confirmation_as_it_was_made(runs):
    confirmation = confirm_below_floor(runs[0].digest, reason="r", actor="a")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        FloorConfirmation.objects.filter(id=confirmation.id).update(reason="another")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        confirmation.delete()
