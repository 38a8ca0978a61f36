"""The life of a statement: limits, revisions, withdrawal, the owner's reply, and deleted accounts."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from attestations.accounts.deletion import delete_account
from attestations.accounts.export import export
from attestations.accounts.hooks import Statements
from attestations.accounts.models import Notice
from attestations.models import OwnerClaim, Statement, StatementRevision, Submission
from attestations.reads.statements import run_statements, statement_page
from attestations.refusals import Refused
from attestations.services import moderation, owners, people, statements, submissions
from attestations.values import Content, Upload
from runs.models import Standing
from tests.attestations.conftest import signed_in, waiting
from tests.attestations.test_submissions import reproduction

pytestmark = pytest.mark.django_db


def test_the_first_two_wait_until_a_moderator_published_them(ada, run, other_run, moderator):
    first, second = waiting(ada, run), waiting(ada, other_run)
    third = waiting(ada, run, kind="environment_note")
    assert (first.state, second.state, third.state) == ("waiting",) * 3
    moderation.decide_statement(moderator, first.id, "publish", reason="Fine.")
    moderation.decide_statement(moderator, second.id, "publish", reason="Fine.")
    assert waiting(ada, run, kind="regression_observed").state == "published"


def test_one_says_once_whether_a_run_can_be_reproduced(known, run):
    waiting(known, run)
    for kind in ("reproduced", "could_not_reproduce"):
        with pytest.raises(Refused, match="Revise that statement"):
            waiting(known, run, kind=kind)
    assert waiting(known, run, kind="regression_observed").state == "published"


def test_a_note_cannot_be_revised_into_a_second_verdict(known, run):
    waiting(known, run)
    note = waiting(known, run, kind="environment_note")
    with pytest.raises(Refused, match="Revise that statement"):
        statements.revise(known, note.id, Content("could_not_reproduce", note="x"), revision=1)
    note.refresh_from_db()
    assert (note.kind, note.revision, note.revisions.count()) == ("environment_note", 1, 1)


def test_after_withdrawing_one_can_say_it_anew(known, run):
    made = waiting(known, run)
    statements.withdraw(known, made.id)
    assert waiting(known, run, kind="could_not_reproduce").state == "published"
    with pytest.raises(Refused, match="cannot be changed"):
        statements.revise(known, made.id, Content("reproduced", note="x"), revision=1)


def test_twenty_a_day_are_enough_and_the_next_day_goes_on(known, run, monkeypatch):
    posted = StatementRevision.objects.filter(statement__author=known).count()
    for number in range(people.DAILY - posted):
        waiting(known, run, kind="environment_note", note=f"Note {number}.")
    with pytest.raises(Refused, match="20 times"):
        waiting(known, run, kind="environment_note")
    first = Statement.objects.filter(author=known).first()
    with pytest.raises(Refused, match="20 times"):
        statements.revise(known, first.id, Content("environment_note", note="Again."), revision=1)
    with pytest.raises(Refused, match="20 times"):
        submissions.create(known, document=reproduction(), note="")
    answer = signed_in(known).post(
        reverse("statement-new", args=[run.id]), {"kind": "environment_note", "note": "Kept?"}
    )
    assert answer.status_code == 429
    assert "Retry-After" in answer.headers
    assert "Kept?" in answer.content.decode()
    later = timezone.now() + timezone.timedelta(days=1, seconds=1)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert waiting(known, run, kind="environment_note").state == "published"


def test_a_revision_keeps_what_was_said_before(known, run, client):
    made = waiting(known, run, note="At first.", upload=Upload(b"log", "text/plain"))
    url = reverse("statement-revise", args=[made.id])
    person = signed_in(known)
    assert "At first." in person.get(url).content.decode()
    person.post(
        url, {"kind": "could_not_reproduce", "note": "On second thoughts.", "revision": "1", "keep_attachment": "1"}
    )
    made.refresh_from_db()
    assert (made.revision, made.kind, made.state) == (2, "could_not_reproduce", "published")
    page = client.get(reverse("statement", args=[made.id])).content.decode()
    assert "On second thoughts." in page
    assert "At first." in page
    assert [row.attachment is not None for row in made.revisions.all()] == [True, True]


def test_two_revisions_at_once_do_not_overwrite_each_other(known, run):
    made = waiting(known, run)
    statements.revise(known, made.id, Content("reproduced", note="One window."), revision=1)
    with pytest.raises(Refused, match="changed meanwhile"):
        statements.revise(known, made.id, Content("reproduced", note="The other window."), revision=1)


@pytest.mark.parametrize("objection", ["hide", "request_changes"])
def test_what_a_moderator_objected_to_waits_again_and_is_not_in_the_history(known, run, moderator, objection, client):
    made = waiting(known, run, note="A slander.")
    moderation.decide_statement(moderator, made.id, objection, reason="Not so.")
    statements.revise(known, made.id, Content("reproduced", note="A kind word."), revision=1)
    made.refresh_from_db()
    assert made.state == "waiting"
    moderation.decide_statement(moderator, made.id, "publish", reason="Good.")
    page = client.get(reverse("statement", args=[made.id])).content.decode()
    assert "A kind word." in page
    assert "A slander." not in page


def test_the_pages_of_a_run_follow_every_change(known, run, moderator, client):
    url = reverse("run", args=[run.id])

    def shown() -> bool:
        return "It holds." in client.get(url).content.decode()

    made = waiting(known, run)
    assert shown()
    moderation.decide_statement(moderator, made.id, "hide", reason="A moment.")
    assert not shown()
    moderation.decide_statement(moderator, made.id, "unhide", reason="Good.")
    assert shown()
    statements.withdraw(known, made.id)
    assert not shown()


def test_its_author_hears_of_the_decision_and_why(ada, run, moderator):
    made = waiting(ada, run)
    moderation.decide_statement(moderator, made.id, "request_changes", reason="Which driver?")
    notice = Notice.objects.get(user=ada)
    assert (notice.path, notice.facts) == (reverse("statement", args=[made.id]), "Which driver?")
    page = signed_in(ada).get(notice.path).content.decode()
    assert "Which driver?" in page
    assert "changes requested" in page


def test_only_an_owner_replies_once_and_the_reply_stands_first(known, bob, run, moderator):
    waiting(known, run)
    with pytest.raises(Refused, match="own the implementation"):
        waiting(bob, run, kind="owner_reply")
    claim = owners.claim(bob, run.implementation, detail="I wrote it.")
    with pytest.raises(Refused, match="own the implementation"):
        waiting(bob, run, kind="owner_reply")
    moderation.decide_claim(moderator, claim.id, "accept", reason="The token is there.")
    reply = waiting(bob, run, kind="owner_reply", note="We know why.")
    assert reply.state == "published"
    assert run_statements(run.id).statements[0].id == reply.id
    with pytest.raises(Refused, match="reply to this run is there already"):
        waiting(bob, run, kind="owner_reply")
    moderation.decide_claim(moderator, claim.id, "revoke", reason="Left the project.")
    with pytest.raises(Refused, match="own the implementation"):
        statements.revise(bob, reply.id, Content("owner_reply", note="x"), revision=1)


def test_an_owner_of_one_implementation_is_none_of_another(bob, run, other_run, moderator):
    claim = owners.claim(bob, run.implementation, detail="")
    moderation.decide_claim(moderator, claim.id, "accept", reason="Yes.")
    with pytest.raises(Refused):
        waiting(bob, other_run, kind="owner_reply")


def test_a_deleted_account_keeps_or_withdraws_its_statements(known, run, other_run, client):
    made = waiting(known, run, note="I stay.")
    draft = submissions.create(known, document=reproduction(), note="")
    owners.claim(known, run.implementation, detail="")
    url = reverse("run", args=[run.id])
    assert ">ada</a>" in client.get(url).content.decode()
    delete_account(known, Statements.KEEP)
    page = client.get(url).content.decode()
    assert "I stay." in page
    assert "deleted account" in page
    assert "ada</a>" not in page
    assert Submission.objects.get(pk=draft.pk).state == "withdrawn"
    assert OwnerClaim.objects.get().state == "withdrawn"
    assert Statement.objects.get(pk=made.pk).state == "published"


def test_a_deleted_account_withdraws_its_statements_when_asked_to(known, run, client):
    waiting(known, run, note="I go.")
    url = reverse("run", args=[run.id])
    version = Standing.objects.get(run=run).version
    delete_account(known, Statements.WITHDRAW)
    assert "I go." not in client.get(url).content.decode()
    assert Standing.objects.get(run=run).version > version
    assert set(Statement.objects.filter(author=known).values_list("state", flat=True)) == {"withdrawn"}


def test_the_export_has_everything_in_every_state(known, run, moderator):
    made = waiting(known, run, note="Hidden words.")
    moderation.decide_statement(moderator, made.id, "hide", reason="x")
    submissions.create(known, document=reproduction(), note="")
    found = export(known)["attestations"]
    assert "Hidden words." in {row["note"] for row in found["statements"]}
    assert len(found["submissions"]) == 1
    answer = signed_in(known).get(reverse("account-export"))
    assert answer.status_code in {200, 302}  # it may ask for the password first


def test_a_profile_lists_what_is_published_alone(known, run, client, moderator):
    made = waiting(known, run, note="Shown words.")
    assert "Shown words." in client.get(known.get_absolute_url()).content.decode()
    moderation.decide_statement(moderator, made.id, "hide", reason="x")
    assert "Shown words." not in client.get(known.get_absolute_url()).content.decode()


def test_a_page_of_many_statements_takes_few_queries(known, run, django_assert_max_num_queries):
    for number in range(12):
        waiting(known, run, kind="environment_note", note=f"Note {number}.", value=1.0, unit="ms", statistic="mean")
    with django_assert_max_num_queries(5):
        assert len(run_statements(run.id).statements) == 13


def test_the_values_of_a_page_are_json(known, run):
    from runs.views.json import dumps

    made = waiting(known, run, value=73_728.0, unit="ns", statistic="median", samples=10)
    assert b'"value":1.0' in dumps(run_statements(run.id))
    assert b"note_html" in dumps(statement_page(made.id, known))
