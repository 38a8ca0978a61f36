"""Stating and reporting something with a token."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from attestations.accounts.models import User
from attestations.accounts.tokens import Scope, create_token, revoke_token
from attestations.models import Report, Statement, Suspension
from attestations.reads.facts import run_facts
from attestations.services import moderation

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_facts():
    run_facts.cache_clear()


@pytest.fixture
def ada(db):
    return User.objects.create_user("ada", "ada@example.org", "a password of some length")


def key(user, *scopes):
    return create_token(user, name="laptop", scopes=scopes or [Scope.ATTEST], life=timedelta(days=1))


def post(client, address, body, token=None):
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return client.post(f"/api/v1/{address}", body, content_type="application/json", headers=headers)


STATED = {"kind": "reproduced", "value": 74000, "unit": "ns", "statistic": "median", "note": "On a **B200**."}
REPORTED = {"reason": "licence", "detail": "The licence is another one."}


def test_a_statement_is_what_its_page_would_have_made(client, seed, ada):
    _, token = key(ada)
    body = {**STATED, "run": seed.digest, "environment": {"gpu": "NVIDIA B200", "libraries": {"triton": "3.5.0"}}}
    response = post(client, "attestations", body, token)
    assert response.status_code == 201, response.content
    made = Statement.objects.get()
    assert (made.author, made.run, made.state) == (ada, seed, "waiting")
    assert response.headers["Location"].endswith(f"/statements/{made.id}/")
    assert response.headers["Cache-Control"] == "private, no-store"
    said = response.json()["statement"]["said"]
    assert (said["measured"]["value"], said["note"]) == (74000, "On a **B200**.")
    assert ["triton", "3.5.0"] in said["environment"]


def test_nobody_reads_a_statement_before_it_is_published(client, seed, ada):
    _, token = key(ada)
    made = post(client, "attestations", {**STATED, "run": str(seed.id)}, token).json()["statement"]["id"]
    assert client.get(f"/api/v1/runs/{seed.id}/attestations").json()["statements"] == []
    assert client.get(f"/api/v1/attestations/{made}").status_code == 404
    moderator = User.objects.create_user("mo", "mo@example.org", "a password of some length", is_staff=True)
    moderator.groups.set(Group.objects.filter(name="moderator"))
    moderation.decide_statement(moderator, Statement.objects.get().id, "publish", reason="Fine.")
    [row] = client.get(f"/api/v1/runs/{seed.digest}/attestations").json()["statements"]
    assert row == client.get(f"/api/v1/attestations/{made}").json()["statement"]
    assert row["author"]["name"] == "ada"


def test_a_report_is_filed_for_the_person(client, seed, ada):
    _, token = key(ada)
    response = post(client, "reports", {**REPORTED, "run": str(seed.id)}, token)
    assert response.status_code == 201, response.content
    filed = Report.objects.get()
    assert (filed.reporter, filed.run, filed.reason) == (ada, seed, "licence")
    assert response.json()["state"] == "open"
    assert response.headers["Location"].endswith(f"/reports/{filed.id}/")


@pytest.mark.parametrize(("address", "body"), [("attestations", STATED), ("reports", REPORTED)])
def test_without_a_token_that_may_nothing_is_taken(client, seed, ada, address, body):
    body = {**body, "run": str(seed.id)}
    _, reading = key(ada, Scope.READ)
    revoked, token = key(ada)
    revoke_token(ada, revoked.public_id)
    client.force_login(ada)  # a session is no token
    for given, status, code in (
        (None, 401, "UNAUTHENTICATED"),
        ("kix_nonsense", 401, "UNAUTHENTICATED"),
        (token, 401, "UNAUTHENTICATED"),
        (reading, 403, "FORBIDDEN"),
    ):
        response = post(client, address, body, given)
        assert (response.status_code, response.json()["code"]) == (status, code)
        assert ("WWW-Authenticate" in response.headers) == (status == 401)
    assert not Statement.objects.exists()
    assert not Report.objects.exists()


def test_a_service_refuses_under_its_own_code(client, seed, ada):
    _, token = key(ada)
    body = {**STATED, "run": str(seed.id)}
    assert post(client, "attestations", body, token).status_code == 201
    twice = post(client, "attestations", body, token)
    assert (twice.status_code, twice.json()["code"], twice.json()["type"]) == (409, "TWICE", "about:blank")
    statuses = [post(client, "reports", {**REPORTED, "run": str(seed.id)}, token) for _ in range(4)]
    assert [each.status_code for each in statuses] == [201, 201, 201, 429]
    assert statuses[-1].headers["Retry-After"] == "3600"
    Suspension.objects.create(person=ada, reason="Spam.", at=timezone.now())
    suspended = post(client, "attestations", {**body, "kind": "environment_note"}, token)
    assert (suspended.status_code, suspended.json()["code"]) == (403, "SUSPENDED")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"kind": "perfect"}, "kind"),
        ({"value": -1}, "value"),
        ({"statistic": "best"}, "statistic"),
        ({"evidence_url": "http://example.org"}, "evidence_url"),
        ({"level": "verified"}, "level"),
        ({"environment": {"disk": "x"}}, "environment.disk"),
        ({"value": 740000}, ""),
    ],
)
def test_what_is_wrong_is_named_as_the_form_names_it(client, seed, ada, change, place):
    _, token = key(ada)
    response = post(client, "attestations", {**STATED, "run": str(seed.id), **change}, token)
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_BODY")
    assert {error["place"] for error in response.json()["errors"]} == {place}


def test_a_value_far_from_the_runs_is_stated_once_it_is_confirmed(client, seed, ada):
    _, token = key(ada)
    body = {**STATED, "value": 147456, "run": str(seed.id)}
    assert "2 ×" in post(client, "attestations", body, token).json()["errors"][0]["detail"]
    assert post(client, "attestations", {**body, "confirmed": "2"}, token).status_code == 201


def test_scripts_of_other_sites_may_not_speak(client, seed):
    response = client.options("/api/v1/attestations")
    assert "Access-Control-Allow-Origin" not in response.headers
