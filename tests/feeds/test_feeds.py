"""What programs that follow the index are told, as a feed parser reads it."""

import feedparser
import pytest
from django.conf import settings

from runs.models import Run
from runs.publication import publish
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def record():
    """The first of the seed's group, and a run observed a day later that takes its place."""
    publish(factories.seed_bundle())
    faster = factories.run(
        factories.TRANSFORMERS,
        factories.workload(),
        name="faster",
        title="faster",
        median=60_000,
        observed_at="2026-03-01T00:00:00Z",
        sourceNative={"source": "liger-kernel-bench"},
    )
    publish(factories.bundle(faster))
    return Run.objects.get(digest=factories.digest(faster))


def parsed(client, address):
    response = client.get(address)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    feed = feedparser.parse(response.content)
    assert not feed.bozo, feed.get("bozo_exception")
    return feed


def test_new_runs_come_as_atom(client):
    publish(factories.seed_bundle())
    feed = parsed(client, "/feeds/runs.atom")
    assert feed.version == "atom10"
    assert feed.feed.id == f"{settings.BASE_URL}/runs/"
    assert {link.href for link in feed.feed.links if link.rel == "self"} == {f"{settings.BASE_URL}/feeds/runs.atom"}
    newest = Run.objects.order_by("-id").first()
    assert [entry.id for entry in feed.entries] == [f"urn:uuid:{run.id}" for run in Run.objects.order_by("-id")]
    assert feed.entries[0].link == f"{settings.BASE_URL}/runs/{newest.id}/"
    assert "73.7 µs" in feed.entries[0].summary
    assert feed.entries[0].updated == newest.published_at.isoformat()


def test_new_runs_come_as_a_json_feed(client):
    publish(factories.seed_bundle())
    response = client.get("/feeds/runs.json")
    assert response.headers["Content-Type"] == "application/feed+json"
    feed = response.json()
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["feed_url"] == f"{settings.BASE_URL}/feeds/runs.json"
    assert [item["id"] for item in feed["items"]] == [f"urn:uuid:{run.id}" for run in Run.objects.order_by("-id")]
    for item in feed["items"]:
        assert item.keys() >= {"id", "url", "title", "content_text", "date_published"}
        assert item["date_published"].endswith("Z")


def test_a_record_says_what_it_displaced_and_by_how_much(client, record):
    [entry] = parsed(client, "/feeds/records.atom").entries
    assert entry.id == f"urn:uuid:{record.id}#record"
    assert entry.title == "GroupNorm on NVIDIA B200: 60.0 µs, Transformers"
    assert "it was 67.3 µs, Liger-Kernel: 0.891 × that" in entry.summary
    assert client.get(entry.link.removeprefix(settings.BASE_URL)).status_code == 200
    [item] = client.get("/feeds/records.json").json()["items"]
    assert (item["id"], item["title"], item["url"]) == (entry.id, entry.title, entry.link)


def test_a_first_that_displaced_nobody_is_no_record(client):
    publish(factories.filler(2))
    assert parsed(client, "/feeds/records.atom").entries == []
    assert client.get("/feeds/records.json").json()["items"] == []


def test_made_up_runs_are_no_news(client):
    publish(factories.filler(2, illustrative=True))
    assert parsed(client, "/feeds/runs.atom").entries == []


@pytest.mark.parametrize("address", ["/feeds/runs.atom", "/feeds/records.json"])
def test_whoever_has_the_feed_is_told_so_until_something_is_published(client, record, address):
    first = client.get(address)
    again = client.get(address, headers={"if-none-match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    publish(factories.filler(1))
    assert client.get(address, headers={"if-none-match": first.headers["ETag"]}).status_code == 200


def test_a_feed_takes_a_counted_number_of_statements(client, record, django_assert_num_queries):
    publish(factories.crowd(20))
    for address, statements in (("/feeds/runs.atom", 3), ("/feeds/records.atom", 4)):
        with django_assert_num_queries(statements):
            client.get(address)


def test_there_is_no_other_form(client, db):
    assert client.get("/feeds/runs.rss").status_code == 404
    assert client.post("/feeds/runs.atom").status_code == 405
