"""The list of sessions, and ending the others."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session

from attestations.accounts.models import CacheEntry
from attestations.accounts.tasks import tidy
from tests.accounts.conftest import PASSWORD, prove, sign_in

pytestmark = pytest.mark.django_db


def test_the_others_are_signed_out_and_this_one_stays(ada, grace):
    here, there, stranger = sign_in(ada), sign_in(ada), sign_in(grace)
    page = here.get("/account/sessions/").content.decode()
    assert page.count("since <time") == 2
    assert page.count("this one") == 1
    here.post("/account/sessions/")
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302
    assert stranger.get("/account/").status_code == 200
    assert Session.objects.count() == 2


def test_another_password_ends_the_other_sessions(ada):
    here, there = sign_in(ada), sign_in(ada)
    prove(here)
    new = "quite another password"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert here.post("/account/password/change/", form).status_code == 302
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302


def test_nobody_sees_a_list(client):
    assert client.get("/account/sessions/")["Location"].startswith("/account/login/")


def test_what_ended_is_tidied_away(client, ada):
    sign_in(ada)
    client.post("/account/login/", {"login": "ada", "password": "wrong"})
    counts = CacheEntry.objects.count()
    assert counts
    CacheEntry.objects.filter(pk=CacheEntry.objects.first().pk).update(expires="2026-01-01T00:00:00Z")
    Session.objects.update(expire_date="2026-01-01T00:00:00Z")
    tidy()
    assert CacheEntry.objects.count() == counts - 1
    assert not Session.objects.exists()
