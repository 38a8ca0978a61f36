"""Signing up, verifying, signing in and out, and forgetting the password."""

from __future__ import annotations

import pytest
from django.core import mail

from attestations.accounts.adapters import AccountAdapter
from attestations.accounts.models import User
from tests.accounts.conftest import PASSWORD, link_in_mail, sign_in

pytestmark = pytest.mark.django_db
FORM = {"username": "ada", "email": "ada@example.org", "password1": PASSWORD}


def test_sign_up_verifies_the_address_before_anything_else(client):
    response = client.post("/account/signup/", FORM)
    assert response["Location"] == "/account/confirm-email/"
    assert client.get("/account/").status_code == 302
    assert client.post("/account/login/", {"login": "ada", "password": PASSWORD})["Location"] == (
        "/account/confirm-email/"
    )
    link = link_in_mail(0)
    assert "belongs to the account ada" in client.get(link).content.decode()
    assert client.get("/account/").status_code == 302  # looking at the link confirms nothing
    assert client.post(link).status_code == 302
    client.post("/account/login/", {"login": "ada", "password": PASSWORD})
    assert client.get("/account/").status_code == 200


def test_sign_up_with_a_known_address_reveals_nothing(client, ada):
    known = client.post("/account/signup/", {**FORM, "username": "somebody"})
    unknown = client.post("/account/signup/", {**FORM, "username": "another", "email": "new@example.org"})
    assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
    assert not User.objects.filter(username="somebody").exists()
    assert "already" in mail.outbox[0].subject
    assert mail.outbox[0].to == ["ada@example.org"]


def test_a_reset_for_an_unknown_address_reveals_nothing(client, ada):
    answers = [client.post("/account/password/reset/", {"email": f"{name}@example.org"}) for name in ("ada", "nobody")]
    assert {(answer.status_code, answer["Location"]) for answer in answers} == {(302, "/account/password/reset/done/")}


def test_a_wrong_name_and_a_wrong_password_are_refused_in_the_same_words(client, ada):
    pages = [
        client.post("/account/login/", {"login": login, "password": "wrong"}).content.decode()
        for login in ("ada", "nobody")
    ]
    errors = [page.split('<ul class="wrong"')[1].split("</ul>")[0] for page in pages]
    assert errors[0] == errors[1]


def test_a_form_that_fails_keeps_what_was_typed_and_says_what_is_wrong_beside_the_field(client):
    page = client.post("/account/signup/", {**FORM, "username": "Ада"}).content.decode()
    assert 'value="ada@example.org"' in page
    assert 'value="Ада"' in page
    assert 'id="id_username_error"' in page
    assert 'aria-invalid="true"' in page
    assert "letters a to z" in page


def test_a_password_is_reset_once(client, ada):
    client.post("/account/password/reset/", {"email": "ada@example.org"})
    link = link_in_mail()
    form = client.get(link, follow=True)
    new = "quite another password"
    client.post(form.request["PATH_INFO"], {"password1": new, "password2": new})
    assert User.objects.get(pk=ada.pk).check_password(new)
    assert "does not work" in client.get(link, follow=True).content.decode()


def test_after_signing_in_one_is_back_where_one_came_from(client, ada):
    page = client.get("/account/login/?next=/runs/%3Flevel%3Dverified").content.decode()
    assert 'name="next" value="/runs/?level=verified"' in page
    response = client.post("/account/login/", {"login": "ada", "password": PASSWORD, "next": "/runs/?level=verified"})
    assert response["Location"] == "/runs/?level=verified"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "http:evil.example",
        "http://testserver@evil.example/",
        "http://localhost/",
        "javascript:alert(1)",
        " //evil.example",
        "/\t/evil.example",
    ],
)
def test_nobody_is_sent_to_another_site(client, ada, target):
    response = client.post("/account/login/", {"login": "ada", "password": PASSWORD, "next": target})
    assert response["Location"] == "/account/"
    assert client.get("/account/login/", {"next": target})["Location"] == "/account/"


def test_signing_out_asks_and_ends_the_session(ada):
    browser = sign_in(ada)
    assert browser.get("/account/logout/").status_code == 200
    assert browser.get("/account/").status_code == 200
    browser.post("/account/logout/")
    assert browser.get("/account/").status_code == 302


def test_guessing_passwords_is_slowed_down(client, ada):
    for _ in range(5):
        client.post("/account/login/", {"login": "ada", "password": "wrong"})
    page = client.post("/account/login/", {"login": "ada", "password": PASSWORD})
    assert page.status_code == 200
    assert "Too many failed" in page.content.decode()


def test_many_sign_ups_from_one_address_get_429(client):
    answers = [client.post("/account/signup/", {"username": "x"}) for _ in range(21)]
    assert answers[19].status_code == 200
    assert answers[20].status_code == 429
    assert int(answers[20]["Retry-After"]) > 0


def test_a_suspended_person_is_not_signed_in(ada):
    browser = sign_in(ada)
    User.objects.update(is_active=False)
    assert browser.get("/account/").status_code == 302


def test_the_admin_has_no_sign_in_of_its_own(client):
    assert client.get("/admin/login/?next=/admin/")["Location"].startswith("/account/login/")
    assert client.post("/admin/login/", {"username": "ada", "password": PASSWORD}).status_code == 302


@pytest.mark.parametrize(
    "path",
    [
        "/accounts/login/",
        "/account/login/code/",
        "/account/signup/passkey/",
        "/account/reauthenticate/code/",
        "/account/3rdparty/",
        "/account/github/login/",
        "/account/connections/",
        "/account/connections/github/login/",
        "/account/phone/verify/",
        "/account/second-factor/trust/",
    ],
)
def test_what_is_not_offered_is_not_there(client, path):
    assert client.get(path).status_code == 404


def test_pages_have_nothing_inline(client, ada):
    browser = sign_in(ada)
    for path in ("/account/login/", "/account/signup/", "/account/password/reset/"):
        check_no_inline(client.get(path))
    for path in ("/account/", "/account/email/", "/account/sessions/", "/account/tokens/", "/account/second-factor/"):
        check_no_inline(browser.get(path))


def check_no_inline(response):
    page = response.content.decode()
    assert response.status_code == 200
    assert "'unsafe-inline'" not in response["Content-Security-Policy"]
    assert " style=" not in page
    assert "<style" not in page
    assert " onclick=" not in page
    assert "<script>" not in page


def test_the_rules_for_passwords_are_a_list_below_the_field(client):
    page = client.get("/account/signup/").content.decode()
    assert 'id="id_password1_helptext"><ul><li>Your password' in page
    assert 'aria-describedby="id_password1_helptext"' in page


def test_who_loses_a_race_for_a_name_is_told(client, ada, monkeypatch):
    monkeypatch.setattr(AccountAdapter, "clean_username", lambda self, username, shallow=False: username)
    response = client.post("/account/signup/", {**FORM, "username": "ad-a", "email": "b@example.org"}, follow=True)
    assert "took this name a moment ago" in response.content.decode()
    assert User.objects.count() == 1


def test_a_page_with_somebodys_name_on_it_is_kept_by_nobody(client, ada):
    browser = sign_in(ada)
    for path in ("/", "/runs/", "/methodology/", "/people/ada/"):
        assert "no-store" in browser.get(path)["Cache-Control"], path
        assert "no-store" not in client.get(path).get("Cache-Control", ""), path
