"""Export and deletion."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client

from attestations.accounts import hooks
from attestations.accounts.deletion import delete_account
from attestations.accounts.models import ApiToken, Follow, Notice, NoticeSettings, User
from attestations.accounts.notices import notify
from attestations.accounts.tokens import Scope, authenticate_token, create_token
from tests.accounts.conftest import PASSWORD, prove, sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(monkeypatch):
    """What another app was told, by hooks that it registered."""
    heard: list[tuple[str, str]] = []
    for registry in ("_exports", "_deletions", "_profiles"):
        monkeypatch.setattr(hooks, registry, {})
    hooks.register_deletion("statements", lambda user, choice: heard.append((user.username, choice)))
    hooks.register_export("statements", lambda user: [{"by": user.username}])
    return heard


def furnish(user: User) -> str:
    """Give a person one of everything; the text of the token."""
    _, text = create_token(user, name="laptop", scopes=[Scope.READ], life=timedelta(days=1))
    Follow.objects.create(user=user, kind="hardware", key="nvidia-h100")
    NoticeSettings.objects.create(user=user)
    notify(user, "decided", key="statement:1:accepted", subject="Accepted", path="/")
    return text


def test_the_export_has_everything_of_the_person_and_nothing_of_others(ada, grace, told):
    furnish(ada)
    furnish(grace)
    browser = sign_in(ada)
    prove(browser)
    response = browser.get("/account/export.json")
    assert response["Content-Disposition"] == 'attachment; filename="kernelindex-ada.json"'
    exported = response.json()
    assert exported["account"]["email"] == "ada@example.org"
    assert exported["tokens"][0]["name"] == "laptop"
    assert exported["follows"][0]["key"] == "nvidia-h100"
    assert exported["notices"][0]["subject"] == "Accepted"
    assert exported["statements"] == [{"by": "ada"}]
    assert len(exported["sessions"]) == 1
    assert "grace" not in response.content.decode()


def test_the_export_has_no_secret(ada, told):
    text = furnish(ada)
    browser = sign_in(ada)
    prove(browser)
    body = browser.get("/account/export.json").content.decode()
    secrets = [text, ApiToken.objects.get().digest, User.objects.get().password]
    secrets += list(Session.objects.values_list("session_key", flat=True))
    assert not any(secret in body for secret in secrets)


def test_the_export_asks_for_the_password_again(ada):
    assert sign_in(ada).get("/account/export.json")["Location"].startswith("/account/reauthenticate/")
    assert Client().get("/account/export.json")["Location"].startswith("/account/login/")


@pytest.mark.parametrize("choice", ["keep", "withdraw"])
def test_deletion_asks_and_hands_the_choice_on(ada, told, choice):
    browser = sign_in(ada)
    prove(browser)
    assert browser.get("/account/delete/").status_code == 200
    assert User.objects.get().deleted_at is None
    response = browser.post("/account/delete/", {"statements": choice, "name": "ada"})
    assert response["Location"] == "/"
    assert told == [("ada", choice)]
    assert browser.get("/account/").status_code == 302


@pytest.mark.parametrize("form", [{}, {"name": "ada"}, {"statements": "keep"}, {"statements": "keep", "name": "grace"}])
def test_a_slip_deletes_nothing(ada, told, form):
    browser = sign_in(ada)
    prove(browser)
    assert browser.post("/account/delete/", form).status_code == 200
    assert User.objects.get().deleted_at is None
    assert told == []


def test_what_is_personal_is_gone_from_every_table(ada, told):
    text = furnish(ada)
    other = sign_in(ada)
    delete_account(ada, hooks.Statements.KEEP)
    left = everything()
    assert "ada" not in left
    assert "laptop" not in left
    for model in (EmailAddress, UserSession, ApiToken, Follow, Notice, NoticeSettings, Session):
        assert not model.objects.exists(), model
    assert authenticate_token(f"Bearer {text}") is None
    assert other.get("/account/").status_code == 302
    account = User.objects.get()
    assert account.shown_name == "deleted account"
    assert not account.has_usable_password()


def everything() -> str:
    """All rows of all tables that have to do with people, as text."""
    tables = [
        table
        for table in connection.introspection.table_names()
        if not table.startswith(("runs_", "django_content", "django_migrations", "auth_permission", "accounts_cache"))
    ]
    with connection.cursor() as cursor:
        rows = []
        for table in tables:
            cursor.execute(f'SELECT * FROM "{table}"')
            rows += cursor.fetchall()
    return str(rows)


def test_it_cannot_be_signed_in_to_again_and_its_name_is_not_given_again(ada, told):
    delete_account(ada, hooks.Statements.KEEP)
    client = Client()
    for name in ("ada", f"deleted-{ada.pk}"):
        assert client.post("/account/login/", {"login": name, "password": PASSWORD}).status_code == 200
    page = client.post(
        "/account/signup/", {"username": "ada", "email": "new@example.org", "password1": PASSWORD}
    ).content.decode()
    assert "not given again" in page
    answer = client.post("/account/signup/", {"username": "ada-l", "email": "ada@example.org", "password1": PASSWORD})
    assert answer.status_code == 302  # the address is free again


def test_a_second_deletion_finds_nothing_to_do(ada, told):
    delete_account(ada, hooks.Statements.KEEP)
    delete_account(ada, hooks.Statements.WITHDRAW)
    assert len(told) == 1


def test_a_deletion_that_fails_half_way_changes_nothing(ada, told):
    def refuse(user: User, choice: hooks.Statements) -> None:
        raise RuntimeError

    hooks.register_deletion("broken", refuse)
    with pytest.raises(RuntimeError):
        delete_account(ada, hooks.Statements.KEEP)
    assert User.objects.get().username == "ada"
    assert EmailAddress.objects.exists()


def test_a_profile_is_public_and_shows_nothing_private(ada, told, client):
    page = client.get("/people/ada/")
    assert page.status_code == 200
    assert "example.org" not in page.content.decode()
    assert client.get("/people/ADA/")["Location"] == "/people/ada/"
    assert client.get("/people/nobody/").status_code == 404


def test_a_profile_shows_what_other_apps_contribute(ada, told, client):
    section = hooks.ProfileSection("Statements about runs", "_search.html", {})
    hooks.register_profile("statements", lambda user: section if user == ada else None)
    page = client.get("/people/ada/").content.decode()
    assert "Statements about runs</h2>" in page
    assert page.count('role="search"') == 2


def test_a_deleted_or_suspended_person_has_no_profile(ada, grace, told, client):
    delete_account(ada, hooks.Statements.KEEP)
    User.objects.filter(pk=grace.pk).update(is_active=False)
    for name in ("ada", "grace", f"deleted-{ada.pk}"):
        assert client.get(f"/people/{name}/").status_code == 404
