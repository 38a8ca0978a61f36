"""API tokens: shown once, stored as digests, limited in scope and time, revocable."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attestations.accounts import tokens
from attestations.accounts.models import ApiToken, User
from attestations.accounts.tokens import Scope, TooManyTokens, authenticate_token, create_token, revoke_token
from tests.accounts.conftest import prove, sign_in

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def make(user: User, *scopes: Scope, life: timedelta = DAY) -> tuple[ApiToken, str]:
    return create_token(user, name="laptop", scopes=scopes or (Scope.READ,), life=life)


def test_a_token_is_made_shown_once_and_works(ada):
    browser = sign_in(ada)
    prove(browser)
    form = {"name": "laptop", "scopes": ["read", "attest"], "days": "30"}
    page = browser.post("/account/tokens/", form)
    text = re.search(r'<code id="token">(kix_\w+)</code>', page.content.decode())[1]
    assert "no-store" in page["Cache-Control"]
    assert text not in browser.get("/account/tokens/").content.decode()
    assert authenticate_token(f"Bearer {text}") == (ada, {Scope.READ, Scope.ATTEST})


def test_making_one_asks_for_the_password_again(ada):
    response = sign_in(ada).post("/account/tokens/", {"name": "laptop", "scopes": ["read"], "days": "30"})
    assert response["Location"].startswith("/account/reauthenticate/")
    assert not ApiToken.objects.exists()


def test_the_text_is_not_in_the_database(ada):
    token, text = make(ada)
    row = str(ApiToken.objects.values().get())
    assert text not in row
    assert text[15:] not in row
    assert len(token.digest) == 128


def test_a_form_without_a_scope_makes_nothing(ada):
    browser = sign_in(ada)
    prove(browser)
    page = browser.post("/account/tokens/", {"name": "laptop", "days": "30"}).content.decode()
    assert "Choose at least one." in page
    assert 'value="laptop"' in page
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("change", [{"scopes": ["admin"]}, {"days": "4000"}, {"days": "-1"}, {"name": "x" * 61}])
def test_a_form_cannot_ask_for_more(ada, change):
    browser = sign_in(ada)
    prove(browser)
    form = {"name": "laptop", "scopes": ["read"], "days": "30", **change}
    assert browser.post("/account/tokens/", form).status_code == 200
    assert not ApiToken.objects.exists()


def test_a_token_has_the_scopes_it_was_made_with_and_no_other(ada):
    _, text = make(ada, Scope.READ)
    assert authenticate_token(f"Bearer {text}") == (ada, {Scope.READ})


def test_a_token_without_a_scope_or_an_end_cannot_be_made(ada):
    for scopes, life in (((), DAY), ((Scope.READ,), timedelta(0)), ((Scope.READ,), timedelta(days=400))):
        with pytest.raises(ValueError, match="within a year"):
            create_token(ada, name="x", scopes=scopes, life=life)


def test_an_expired_token_is_refused(ada):
    token, text = make(ada)
    ApiToken.objects.filter(pk=token.pk).update(expiry=timezone.now() - timedelta(seconds=1))
    assert authenticate_token(f"Bearer {text}") is None
    assert ApiToken.objects.count() == 1  # it stays on the list, with its end


def test_a_token_without_an_end_is_refused(ada):
    token, text = make(ada)
    ApiToken.objects.filter(pk=token.pk).update(expiry=None)
    assert authenticate_token(f"Bearer {text}") is None


def test_a_token_of_a_suspended_person_is_refused(ada):
    _, text = make(ada)
    User.objects.update(is_active=False)
    assert authenticate_token(f"Bearer {text}") is None


def test_a_revoked_token_is_refused(ada):
    token, text = make(ada)
    browser = sign_in(ada)
    path = f"/account/tokens/{token.public_id}/revoke/"
    assert "cannot be undone" in browser.get(path).content.decode()
    assert authenticate_token(f"Bearer {text}")
    assert browser.post(path)["Location"] == "/account/tokens/"
    assert authenticate_token(f"Bearer {text}") is None
    first = ApiToken.objects.get().revoked_at
    assert revoke_token(ada, token.public_id)
    assert ApiToken.objects.get().revoked_at == first


def test_a_token_of_another_person_is_out_of_reach(ada, grace):
    token, text = make(ada)
    path = f"/account/tokens/{token.public_id}/revoke/"
    browser = sign_in(grace)
    assert browser.get(path).status_code == 404
    assert browser.post(path).status_code == 404
    assert Client().post(path).status_code == 302
    assert "laptop" not in browser.get("/account/tokens/").content.decode()
    assert authenticate_token(f"Bearer {text}")


def test_the_last_use_is_kept_to_the_minute(ada, django_assert_num_queries):
    _, text = make(ada)
    authenticate_token(f"Bearer {text}")
    used = ApiToken.objects.get().last_used_at
    assert used is not None
    with django_assert_num_queries(2):
        authenticate_token(f"Bearer {text}")
    assert ApiToken.objects.get().last_used_at == used


def test_both_schemes_are_taken_in_any_case(ada):
    _, text = make(ada)
    for header in (f"Bearer {text}", f"bearer  {text} ", f"Token {text}"):
        assert authenticate_token(header), header


def test_a_token_that_differs_in_one_letter_is_refused(ada):
    _, text = make(ada)
    for place in (5, 14, 15, len(text) - 1):
        other = "0" if text[place] != "0" else "1"
        assert authenticate_token(f"Bearer {text[:place]}{other}{text[place + 1 :]}") is None


def test_nobody_has_more_than_so_many(ada, monkeypatch):
    monkeypatch.setattr(tokens, "MOST", 2)
    made = [make(ada)[0] for _ in range(2)]
    with pytest.raises(TooManyTokens):
        make(ada)
    revoke_token(ada, made[0].public_id)
    make(ada)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.one_of(st.none(), st.text(max_size=300), st.text(max_size=60).map(lambda text: f"Bearer kix_{text}")))
def test_no_other_header_is_anybody(db, header):
    assert authenticate_token(header) is None
