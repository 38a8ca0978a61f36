"""The pages of what was measured, where, how and by whom: what all of them have in common, and what each shows."""

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model

from runs.models import Environment, Protocol
from runs.publication import publish
from tests import factories
from tests.floor import IMPOSSIBLE, POSSIBLE, impossible_bundle

pytestmark = pytest.mark.django_db
B200 = factories.digest(factories.B200)[7:23]
BACKWARD = factories.digest(factories.BACKWARD)[7:23]
KEY = factories.SEED_KEY.removeprefix("sha256:")
# Every page, with the statements that it takes: two editions, and those of its read.
PAGES = {
    "/operations/": 4,
    "/operations/liger-group-norm/": 12,
    "/implementations/": 3,
    "/implementations/liger-group-norm-triton/": 5,
    "/projects/": 3,
    "/projects/liger-kernel/": 4,
    "/sources/liger-kernel-bench/": 6,
    "/hardware/": 3,
    "/hardware/nvidia-b200/": 6,
    "/environments/": 3,
    f"/environments/{B200}/": 5,
    "/protocols/": 3,
    f"/protocols/{BACKWARD}/": 5,
    "/records/": 6,
    f"/records/{KEY}/": 4,
}
pages = pytest.mark.parametrize("address", PAGES)


def twin(address):
    return f"{address.removesuffix('/')}.json"


@pages
def test_a_page_and_its_json_say_the_same(client, seed, address):
    page = client.get(address)
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    html = page.content.decode()
    found = client.get(twin(address))
    assert (found.status_code, found.headers["Content-Type"]) == (200, "application/json")
    assert client.get(address, headers={"accept": "application/json"}).content == found.content
    assert f'<link rel="alternate" type="application/json" href="{twin(address)}">' in html
    assert f'<link rel="canonical" href="{settings.BASE_URL}{address}' in html
    assert html.count("<h1>") == 1
    for link in linked(found.json()):
        assert client.get(link).status_code == 200, link


def linked(value):
    """The addresses of this site that a page's values lead to."""
    if isinstance(value, dict):
        if (value.get("url") or "").startswith("/"):
            yield value["url"]
        for each in value.values():
            yield from linked(each)
    elif isinstance(value, list):
        for each in value:
            yield from linked(each)


@pages
def test_a_page_is_current_until_something_is_published(client, seed, address):
    first = client.get(address)
    asked = {"if-none-match": first.headers["ETag"]}
    assert client.get(address, headers=asked).status_code == 304
    publish(factories.crowd(1))
    assert client.get(address, headers=asked).status_code == 200


@pages
@pytest.mark.parametrize("others", [0, 40])
def test_a_page_takes_a_counted_number_of_statements(client, seed, address, others, django_assert_num_queries):
    publish(factories.crowd(others, ties=others // 2))
    publish(factories.filler(others))
    with django_assert_num_queries(PAGES[address]):
        assert client.get(address).status_code == 200
    with django_assert_num_queries(1):
        client.get(address)


@pages
def test_a_page_is_read_and_nothing_else(client, seed, address):
    assert client.head(address).content == b""
    assert client.post(address).status_code == 405


@pages
def test_nobody_keeps_what_was_made_for_a_person(client, seed, address):
    client.force_login(get_user_model().objects.create_user("ann", password="a-long-password"))
    assert client.get(address).headers["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize(
    "address",
    [
        "/operations/nothing/",
        "/operations/liger-group-norm/?at.depth=3",
        "/operations/nothing/scaling.svg",
        "/implementations/nothing/",
        "/projects/nothing/",
        "/sources/nothing/",
        "/hardware/nothing/",
        "/environments/0123456789ab/",
        "/environments/short/",
        "/protocols/0123456789ab/",
        f"/protocols/{B200}/",
        "/records/0123456789ab/",
        "/records/short/",
        f"/records/{KEY[:4]}/",
    ],
)
def test_what_is_not_there_is_a_404(client, seed, address):
    assert client.get(address).status_code == 404
    assert client.get(address, headers={"accept": "application/json"}).json()["status"] == 404


@pytest.mark.parametrize(
    "address",
    [
        "/operations/?after=x",
        "/implementations/?after=WyJhIl0",
        "/projects/?after=e30",
        "/hardware/?after=!",
        "/environments/?after=WzEsMl0",
        "/records/?cursor=x",
        f"/environments/{B200}/?cursor=x",
    ],
)
def test_a_place_that_no_list_has_is_refused(client, seed, address):
    assert client.get(address).status_code == 400


@pytest.mark.parametrize(
    ("kind", "model", "digits"), [("environments", Environment, B200), ("protocols", Protocol, BACKWARD)]
)
def test_a_record_is_found_by_digest_by_the_beginning_of_it_and_by_id(client, seed, kind, model, digits):
    record = model.objects.get(digest__startswith=f"sha256:{digits}")
    for reference in (record.digest, record.digest[7:], digits[:12], str(record.id)):
        found = client.get(f"/{kind}/{reference}.json").json()
        assert found["digest"] == record.digest
        assert found["link"]["url"] == f"/{kind}/{digits}/"
        assert found["manifest"]["metadata"] == record.metadata


def test_an_implementation_shows_where_it_ranks(client, seed):
    found = client.get("/implementations/huggingface-group-norm.json").json()
    assert (found["license"], found["language"], found["revision"]) == ("Apache-2.0", "python", "")
    [result] = found["results"]
    assert (result["rank"], result["ranked"], result["run"]) == (2, 2, str(seed.id))
    assert result["ratio"] == pytest.approx(73_728 / 67_328)
    [gpu] = found["hardware"]
    assert (gpu["runs"], gpu["ranked"], gpu["first"]) == (1, 1, 0)
    html = client.get("/implementations/liger-group-norm-triton/").content.decode()
    assert "pip install liger-kernel" in html
    assert "not published" in client.get("/implementations/huggingface-group-norm/").content.decode()
    assert client.get("/implementations/huggingface-group-norm.json?hardware=nvidia-h100-pcie").json()["results"] == []


def test_hardware_shows_its_bandwidth_and_who_printed_it(client, seed):
    html = client.get("/hardware/nvidia-b200/").content.decode()
    assert "8.00 TB/s" in html
    assert "https://www.nvidia.com/en-us/data-center/hgx/" in html


def test_a_source_shows_its_counts_terms_and_files(client, seed):
    found = client.get("/sources/liger-kernel-bench.json").json()
    assert found["runs"] == 2
    assert found["statuses"] == [{"slug": "passed", "name": "passed", "count": 2}]
    assert found["first_observed"] == "2026-02-28T00:23:28Z"
    assert [file["version"] for file in found["snapshots"]] == ["0.8.4"]
    assert found["hardware"] == [{"slug": "nvidia-b200", "name": "NVIDIA B200", "count": 2}]


def test_an_environment_lists_its_runs_page_by_page(client, db):
    publish(factories.filler(60))
    first = client.get(f"/environments/{B200}.json").json()
    second = client.get(f"/environments/{B200}.json?cursor={first['runs']['next']}").json()
    assert (len(first["runs"]["rows"]), len(second["runs"]["rows"]), second["runs"]["next"]) == (50, 10, None)
    assert first["run_count"] == 60


def test_a_chart_is_kept_for_ever_under_the_name_of_its_content(client, db):
    publish(factories.filler(3))
    html = client.get("/operations/liger-group-norm/").content.decode()
    address = html.partition('<img src="')[2].partition('"')[0]
    drawn = client.get(address)
    assert (drawn.status_code, drawn.headers["Content-Type"]) == (200, "image/svg+xml")
    assert drawn.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert drawn.content.startswith(b"<svg")
    assert client.get(f"{address}&width=narrow").content != drawn.content
    publish(factories.filler(4))
    assert client.get(address).content == drawn.content
    moved = client.get("/operations/liger-group-norm/scaling.svg?v=another")
    assert moved.status_code == 302
    assert moved.headers["Location"] != address
    assert client.get(moved.headers["Location"]).status_code == 200


def test_a_record_has_a_chart_where_it_changed_hands(client, seed):
    # Observed three seconds after the other, and slower: the first place never changed.
    assert client.get(f"/records/{KEY}/steps.svg").status_code == 404
    faster = factories.liger_run("liger", factories.LIGER, "05:00:00", (0.05, 0.05, 0.05))
    publish(factories.bundle(faster))
    assert "<img" in client.get(f"/records/{KEY}/").content.decode()
    assert client.get(f"/records/{KEY}/steps.svg", follow=True).headers["Content-Type"] == "image/svg+xml"


def test_a_run_page_says_how_near_the_floor_it_is(client, db):
    publish(impossible_bundle())
    ids = {row["digest"]: row["id"] for row in client.get("/runs.json").json()["rows"]}
    possible = client.get(f"/runs/{ids[factories.digest(POSSIBLE)]}/").content.decode()
    impossible = client.get(f"/runs/{ids[factories.digest(IMPOSSIBLE)]}/").content.decode()
    assert "of the physical floor reached" in possible
    assert "2.00 TB/s" in possible
    assert "Below the physical floor" in impossible
    assert "Below the physical floor" not in possible


def test_an_empty_index_has_every_list(client, db):
    for address in ("operations", "implementations", "projects", "hardware", "environments", "protocols", "records"):
        assert client.get(f"/{address}/").status_code == 200
        assert client.get(f"/{address}.json").status_code == 200
