import json

import pytest
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, connection
from django.http import HttpRequest
from django.test import RequestFactory, override_settings
from django.urls import reverse

from kernelindex import errors
from runs.manifests.schemas import KINDS, json_schema
from runs.policy import ranking
from runs.policy.reasons import REASONS

JSON = {"accept": "application/json"}


@pytest.mark.django_db
def test_the_home_page_shows_counts_and_the_latest_runs(client, seed, django_assert_num_queries):
    with django_assert_num_queries(3):
        response = client.get("/")
    body = response.content.decode()
    assert response.status_code == 200
    assert "Liger-Kernel benchmarks" in body
    assert f"/runs/{seed.id}/" in body
    assert 'name="q"' in body


@pytest.mark.django_db
def test_the_sources_are_shown_with_their_licence_and_files(client, seed, django_assert_num_queries):
    with django_assert_num_queries(2):
        response = client.get("/sources/")
    body = response.content.decode()
    for part in ("Liger-Kernel benchmarks", "BSD-2-Clause", "all_benchmark_data.csv", "0.8.4"):
        assert part in body
    [row] = client.get("/sources/", headers=JSON).json()["sources"]
    assert (row["runs"], row["line"]["license"]) == (2, "BSD-2-Clause")


def test_the_methods_are_stated_from_the_constants_of_the_code(client):
    response = client.get("/methodology/")
    body = response.content.decode()
    assert response.status_code == 200
    assert ranking.VERSION in body
    for code in ("NOT_PASSED", "NO_PRIMARY_MEASUREMENT", "RETRACTED", "SUPERSEDED"):
        assert REASONS[code] in body
    for word in ("reported", "verified", "replicated", "suspected_reward_hack", "sha256"):
        assert word in body


def test_every_kind_has_a_schema(client):
    index = client.get("/schemas/").json()
    assert list(index["schemas"]) == list(KINDS)
    for kind in KINDS:
        response = client.get(f"/schemas/{kind}.json")
        assert response.headers["Content-Type"] == "application/schema+json"
        schema = response.json()
        assert schema.pop("$id") == index["schemas"][kind]
        assert schema == json_schema(kind)
    again = client.get("/schemas/BenchmarkRun.json")
    assert client.get("/schemas/BenchmarkRun.json", headers={"if-none-match": again.headers["ETag"]}).status_code == 304


def test_a_kind_that_does_not_exist_has_no_schema(client):
    response = client.get("/schemas/Nonsense.json")
    assert response.status_code == 404
    assert "There is no kind Nonsense." in response.json()["detail"]


def test_the_process_says_that_it_lives_without_the_database(client):
    assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.django_db
def test_the_process_says_whether_it_can_serve(client, monkeypatch):
    response = client.get("/readyz")
    assert (response.status_code, response.json()["database"]) == (200, "ok")
    assert "no-store" in response.headers["Cache-Control"]

    def broken():
        raise DatabaseError

    monkeypatch.setattr(connection, "cursor", broken)
    assert client.get("/readyz").status_code == 503


def test_robots_may_read_what_is_public(client):
    response = client.get("/robots.txt")
    assert response.headers["Content-Type"].startswith("text/plain")
    assert "Disallow: /admin/" in response.content.decode()


@pytest.mark.parametrize("path", ["/nothing/", "/runs/x/y/", "/schemas/x/", "/nothing"])
def test_what_is_not_there_is_a_404_for_people_and_for_programs(client, path):
    response = client.get(path)
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "There is nothing at this address." in response.content.decode()
    problem = client.get(path, headers=JSON)
    assert problem.headers["Content-Type"] == "application/problem+json"
    assert problem.json() == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "There is nothing at this address.",
        "instance": path,
    }
    assert "Accept" in response.headers["Vary"]


def test_an_address_that_ends_in_json_is_answered_in_json(client):
    assert client.get("/nothing.json").headers["Content-Type"] == "application/problem+json"


def test_the_path_of_an_error_is_no_markup(client):
    assert b"<script>" not in client.get("/<script>alert(1)</script>/").content


def test_a_wrong_method_is_refused_with_a_page(client, db):
    response = client.post(reverse("runs"))
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")
    assert "This address does not take such a request." in response.content.decode()
    problem = client.post(reverse("runs"), headers=JSON)
    assert problem.json()["status"] == 405
    assert problem.headers["Allow"] == "GET, HEAD"


@override_settings(ALLOWED_HOSTS=["good.example"])
def test_an_unknown_host_is_a_bad_request_that_says_nothing_of_us(client):
    response = client.get("/methodology/", headers={"host": "evil.example"})
    assert response.status_code == 400
    assert b"ALLOWED_HOSTS" not in response.content


def test_a_fault_of_ours_is_a_500_that_needs_no_database(client, monkeypatch, caplog):
    """No database mark here: touching it would fail this test."""
    from runs.views import overview

    def broken():
        raise RuntimeError("secret detail")

    monkeypatch.setattr(overview, "methodology_page", broken)
    client.raise_request_exception = False
    response = client.get("/methodology/")
    assert response.status_code == 500
    assert "Something went wrong on our side." in response.content.decode()
    assert "secret detail" not in response.content.decode()
    assert client.get("/methodology/", headers=JSON).json()["status"] == 500


def test_the_error_page_has_a_plain_form_for_when_its_template_breaks(monkeypatch):
    def broken(*args: object, **kwargs: object):
        raise RuntimeError

    monkeypatch.setattr(errors, "render_to_string", broken)
    response = errors.server_error(RequestFactory().get("/"))
    assert response.status_code == 500
    assert "<h1>Internal Server Error</h1>" in response.content.decode()


def test_a_refusal_shows_the_sentence_that_was_written_for_it():
    response = errors.permission_denied(RequestFactory().get("/x.json"), PermissionDenied("Sign in first."))
    assert (response.status_code, json.loads(response.content)["detail"]) == (403, "Sign in first.")
    assert errors.csrf_failure(RequestFactory().get("/")).status_code == 403


@pytest.mark.parametrize("status", [400, 403, 404, 405, 410, 429, 500, 503, 413])
def test_every_error_has_a_page(status):
    response = errors.error_response(request := RequestFactory().get("/x"), status)
    assert isinstance(request, HttpRequest)
    assert response.status_code == status
    assert f"{status}" in response.content.decode()
    assert response.headers["Cache-Control"] == "no-store"
