"""Every page of an account, rendered: for its person, with nothing kept by anybody, and for nobody else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core import mail
from django.template.loader import render_to_string

from attestations.accounts.models import User
from tests.accounts.conftest import PASSWORD, link_in_mail, prove, sign_in
from tests.accounts.test_second_factor import half_signed_in, set_up

pytestmark = pytest.mark.django_db

TEMPLATES = settings.BASE_DIR / "templates"
PRIVATE = (
    "/account/",
    "/account/email/",
    "/account/password/change/",
    "/account/sessions/",
    "/account/tokens/",
    "/account/delete/",
    "/account/export.json",
    "/account/logout/",
    "/account/second-factor/",
    "/account/second-factor/totp/activate/",
    "/account/second-factor/passkeys/",
    "/account/second-factor/passkeys/add/",
    "/following/",
)
PUBLIC = (
    "/account/login/",
    "/account/signup/",
    "/account/inactive/",
    "/account/confirm-email/",
    "/account/confirm-email/made-up/",
    "/account/password/reset/",
    "/account/password/reset/done/",
    "/account/password/reset/key/1-made-up/",
    "/account/password/reset/key/done/",
)


@pytest.mark.parametrize("path", PRIVATE)
def test_a_private_page_is_its_persons_alone(client, ada, path):
    browser = sign_in(ada)
    prove(browser)
    response = browser.get(path)
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    assert response["X-Frame-Options"] == "DENY"
    if path != "/account/logout/":
        assert client.get(path)["Location"].startswith("/account/login/")


@pytest.mark.parametrize("path", PUBLIC)
def test_a_public_page_has_one_heading_and_is_no_search_result(client, db, path):
    response = client.get(path)
    page = response.content.decode()
    assert response.status_code == 200
    assert page.count("<h1>") == 1
    assert 'content="noindex"' in page
    assert "no-store" in response["Cache-Control"]


def test_the_pages_of_a_second_factor_that_is_set_up(ada):
    browser = sign_in(ada)
    _, codes = set_up(browser)
    for path in ("", "totp/deactivate/", "recovery-codes/", "recovery-codes/generate/"):
        assert browser.get(f"/account/second-factor/{path}").status_code == 200, path
    assert browser.post("/account/second-factor/recovery-codes/generate/").status_code == 302
    assert codes[0] not in browser.get("/account/second-factor/recovery-codes/").content.decode()
    page = half_signed_in().get("/account/second-factor/authenticate/").content.decode()
    assert "passkey-options" in page
    assert "authenticator app" in browser.get("/account/second-factor/reauthenticate/").content.decode()
    browser.post("/account/second-factor/totp/deactivate/")
    assert mail.outbox[-1].subject == "KernelIndex: authenticator app removed"
    assert "From: 127.0.0.1" in mail.outbox[-1].body


FACTS = "ip user_agent email activate_url password_reset_url signup_url from_email to_email deleted_email provider"
MAILS = [path.relative_to(TEMPLATES) for path in TEMPLATES.glob("*/email/[a-z]*_message.txt")]


@pytest.mark.parametrize("name", MAILS, ids=str)
def test_every_mail_can_be_written(name):
    facts = dict.fromkeys(FACTS.split(), "O'Brien & <sons>")
    context = {**facts, "user": User(username="ada"), "timestamp": datetime(2026, 1, 1, tzinfo=UTC)}
    body = render_to_string(str(name), context)
    subject = render_to_string(str(name).replace("_message", "_subject"), context)
    assert "&lt;" not in body + subject
    assert "KernelIndex, a public index" in body
    assert len(subject.strip().splitlines()) == 1


def test_the_pages_of_a_key(ada):
    browser = sign_in(ada)
    prove(browser)
    key = Authenticator.objects.create(user=ada, type="webauthn", data={"name": "On the desk", "credential": {}})
    path = f"/account/second-factor/passkeys/{key.pk}"
    assert "On the desk" in browser.get("/account/second-factor/passkeys/").content.decode()
    assert browser.get(f"{path}/remove/").status_code == 200
    assert browser.post(f"{path}/edit/", {"name": ""}).status_code == 200
    assert browser.post(f"{path}/edit/", {"name": "In the drawer"}).status_code == 302
    assert browser.post(f"{path}/remove/").status_code == 302
    assert not Authenticator.objects.exists()


def test_a_new_address_takes_the_place_of_the_old_one_when_it_is_verified(ada):
    browser = sign_in(ada)
    prove(browser)
    browser.post("/account/email/", {"email": "new@example.org", "action_add": ""})
    page = browser.get("/account/email/").content.decode()
    assert "to be verified" in page
    ada.refresh_from_db()
    assert ada.email == "ada@example.org"
    link = next(word for word in mail.outbox[-1].body.split() if "/confirm-email/" in word)
    assert mail.outbox[-1].to == ["new@example.org"]
    browser.post(link.partition("testserver")[2])
    ada.refresh_from_db()
    assert ada.email == "new@example.org"
    assert [address.email for address in ada.emailaddress_set.all()] == ["new@example.org"]


def test_another_persons_address_is_neither_revealed_nor_given(ada, grace):
    browser = sign_in(ada)
    prove(browser)
    known = browser.post("/account/email/", {"email": "grace@example.org", "action_add": ""})
    assert known["Location"] == "/account/email/"
    assert "to be verified" in browser.get("/account/email/").content.decode()
    assert "another account has it" in browser.get(link_in_mail()).content.decode()
    browser.post(link_in_mail())
    ada.refresh_from_db()
    assert ada.email == "ada@example.org"
    assert grace.emailaddress_set.get().verified


def test_who_has_no_password_sets_one_by_mail(ada):
    browser = sign_in(ada)
    ada.set_unusable_password()
    ada.save()
    browser.force_login(ada)
    assert "set one by mail" in browser.get("/account/").content.decode()
    for path in ("/account/password/set/", "/account/password/change/"):
        assert browser.get(path, follow=True).request["PATH_INFO"] == "/account/password/reset/"
    browser.post("/account/password/reset/", {"email": "ada@example.org"})
    form = browser.get(link_in_mail(), follow=True)
    browser.post(form.request["PATH_INFO"], {"password1": PASSWORD, "password2": PASSWORD})
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_who_has_nothing_to_prove_themselves_by_can_still_leave(ada):
    browser = sign_in(ada)
    ada.set_unusable_password()
    ada.save()
    browser.force_login(ada)
    assert browser.get("/account/export.json").status_code == 200
    assert browser.post("/account/delete/", {"statements": "keep", "name": "ada"})["Location"] == "/"
    ada.refresh_from_db()
    assert ada.deleted_at


def test_the_head_of_a_page_leads_in_and_back(client, ada):
    page = client.get("/methodology/").content.decode()
    assert 'href="/account/login/?next=/methodology/"' in page
    assert ">ada</a>" in sign_in(ada).get("/methodology/").content.decode()


def test_mail_is_text_as_it_was_meant(client, db):
    client.post("/account/password/reset/", {"email": "o'brien&sons@example.org"})
    assert "for o'brien&sons@example.org." in mail.outbox[0].body
    assert mail.outbox[0].subject == "KernelIndex: there is no account with this address"


def test_roles_are_given_by_administrators_and_nobody_is_deleted(ada, grace):
    ada.is_staff = ada.is_superuser = True
    ada.save()
    browser = sign_in(ada)
    assert browser.get(f"/admin/accounts/user/{grace.pk}/change/").status_code == 200
    assert browser.get(f"/admin/accounts/user/{grace.pk}/delete/").status_code == 403
    assert browser.get("/admin/accounts/user/add/").status_code == 403
    browser.post(f"/admin/accounts/user/{grace.pk}/change/", {"is_staff": "on", "username": "mallory"})
    grace.refresh_from_db()
    assert (grace.is_staff, grace.is_active, grace.username) == (True, False, "grace")
    browser.post(f"/admin/accounts/user/{ada.pk}/change/", {"is_active": "on"})
    ada.refresh_from_db()
    assert ada.is_superuser  # one's own roles are another's to change
    for table in ("mfa/authenticator", "account/emailaddress", "usersessions/usersession", "accounts/apitoken"):
        assert browser.get(f"/admin/{table}/").status_code == 404


def test_who_is_staff_alone_makes_no_administrator(ada, grace):
    from django.contrib.auth.models import Permission

    ada.is_staff = True
    ada.save()
    ada.user_permissions.set(Permission.objects.filter(codename__in=["change_user", "view_user"]))
    browser = sign_in(ada)
    browser.post(
        f"/admin/accounts/user/{grace.pk}/change/", {"is_superuser": "on", "is_staff": "on", "is_active": "on"}
    )
    grace.refresh_from_db()
    assert not grace.is_superuser
    assert not grace.is_staff
