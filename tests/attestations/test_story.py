"""Two people, a visitor and a moderator, each with a browser of their own, from a first statement to a receipt."""

from __future__ import annotations

import re

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.urls import reverse

from attestations.accounts.models import User
from attestations.models import Report, Statement
from runs.models import EvidenceLevel

pytestmark = pytest.mark.django_db


class Visitor:
    """A browser that keeps cookies, and sends a form with the token that its page gave it."""

    def __init__(self) -> None:
        self.client = Client(enforce_csrf_checks=True)

    def see(self, url: str) -> str:
        answer = self.client.get(url, follow=True)
        assert answer.status_code == 200, url
        return answer.content.decode()

    def send(self, page: str, fields: dict[str, str], to: str | None = None) -> str:
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.see(page))
        assert token, page
        answer = self.client.post(to or page, {**fields, "csrfmiddlewaretoken": token[1]}, follow=True)
        assert answer.status_code == 200, answer.content.decode()[-2000:]
        self.at = answer.request["PATH_INFO"]
        return answer.content.decode()

    def sign_in(self, user: User) -> Visitor:
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        self.send(reverse("account_login"), {"login": user.username, "password": "a password of some length"})
        return self


def test_from_a_first_statement_to_a_receipt(ada, bob, moderator, run):
    ann, ben, visitor, desk = Visitor().sign_in(ada), Visitor().sign_in(bob), Visitor(), Visitor().sign_in(moderator)
    page, form = reverse("run", args=[run.id]), reverse("statement-new", args=[run.id])

    # Ada attests; nobody else sees it until a moderator has published it.
    first = {"kind": "reproduced", "note": "The same on my card.", "value": "73.9", "unit": "us", "statistic": "median"}
    assert "until then you alone see it" in ann.send(page, {**first, "action": "post"}, to=form)
    assert "The same on my card." not in ben.see(page) + visitor.see(page)
    statement = Statement.objects.get()
    decision = reverse("admin:attestations_statement_change", args=[statement.id])
    assert "1.002 × the run" in desk.see(decision)
    desk.send(decision, {"decision": "publish", "reason": "Plausible.", "revision": "1"})
    for each in (ann, ben, visitor):
        assert "The same on my card." in each.see(page)

    # She revises: she is new, so it waits again, and what she said before stays in its history.
    revise = reverse("statement-revise", args=[statement.id])
    ann.send(revise, {**first, "note": "The same on two cards.", "revision": "1", "action": "post"})
    assert "two cards" not in visitor.see(page)
    desk.send(decision, {"decision": "publish", "reason": "Still plausible.", "revision": "2"})
    assert "two cards" in visitor.see(page)
    assert "my card" in visitor.see(reverse("statement", args=[statement.id]))

    # Ben and a visitor report the same; the moderator merges, and retracts the run.
    report = {"reason": "incorrect_result", "detail": "The last row of the output is missing."}
    ben.send(reverse("report-new", args=[run.id]), report)
    receipt = visitor.send(reverse("report-new", args=[run.id]), report | {"contact": "visitor@example.org"})
    assert "waiting for a moderator" in receipt
    one, two = Report.objects.order_by("id")
    merge = reverse("admin:attestations_report_change", args=[two.id])
    desk.send(merge, {"decision": "merge", "into": str(one.id), "reason": "The same."})
    accept = reverse("admin:attestations_report_change", args=[one.id])
    desk.send(
        accept,
        {"decision": "accept", "outcome": "retracted", "answer": "The grid is too small.", "reason": "Ran it."},
    )
    assert "Retracted" in visitor.see(page)
    assert "The grid is too small." in visitor.see(page)
    assert "The grid is too small." in visitor.see(visitor.at)  # the receipt
    assert "Your report was accepted" in ben.see(reverse("following"))
    assert not EvidenceLevel.objects.exists()

    # What was done is public; who did it is not.
    log = visitor.see(reverse("moderation-log"))
    for act in ("statement: publish", "report: merge", "report: accept"):
        assert act in log
    assert "morgan" not in log
