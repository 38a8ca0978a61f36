"""Statuses, headers, problems and budgets, whatever the address."""

import pytest
from django.test import override_settings

from runs.api import limits
from runs.api.limits import COSTLY, READ, Counter, client_of
from runs.api.problems import KINDS
from runs.models import Run
from runs.publication import publish
from runs.redaction import redact
from tests.factories import seed_bundle
from tests.search.examples import example_bundle

pytestmark = pytest.mark.django_db
NO_SUCH = [
    "runs/00000000-0000-0000-0000-000000000000",
    "runs/sha256:000000000000",
    "runs/nonsense",
    "groups/000000000000",
    "groups/nonsense",
    "operations/nonsense",
    "implementations/nonsense",
    "projects/nonsense",
    "hardware/nonsense",
    "environments/nonsense",
    "protocols/nonsense",
    "sources/nonsense",
    "records/nonsense",
    "reruns/nonsense",
    "reruns/00000000-0000-0000-0000-000000000000",
    "runners/nonsense",
    "nonsense",
    "runs/",
    "runs/a/b",
    "operations/%00",
    "",
]


@pytest.mark.parametrize("address", NO_SUCH)
def test_what_is_not_there_is_a_problem_with_a_code(client, address):
    response = client.get(f"/api/v1/{address}")
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert problem["code"] == "NOT_FOUND"
    assert problem["type"].endswith("/api/v1/reference#NOT_FOUND")
    assert set(problem) == {"type", "title", "status", "code", "detail", "instance", "errors"}


def test_codes_and_statuses_stay_what_they_are():
    assert {code: kind.status for code, kind in KINDS.items()} == {
        "INVALID_PARAMETER": 400,
        "UNKNOWN_PARAMETER": 400,
        "INVALID_CURSOR": 400,
        "INVALID_REQUEST": 400,
        "INVALID_BODY": 400,
        "UNAUTHENTICATED": 401,
        "FORBIDDEN": 403,
        "NOT_FOUND": 404,
        "AMBIGUOUS": 404,
        "METHOD_NOT_ALLOWED": 405,
        "REMOVED": 410,
        "TOO_LARGE": 413,
        "UNSUPPORTED_MEDIA_TYPE": 415,
        "TOO_MANY_REQUESTS": 429,
        "INTERNAL": 500,
    }


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_a_read_takes_no_other_method(client, method):
    response = getattr(client, method)("/api/v1/runs")
    assert (response.status_code, response.json()["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert response.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize(
    "address",
    ["runs", "groups", "operations", "hardware", "sources", "records", "reruns", "runners", "search?q=rmsnorm"],
)
def test_the_same_answer_is_not_sent_twice(client, index, address):
    first = client.get(f"/api/v1/{address}")
    assert first.status_code == 200
    again = client.get(f"/api/v1/{address}", headers={"if-none-match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert "RateLimit" in again.headers


@pytest.mark.parametrize("address", ["runs", "groups", "operations", "sources", "records"])
def test_a_publication_changes_what_is_answered(client, index, address):
    etag = client.get(f"/api/v1/{address}").headers["ETag"]
    publish(seed_bundle())
    assert client.get(f"/api/v1/{address}", headers={"if-none-match": etag}).status_code == 200


def test_a_run_and_a_group_change_when_somebody_joins_them(client, seed):
    publish(example_bundle())
    run, group = f"/api/v1/runs/{seed.id}", f"/api/v1/groups/{seed.comparison_key}"
    for address in (run, group, f"{run}?include=group", f"{group}?include=record"):
        first = client.get(address)
        assert client.get(address, headers={"if-none-match": first.headers["ETag"]}).status_code == 304


def test_scripts_of_other_sites_may_read_and_bring_no_credentials(client, index):
    for response in (client.get("/api/v1/runs"), client.get("/api/v1/runs/nonsense"), client.options("/api/v1/runs")):
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in response.headers
    preflight = client.options("/api/v1/resolve")
    assert (preflight.status_code, preflight.headers["Access-Control-Allow-Methods"]) == (204, "POST, OPTIONS")
    assert "Authorization" not in preflight.headers["Access-Control-Allow-Headers"]


def test_every_answer_says_what_is_left(client, index):
    first, second = client.get("/api/v1/runs"), client.get("/api/v1/operations")
    assert first.headers["RateLimit-Policy"] == '"read";q=600;w=60'
    assert [response.headers["RateLimit"].split(";")[1] for response in (first, second)] == ["r=599", "r=598"]
    assert client.get("/api/v1/search").headers["RateLimit-Policy"] == '"costly";q=60;w=60'


def test_who_asks_too_often_is_told_when_to_come_back(client, index):
    with override_settings(API_QUOTAS={"read": 2, "costly": 1}):
        assert [client.get("/api/v1/runs").status_code for _ in range(3)] == [200, 200, 429]
        refused = client.get("/api/v1/hardware")
        assert refused.json()["code"] == "TOO_MANY_REQUESTS"
        assert 1 <= int(refused.headers["Retry-After"]) <= limits.WINDOW
        assert refused.headers["RateLimit"].startswith('"read";r=0;t=')
        assert client.get("/api/v1/runs", REMOTE_ADDR="192.0.2.7").status_code == 200
        assert [client.get("/api/v1/search").status_code for _ in range(2)] == [200, 429]


def test_a_client_cannot_choose_its_own_address(client, index):
    with override_settings(API_QUOTAS={"read": 1, "costly": 1}):
        assert client.get("/api/v1/runs", headers={"x-forwarded-for": "192.0.2.1"}).status_code == 200
        assert client.get("/api/v1/runs", headers={"x-forwarded-for": "192.0.2.2"}).status_code == 429


def test_behind_a_proxy_the_address_is_the_one_that_it_saw(client, index):
    with override_settings(API_QUOTAS={"read": 1, "costly": 1}, ALLAUTH_TRUSTED_PROXY_COUNT=1):
        assert client.get("/api/v1/runs", headers={"x-forwarded-for": "192.0.2.9, 192.0.2.1"}).status_code == 200
        assert client.get("/api/v1/runs", headers={"x-forwarded-for": "192.0.2.8, 192.0.2.1"}).status_code == 429
        assert client.get("/api/v1/runs", headers={"x-forwarded-for": "192.0.2.8, 192.0.2.2"}).status_code == 200


def test_a_budget_is_whole_again_in_the_next_window():
    now = [600.0]
    counter = Counter(clock=lambda: now[0])
    with override_settings(API_QUOTAS={"read": 3, "costly": 1}):
        assert counter.take(READ, "a", 2).remaining == 1
        over = counter.take(READ, "a", 2)
        assert (over.granted, over.remaining, over.reset) == (False, 1, 60)
        assert counter.take(READ, "b").granted
        assert counter.take(COSTLY, "a").granted
        now[0] = 659.5
        assert counter.take(READ, "a", 2).reset == 1
        now[0] = 660.0
        assert counter.take(READ, "a", 3).granted


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("", ""),
    ],
)
def test_an_ipv6_client_is_its_network(address, client):
    assert client_of(address) == client


def test_a_fault_of_ours_is_a_problem_too(client, index, monkeypatch):
    def fail(*_):
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr("runs.api.views.places.HardwareAll.read", staticmethod(fail))
    response = client.get("/api/v1/hardware")
    assert (response.status_code, response.json()["code"]) == (500, "INTERNAL")
    assert "secret" not in response.content.decode()


def test_what_was_removed_by_law_is_gone_wherever_it_was(client, seed):
    key, others = seed.comparison_key, [str(run.id) for run in Run.objects.exclude(id=seed.id)]
    compare = f"/api/v1/compare?run={seed.id}&run={others[0]}"
    addresses = (f"/api/v1/runs/{seed.id}", f"/api/v1/runs/{seed.digest}", f"/api/v1/runs/{seed.id}?include=group")
    for address in (*addresses, compare):
        assert client.get(address).status_code == 200
    redact(seed.digest, reason="A court ordered it.", actor="A. Moderator")
    for address in (*addresses, compare):
        response = client.get(address)
        assert (response.status_code, response.json()["code"]) == (410, "REMOVED"), address
    assert seed.digest in client.get(addresses[0]).json()["detail"]
    assert client.get(f"/api/v1/groups/{key}").status_code == 200


def test_the_beginning_of_several_digests_is_ambiguous(client, seed, monkeypatch):
    monkeypatch.setattr("runs.api.views.runs.runs_with_digest", lambda _: (seed.id, seed.id))
    monkeypatch.setattr("runs.api.views.groups.group_keys", lambda _: (seed.comparison_key, "sha256:other"))
    for address in (f"runs/{seed.digest[:19]}", f"groups/{seed.comparison_key[:19]}"):
        response = client.get(f"/api/v1/{address}")
        assert (response.status_code, response.json()["code"]) == (404, "AMBIGUOUS")
