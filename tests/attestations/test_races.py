"""What several people do at the same moment, on a database that their threads share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import dj_database_url
import pytest
from django.db import connections

from attestations.models import AuditEntry, Statement
from attestations.refusals import Refused
from attestations.services import audit, moderation, reports, statements
from attestations.values import Content, ReportContent
from runs.models import Run
from runs.publication import publish
from tests.attestations.conftest import person, waiting
from tests.factories import seed_bundle


@pytest.fixture
def shared(database, django_db_blocker) -> Iterator[Run]:
    """A database of its own, that this thread and others write to and commit; with the seed page's run in it."""
    before, own = connections.settings["default"], dj_database_url.parse(database.url)
    connections.settings["default"] = {**before, "NAME": own["NAME"]}
    kept = connections["default"]
    connections["default"] = connections.create_connection("default")
    with django_db_blocker.unblock():
        try:
            publish(seed_bundle())
            yield Run.objects.get(digest__startswith="sha256:5cde9b90d5f90633")
        finally:
            connections["default"].close()
            connections["default"] = kept
            connections.settings["default"] = before


def at_once(count: int, act: Callable[[int], object]) -> list[str]:
    """What happens when this many threads act at the same moment: for each a code of refusal, or "done"."""
    start = threading.Barrier(count)

    def one(number: int) -> str:
        try:
            start.wait(timeout=30)
            act(number)
            return "done"
        except Refused as refused:
            return refused.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return sorted(pool.map(one, range(count)))


def test_limits_hold_for_what_comes_at_once(shared):
    ada = person("ada")
    assert at_once(4, lambda _: waiting(ada, shared)) == ["TWICE", "TWICE", "TWICE", "done"]
    for number in range(17):
        waiting(ada, shared, kind="environment_note", note=str(number))
    found = at_once(6, lambda number: waiting(ada, shared, kind="environment_note", note=f"at once {number}"))
    assert found == ["DAILY_LIMIT"] * 4 + ["done"] * 2
    assert Statement.objects.count() == 20
    content = ReportContent("other", "Ten characters.")
    found = at_once(6, lambda _: reports.file_report(shared, content, reporter=None, address="192.0.2.1"))
    assert found == ["TOO_MANY_REPORTS"] * 3 + ["done"] * 3


def test_of_several_who_decide_at_once_one_does_and_nothing_unread_is_published(shared):
    ada = person("ada")
    desks = [person(f"moderator-{number}", "moderator") for number in range(4)]
    made = waiting(ada, shared)
    found = at_once(4, lambda number: moderation.decide_statement(desks[number], made.id, "publish", reason="x"))
    assert found == ["WRONG_STATE"] * 3 + ["done"]
    others = [waiting(ada, shared, kind="environment_note", note=str(number)) for number in range(4)]
    found = at_once(
        4, lambda number: moderation.decide_statement(desks[number], others[number].id, "publish", reason="x")
    )
    assert found == ["done"] * 4
    assert list(audit.faults()) == []
    assert AuditEntry.objects.count() == 5
    bob = person("bob")
    made = waiting(bob, shared, note="Read.")

    def act(who: int) -> None:
        if who:
            statements.revise(bob, made.id, Content("reproduced", note="Never read."), revision=1)
        else:
            moderation.decide_statement(desks[0], made.id, "publish", reason="x", revision=1)

    # Whoever comes first: a decision finds another text and is refused, or a revision of somebody new waits again.
    assert at_once(2, act) in (["STALE", "done"], ["done", "done"])
    made.refresh_from_db()
    assert (made.state, made.revision) == ("waiting", 2)
