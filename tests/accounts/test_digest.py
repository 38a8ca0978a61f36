"""The daily mail, leaving it, and the feed."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client

from attestations.accounts import digests
from attestations.accounts.digests import send_digests, set_digest, unsubscribe_token
from attestations.accounts.feeds import feed_token
from attestations.accounts.models import Notice, NoticeSettings, User
from attestations.accounts.notices import notify
from attestations.accounts.tasks import send_digests as task
from tests.accounts.conftest import sign_in

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"


def tell(user: User, number: int = 1) -> None:
    notify(user, "decided", key=f"statement:{number}", subject=f"A <b>decision</b> & {number}", path="/x/", facts="f")


def test_one_mail_a_day_says_what_was_not_seen(ada, grace):
    tell(ada)
    tell(grace)
    Notice.objects.filter(user=grace).update(seen_at="2026-01-01T00:00:00Z")
    task()
    task()
    assert [message.to for message in mail.outbox] == [["ada@example.org"]]
    assert "A <b>decision</b> & 1" in mail.outbox[0].body
    assert mail.outbox[0].subject == "KernelIndex: 1 notice"
    tell(ada, 2)
    assert send_digests() == 1
    assert "& 1" not in mail.outbox[1].body


def test_the_mail_is_left_with_one_click_and_without_signing_in(ada):
    tell(ada)
    send_digests()
    headers = mail.outbox[0].extra_headers
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    path = urlsplit(headers["List-Unsubscribe"].strip("<>")).path
    browser = Client(enforce_csrf_checks=True)
    assert browser.get(path).status_code == 200
    tell(ada, 2)
    assert not NoticeSettings.objects.filter(digest=False).exists()  # looking at the link changes nothing
    assert browser.post(path, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert send_digests() == 0
    page = sign_in(ada).get("/following/").content.decode()
    assert "You get no mail" in page


def test_a_made_up_link_unsubscribes_nobody(client, ada, grace):
    token = unsubscribe_token(ada)
    signature = token.partition(":")[2]
    for made_up in (f"{grace.pk}:{signature}", token[:-1], str(ada.pk), "x", feed_token(ada)):
        assert client.post(f"/unsubscribe/{made_up}/").status_code == 404
    assert not NoticeSettings.objects.filter(digest=False).exists()


def test_it_can_be_turned_on_again_and_old_notices_are_not_sent_then(ada):
    browser = sign_in(ada)
    browser.post("/following/digest/", {"digest": "off"})
    tell(ada)
    assert send_digests() == 0
    browser.post("/following/digest/", {"digest": "on"})
    assert send_digests() == 0
    tell(ada, 2)
    assert send_digests() == 1


def test_what_the_mail_server_refuses_is_sent_the_next_day(ada, monkeypatch):
    tell(ada)

    def refuse(self: EmailBackend, messages: object) -> int:
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr(EmailBackend, "send_messages", refuse)
        assert send_digests() == 0
    assert send_digests() == 1


def test_two_workers_send_one_mail(ada, monkeypatch):
    tell(ada)
    inner = digests._message

    def meanwhile(*args: object) -> object:
        monkeypatch.setattr(digests, "_message", inner)
        assert send_digests() == 0
        return inner(*args)

    monkeypatch.setattr(digests, "_message", meanwhile)
    assert send_digests() == 1
    assert len(mail.outbox) == 1


def test_who_is_suspended_gets_no_mail(ada):
    tell(ada)
    User.objects.update(is_active=False)
    assert send_digests() == 0


def test_a_mail_lists_so_many_and_says_that_there_is_more(ada, monkeypatch):
    monkeypatch.setattr(digests, "MOST", 2)
    for number in range(4):
        tell(ada, number)
    send_digests()
    assert mail.outbox[0].body.count("A <b>decision</b>") == 2
    assert "There is more" in mail.outbox[0].body
    assert mail.outbox[0].subject == "KernelIndex: 2+ notices"


def test_a_person_without_an_address_gets_none(ada):
    tell(ada)
    ada.emailaddress_set.all().delete()
    assert send_digests() == 0
    set_digest(ada, True)
    assert Notice.objects.get().mailed_at is not None


def test_the_feed_is_read_without_signing_in_by_who_has_its_address(client, ada, grace):
    tell(ada)
    response = client.get(f"/following/feed/{feed_token(ada)}.atom")
    assert response["Content-Type"].startswith("application/atom+xml")
    assert "no-store" in response["Cache-Control"]
    entries = ET.fromstring(response.content).findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}title") for entry in entries] == ["A <b>decision</b> & 1"]
    other = ET.fromstring(client.get(f"/following/feed/{feed_token(grace)}.atom").content)
    assert other.findall(f"{ATOM}entry") == []


def test_a_replaced_address_leads_nowhere(ada):
    browser = sign_in(ada)
    old = feed_token(ada)
    browser.post("/following/feed/rotate/")
    new = feed_token(ada)
    assert browser.get(f"/following/feed/{old}.atom").status_code == 404
    assert Client().get(f"/following/feed/{new}.atom").status_code == 200
    assert new in browser.get("/following/").content.decode()


def test_a_made_up_address_leads_nowhere(client, ada, grace):
    signature = feed_token(ada).partition("~")[2]
    feed_token(grace)
    for made_up in (f"{grace.pk}.1~{signature}", f"{ada.pk}.2~{signature}", "x", unsubscribe_token(ada)):
        assert client.get(f"/following/feed/{made_up}.atom").status_code == 404
