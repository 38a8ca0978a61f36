"""The second factor: authenticator app, recovery codes, passkeys, and asking again."""

from __future__ import annotations

import json
import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.test import Client

from tests.accounts.conftest import PASSWORD, prove, sign_in

pytestmark = pytest.mark.django_db


def code_of(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


def set_up(browser: Client) -> tuple[str, list[str]]:
    """Set up an authenticator app; its secret, and the recovery codes that come with it."""
    prove(browser)
    page = browser.get("/account/second-factor/totp/activate/").content.decode()
    secret = re.search(r'<code id="secret">(\w+)</code>', page)[1]
    response = browser.post("/account/second-factor/totp/activate/", {"code": code_of(secret)})
    assert response["Location"] == "/account/second-factor/recovery-codes/"
    codes = browser.get("/account/second-factor/recovery-codes/download/").content.decode().split()
    return secret, codes


def half_signed_in() -> Client:
    browser = Client()
    response = browser.post("/account/login/", {"login": "ada", "password": PASSWORD})
    assert response["Location"].startswith("/account/second-factor/authenticate/")
    return browser


def test_the_password_alone_is_not_enough_any_more(ada):
    set_up(sign_in(ada))
    browser = half_signed_in()
    assert browser.get("/account/").status_code == 302
    page = browser.post("/account/second-factor/authenticate/", {"code": "000000"})
    assert "id_code_error" in page.content.decode()
    assert browser.get("/account/").status_code == 302


def test_a_code_of_the_app_is_taken_once(ada, monkeypatch):
    secret, _ = set_up(sign_in(ada))
    Authenticator.objects.filter(type="totp").update(last_used_at=None)
    code = code_of(secret)
    browser = half_signed_in()
    first = browser.post("/account/second-factor/authenticate/", {"code": code})
    second = half_signed_in().post("/account/second-factor/authenticate/", {"code": code})
    # The set-up itself may have used this period's code; then both are refused, which is as good.
    assert (first.status_code, second.status_code) in {(302, 200), (200, 200)}


def test_a_recovery_code_works_once(ada):
    _, codes = set_up(sign_in(ada))
    browser = half_signed_in()
    assert browser.post("/account/second-factor/authenticate/", {"code": codes[0]}).status_code == 302
    assert browser.get("/account/").status_code == 200
    again = half_signed_in()
    assert again.post("/account/second-factor/authenticate/", {"code": codes[0]}).status_code == 200
    assert again.get("/account/").status_code == 302


def test_where_one_came_from_survives_the_second_factor(ada):
    _, codes = set_up(sign_in(ada))
    browser = Client()
    browser.post("/account/login/", {"login": "ada", "password": PASSWORD, "next": "/runs/"})
    assert browser.post("/account/second-factor/authenticate/", {"code": codes[0]})["Location"] == "/runs/"


def test_secrets_are_not_in_the_database_as_they_are(ada):
    secret, codes = set_up(sign_in(ada))
    stored = json.dumps(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    assert not any(code in stored for code in codes)


def test_removing_it_asks_for_it(ada):
    browser = sign_in(ada)
    set_up(browser)
    fresh = half_signed_in()
    fresh.post("/account/second-factor/authenticate/", {"code": "x"})
    assert fresh.post("/account/second-factor/totp/deactivate/").status_code == 302
    assert Authenticator.objects.filter(type="totp").exists()
    assert browser.post("/account/second-factor/totp/deactivate/")["Location"] == "/account/second-factor/"
    assert not Authenticator.objects.exists()


def test_the_codes_are_shown_only_after_asking_again(ada):
    _, codes = set_up(sign_in(ada))
    browser = half_signed_in()
    browser.post("/account/second-factor/authenticate/", {"code": codes[0]})
    page = browser.get("/account/second-factor/recovery-codes/", follow=True).content.decode()
    assert codes[1] not in page


def test_a_passkey_page_has_its_options_as_data_and_no_inline_script(ada):
    browser = sign_in(ada)
    prove(browser)
    page = browser.get("/account/second-factor/passkeys/add/").content.decode()
    options = json.loads(re.search(r'id="passkey-options">(.*?)</script>', page)[1])
    public = options["creation_options"]["publicKey"]
    assert public["rp"] == {"id": "testserver", "name": "KernelIndex"}
    assert public["user"]["name"] == "ada@example.org"
    assert "<script>" not in page


RESPONSE = {"clientDataJSON": "e30", "attestationObject": "oA", "authenticatorData": "AAAA", "signature": "AA"}
MADE_UP = [
    "",
    "not json",
    "null",
    "[]",
    "7",
    "{}",
    '{"id": "x"}',
    json.dumps({"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": {}}),
    json.dumps({"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": RESPONSE}),
    json.dumps({"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": {**RESPONSE, "userHandle": "AQ"}}),
    json.dumps({"id": ["AAAA"], "rawId": 7, "type": None, "response": "x"}),
]


@pytest.mark.parametrize("credential", MADE_UP)
def test_a_made_up_passkey_is_refused(ada, credential):
    browser = sign_in(ada)
    prove(browser)
    browser.get("/account/second-factor/passkeys/add/")
    page = browser.post("/account/second-factor/passkeys/add/", {"name": "x", "credential": credential})
    assert page.status_code == 200
    assert not Authenticator.objects.exists()


@pytest.mark.parametrize("credential", MADE_UP)
def test_a_made_up_passkey_signs_nobody_in(client, ada, credential):
    client.get("/account/second-factor/passkeys/login/", headers={"Accept": "application/json"})
    response = client.post("/account/second-factor/passkeys/login/", {"credential": credential})
    assert response["Location"] == "/account/login/"
    assert client.get("/account/").status_code == 302


@pytest.mark.parametrize("credential", MADE_UP)
def test_a_made_up_passkey_is_no_second_factor(ada, credential):
    set_up(sign_in(ada))
    browser = half_signed_in()
    assert browser.post("/account/second-factor/authenticate/", {"credential": credential}).status_code == 200
    assert browser.get("/account/").status_code == 302


def test_the_sign_in_page_offers_options_without_naming_anybody(client, ada):
    answer = client.get("/account/second-factor/passkeys/login/", headers={"Accept": "application/json"}).json()
    assert answer["request_options"]["publicKey"]["allowCredentials"] == []


def test_a_key_of_another_person_is_out_of_reach(ada, grace):
    key = Authenticator.objects.create(user=ada, type="webauthn", data={"name": "hers", "credential": {}})
    browser = sign_in(grace)
    prove(browser)
    for action in ("edit", "remove"):
        path = f"/account/second-factor/passkeys/{key.pk}/{action}/"
        assert browser.get(path).status_code == 404
        assert browser.post(path, {"name": "mine"}).status_code == 404
        assert Client().post(path, {"name": "mine"}).status_code == 302
    key.refresh_from_db()
    assert key.data["name"] == "hers"
