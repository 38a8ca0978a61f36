import gzip
import hashlib
import json
import uuid
from datetime import UTC, datetime

import brotli
import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from runs.models import Run
from runs.publication import publish, retract
from runs.reads.run_page import run_page
from tests import factories

pytestmark = pytest.mark.django_db


def address(run, rest="/"):
    return f"/runs/{run.id}{rest}"


def test_the_json_twin_is_the_page_field_for_field(client, seed):
    response = client.get(address(seed, ".json"))
    assert response.headers["Content-Type"] == "application/json"
    twin = response.json()
    page = run_page(seed.id)[0]
    assert set(twin) == set(page.__slots__)
    assert twin["primary"] == {
        "metric": "latency",
        "statistic": "median",
        "unit": "ns",
        "value": 73728,
        "samples": None,
    }
    assert twin["native_metrics"][0] == ["ms_20", 0.07171200215816498]
    assert twin["observed_at"] == "2026-02-28T00:23:31Z"
    assert twin["id"] == str(seed.id)
    assert (twin["rank"], twin["ranked"], twin["operation"]["url"]) == (2, 2, "/operations/liger-group-norm/")
    assert twin["manifest"]["run"]["spec"]["timing"]["latencyNs"]["median"] == 73728
    assert b'"value":73728,' in response.content


def test_numbers_of_the_twin_are_those_of_the_manifest(client, seed):
    spec = json.loads(seed.canonical)["spec"]
    assert client.get(address(seed, ".json")).json()["manifest"]["run"]["spec"] == spec


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json", "application/json"),
        ("application/json;q=0.9, text/html;q=0.1", "application/json"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8"),
        ("text/html, application/json", "text/html; charset=utf-8"),
        ("*/*", "text/html; charset=utf-8"),
        ("", "text/html; charset=utf-8"),
    ],
)
def test_one_address_gives_the_page_or_its_json(client, seed, accept, kind):
    response = client.get(address(seed), headers={"accept": accept})
    assert response.status_code == 200
    assert response.headers["Content-Type"] == kind
    assert "Accept" in response.headers["Vary"]


def test_the_manifest_digests_to_what_the_page_says(client, seed):
    response = client.get(address(seed, "/manifest.json"))
    assert "sha256:" + hashlib.sha256(response.content).hexdigest() == seed.digest
    assert response.headers["Content-Disposition"] == f'attachment; filename="{seed.digest.replace(":", "-")}.json"'
    compressed = client.get(address(seed, "/manifest.json"), headers={"accept-encoding": "gzip"})
    assert hashlib.sha256(gzip.decompress(compressed.content)).hexdigest() == seed.digest.removeprefix("sha256:")


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("txt", "text/plain; charset=utf-8"),
        ("bib", "application/x-bibtex; charset=utf-8"),
        ("ris", "application/x-research-info-systems; charset=utf-8"),
        ("csl.json", "application/vnd.citationstyles.csl+json"),
        ("cff", "application/yaml; charset=utf-8"),
    ],
)
def test_a_citation_has_an_address_for_each_form(client, seed, form, kind):
    response = client.get(address(seed, f"/cite.{form}"))
    assert response.headers["Content-Type"] == kind
    written = response.content.decode()
    assert seed.digest in written
    assert "rank 2 of 2" in written
    assert datetime.now(UTC).strftime("%Y") in written


@pytest.mark.parametrize("rest", ["/", ".json", "/manifest.json", "/cite.txt", "/cite.bib"])
def test_what_does_not_exist_is_not_found(client, db, rest):
    assert client.get(f"/runs/{uuid.uuid4()}{rest}").status_code == 404


def test_an_unknown_form_of_citation_names_those_there_are(client, seed):
    response = client.get(address(seed, "/cite.docx"), headers={"accept": "application/json"})
    assert response.status_code == 404
    assert response.json()["detail"] == "Citations come as txt, bib, ris, csl.json, cff."


@pytest.mark.parametrize("rest", ["/", ".json", "/manifest.json", "/cite.txt"])
@pytest.mark.parametrize("encoding", ["", "gzip", "br"])
def test_a_conditional_request_is_answered_without_rendering(client, seed, rest, encoding, django_assert_num_queries):
    headers = {"accept-encoding": encoding}
    first = client.get(address(seed, rest), headers=headers)
    assert first.status_code == 200
    assert first.headers["ETag"].startswith('"')
    with django_assert_num_queries(1):
        again = client.get(address(seed, rest), headers={**headers, "if-none-match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert again.headers["Cache-Control"] == "public, no-cache"
    since = client.get(address(seed, rest), headers={**headers, "if-modified-since": first.headers["Last-Modified"]})
    assert since.status_code == 304
    other = client.get(address(seed, rest), headers={**headers, "if-none-match": '"other"'})
    assert other.content == first.content


def test_every_encoding_has_an_etag_of_its_own_and_the_same_content(client, seed):
    answers = {
        encoding: client.get(address(seed), headers={"accept-encoding": encoding})
        for encoding in ("", "gzip", "br", "gzip, deflate, br, zstd", "identity", "gzip;q=0", "gzip;q=0.5, br;q=0.1")
    }
    chosen = {encoding: response.headers.get("Content-Encoding", "") for encoding, response in answers.items()}
    assert list(chosen.values()) == ["", "gzip", "br", "br", "", "", "gzip"]
    plain = answers[""].content
    assert gzip.decompress(answers["gzip"].content) == plain
    assert brotli.decompress(answers["br"].content) == plain
    assert len({answers[encoding].headers["ETag"] for encoding in ("", "gzip", "br")}) == 3
    for encoding, response in answers.items():
        assert "Accept-Encoding" in response.headers["Vary"], encoding
        assert int(response.headers["Content-Length"]) == len(response.content)


def test_a_head_request_has_the_headers_and_no_body(client, seed):
    full, head = client.get(address(seed)), client.head(address(seed))
    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Last-Modified", "Content-Length", "Content-Type"):
        assert head.headers[name] == full.headers[name]


def test_a_warm_page_takes_one_statement_and_a_cold_one_five(client, seed, django_assert_num_queries):
    with django_assert_num_queries(5):  # state, page, neighbours, artifacts, and whether people said anything
        first = client.get(address(seed))
    with django_assert_num_queries(1):
        assert client.get(address(seed)).content == first.content
    publish(factories.crowd(40))
    with django_assert_num_queries(5):
        client.get(address(seed))


def test_a_page_shows_what_changed_at_once(client, seed):
    before = client.get(address(seed))
    publish(factories.crowd(1))
    after = client.get(address(seed), headers={"if-none-match": before.headers["ETag"]})
    assert after.status_code == 200
    assert after.headers["ETag"] != before.headers["ETag"]
    retract(seed.digest, reason="measured the wrong kernel", actor="the source")
    assert b"measured the wrong kernel" in client.get(address(seed)).content
    assert client.get(address(seed, ".json")).json()["rank"] is None


def test_a_page_that_names_the_day_changes_with_it(client, seed, monkeypatch):
    from runs.views import run as view

    before = client.get(address(seed))
    monkeypatch.setattr(view, "_today", lambda: datetime(2199, 1, 2, tzinfo=UTC).date())
    after = client.get(address(seed), headers={"if-none-match": before.headers["ETag"]})
    assert after.status_code == 200
    assert b"2199-01-02" in after.content
    assert after.headers["Last-Modified"] == "Wed, 02 Jan 2199 00:00:00 GMT"
    assert "2199" in client.get(address(seed, "/cite.txt")).content.decode()


def test_a_query_string_makes_no_other_page(client, seed):
    assert client.get(address(seed) + "?utm=1").content == client.get(address(seed)).content


def test_people_who_are_signed_in_neither_get_nor_fill_the_page_of_strangers(seed, django_assert_num_queries):
    stranger, person = Client(), Client()
    anonymous = stranger.get(address(seed))
    person.force_login(get_user_model().objects.create_user("someone"))
    own = person.get(address(seed), headers={"if-none-match": anonymous.headers["ETag"]})
    assert own.status_code == 200
    assert own.headers["Cache-Control"] == "private, no-store"
    assert "ETag" not in own.headers
    with django_assert_num_queries(1):
        assert stranger.get(address(seed)).content == anonymous.content


def test_a_message_waiting_for_a_visitor_keeps_their_page_private(client, seed):
    client.cookies["messages"] = "something"
    assert client.get(address(seed)).headers["Cache-Control"] == "private, no-store"


def test_an_anonymous_page_never_touches_the_session(client, seed):
    response = client.get(address(seed))
    assert "Cookie" not in response.headers["Vary"]
    assert "Set-Cookie" not in response.headers
    assert response.headers["Cache-Control"] == "public, no-cache"


def test_a_digest_leads_to_its_run(client, seed):
    digits = seed.digest.removeprefix("sha256:")
    for reference in (
        seed.digest,
        f"sha256:{digits[:12]}",
        f"sha256:{digits[:30].upper()}",
        str(seed.id).upper(),
        seed.id.hex,
    ):
        response = client.get(f"/runs/{reference}/")
        assert response.status_code == 302, reference
        assert response.headers["Location"] == address(seed)


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("sha256:" + "0" * 64, "There is no run with this digest."),
        ("sha256:" + "0" * 12, "There is no run with this digest."),
        ("sha256:5cde9b90d5f", "The beginning of a digest needs at least 12 hexadecimal digits."),
        (
            "sha256:" + "0" * 65,
            "This is neither the id of a run nor a digest: a digest is sha256: and 64 hexadecimal digits.",
        ),
        ("sha256:xyz", "This is neither the id of a run nor a digest: a digest is sha256: and 64 hexadecimal digits."),
        ("nonsense", "This is neither the id of a run nor a digest: a digest is sha256: and 64 hexadecimal digits."),
    ],
)
def test_a_reference_to_nothing_is_not_found_and_says_why(client, seed, reference, sentence):
    response = client.get(f"/runs/{reference}/", headers={"accept": "application/json"})
    assert response.status_code == 404
    assert response.json()["detail"] == sentence
    assert client.get(f"/runs/{reference}/").status_code == 404


def test_an_ambiguous_beginning_lists_the_candidates(client, monkeypatch, seed):
    from runs.reads import lookup
    from runs.views import run as view

    # Digests that share twelve digits cannot be made for a test; sharing one is easy.
    publish(factories.crowd(40))
    first = Run.objects.order_by("digest").first().digest[7]
    monkeypatch.setattr(view, "parse_digest", lambda reference: first)
    wanted = sorted(Run.objects.filter(digest__startswith=f"sha256:{first}").values_list("digest", flat=True))
    assert len(wanted) > 1
    response = client.get(f"/runs/sha256:{first}/")
    assert response.status_code == 300
    for digest in wanted[: lookup.MOST_CANDIDATES]:
        assert str(Run.objects.get(digest=digest).id) in response.content.decode()
    listed = client.get(f"/runs/sha256:{first}/", headers={"accept": "application/json"})
    assert listed.status_code == 300
    assert [each["digest"] for each in listed.json()["candidates"]] == wanted[: lookup.MOST_CANDIDATES]


@pytest.mark.parametrize("rest", ["/", ".json", "/manifest.json", "/cite.txt"])
@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_a_run_can_only_be_read(seed, rest, method):
    response = getattr(Client(enforce_csrf_checks=True), method)(address(seed, rest))
    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, HEAD"
