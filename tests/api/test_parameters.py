"""Filters, fields, what comes along, and pages: whatever is not understood is refused."""

from urllib.parse import parse_qs, urlsplit

import pytest

from runs.models import Run
from runs.publication import publish
from tests import factories
from tests.search.examples import example_bundle

pytestmark = pytest.mark.django_db
LOCAL = "http://127.0.0.1:8000"


def follow(client, url):
    assert url.startswith(f"{LOCAL}/api/v1/")
    return client.get(url.removeprefix(LOCAL))


def walk(client, url, rows=lambda page: page["rows"]):
    """Every row of a list, page by page."""
    found, pages = [], 0
    page = client.get(url).json()
    while True:
        pages += 1
        found += rows(page)
        if page["next"] is None:
            return found, pages
        page = follow(client, page["next"]).json()


def test_pages_lead_to_one_another_under_the_same_filters(client):
    publish(factories.filler(120))
    first = client.get("/api/v1/runs?hardware=nvidia-b200&limit=50&fields=id,rank").json()
    second = follow(client, first["next"]).json()
    third = follow(client, second["next"]).json()
    assert [len(page["rows"]) for page in (first, second, third)] == [50, 50, 20]
    assert third["next"] is None
    assert follow(client, second["previous"]).json()["rows"] == first["rows"]
    assert {tuple(row) for page in (first, second, third) for row in page["rows"]} == {("id", "rank")}
    assert len({row["id"] for page in (first, second, third) for row in page["rows"]}) == 120


@pytest.mark.parametrize(
    ("address", "other"),
    [
        ("/api/v1/runs?hardware=nvidia-b200&limit=2", "/api/v1/runs?hardware=nvidia-h100-pcie"),
        ("/api/v1/runs?hardware=nvidia-b200&limit=2", "/api/v1/runs?hardware=nvidia-b200&status=passed"),
        ("/api/v1/runs?limit=2", "/api/v1/groups"),
        ("/api/v1/groups?limit=2", "/api/v1/groups?dtype=bf16"),
    ],
)
def test_a_cursor_is_refused_under_other_filters_and_by_other_lists(client, index, address, other):
    cursor = parse_qs(urlsplit(client.get(address).json()["next"]).query)["cursor"][0]
    assert client.get(f"{address}&cursor={cursor}").status_code == 200
    separator = "&" if "?" in other else "?"
    refused = client.get(f"{other}{separator}cursor={cursor}")
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_CURSOR")


@pytest.mark.parametrize("change", [lambda cursor: cursor[:-1], lambda cursor: f"A{cursor[1:]}", lambda _: "x" * 3000])
def test_a_cursor_that_was_not_given_out_is_refused(client, index, change):
    link = client.get("/api/v1/runs?limit=2").json()["next"]
    cursor = parse_qs(urlsplit(link).query)["cursor"][0]
    assert client.get("/api/v1/runs", {"cursor": cursor, "limit": 2}).status_code == 200
    assert client.get("/api/v1/runs", {"cursor": change(cursor)}).json()["code"] == "INVALID_CURSOR"


def test_groups_are_listed_once_each_whatever_the_size_of_a_page(client, index):
    whole = client.get("/api/v1/groups").json()
    rows, pages = walk(client, "/api/v1/groups?limit=2")
    assert rows == whole["rows"]
    assert (len(rows), pages) == (9, 5)
    assert all(row["best"]["rank"] == 1 for row in rows)
    h100 = client.get("/api/v1/groups?hardware=nvidia-h100-pcie&operation=suite-rms-norm&dtype=bf16").json()["rows"]
    assert {row["workload"] for row in h100} == {row["workload"] for row in rows if row in h100}
    assert len(h100) == 3


def test_a_group_goes_on_under_its_own_address(client, seed):
    publish(factories.crowd(60))
    address = f"/api/v1/groups/{seed.comparison_key}"
    rows, pages = walk(client, f"{address}?limit=25")
    assert (len(rows), pages) == (62, 3)
    assert len({row["run"]["id"] for row in rows}) == 62
    along = client.get(f"/api/v1/runs/{seed.id}?include=group").json()["included"]["group"]
    assert along["next"] is None
    assert along["rows"] == client.get(address).json()["rows"]


def test_an_operation_is_narrowed_to_sizes(client, index):
    page = client.get("/operations/suite-rms-norm.json?at.hidden=4096&dtype=bf16").json()
    assert client.get("/api/v1/operations/suite-rms-norm?at=hidden%3D4096&dtype=bf16").json() == page
    assert client.get("/api/v1/operations/suite-rms-norm?at=hidden").json()["code"] == "INVALID_PARAMETER"
    assert client.get("/api/v1/operations/suite-rms-norm?dtype=fp4").json()["code"] == "NOT_FOUND"


def test_a_list_of_a_search_goes_on_by_itself(client):
    publish(example_bundle(repeated=70))
    found = client.get("/api/v1/search?q=rmsnorm%20h100").json()["exact"]
    assert (len(found["hits"]), found["total"]) == (10, 76)
    first = follow(client, found["next_url"]).json()["exact"]
    second = follow(client, first["next_url"]).json()["exact"]
    assert (len(first["hits"]), len(second["hits"]), second["next_url"]) == (50, 26, None)
    assert len({hit["key"] for hit in (*first["hits"], *second["hits"])}) == 76


def test_only_the_chosen_fields_are_given(client, seed):
    chosen = client.get(f"/api/v1/runs/{seed.id}?fields=rank,digest").json()
    assert chosen == {"digest": seed.digest, "rank": 2}
    with_citation = client.get(f"/api/v1/runs/{seed.id}?fields=id&include=citation").json()
    assert with_citation.keys() == {"id", "included"}
    assert seed.digest in with_citation["included"]["citation"]["txt"]


def test_what_comes_along_is_what_its_own_address_gives(client, index):
    implementation = client.get("/api/v1/implementations/suite-softmax-liger?include=project").json()
    project = client.get("/api/v1/projects/liger-kernel").json()
    assert implementation["included"]["project"] == project
    run = Run.objects.first()
    group = client.get(f"/api/v1/groups/{run.comparison_key}?include=record").json()
    assert group["included"]["record"] == client.get(f"/api/v1/records/{run.comparison_key}").json()


@pytest.mark.parametrize(
    ("query", "code", "place"),
    [
        ("colour=red", "UNKNOWN_PARAMETER", "colour"),
        ("status=perfect", "INVALID_PARAMETER", "status"),
        ("level=perfect", "INVALID_PARAMETER", "level"),
        ("operation=", "INVALID_PARAMETER", "operation"),
        ("operation=a&operation=b", "INVALID_PARAMETER", "operation"),
        ("operation=%00", "INVALID_PARAMETER", "operation"),
        (f"q={'a' * 201}", "INVALID_PARAMETER", "q"),
        ("limit=0", "INVALID_PARAMETER", "limit"),
        ("limit=101", "INVALID_PARAMETER", "limit"),
        ("limit=x", "INVALID_PARAMETER", "limit"),
        ("limit=%C2%B2", "INVALID_PARAMETER", "limit"),
        ("fields=id,secret", "INVALID_PARAMETER", "fields"),
        ("fields=", "INVALID_PARAMETER", "fields"),
        ("include=group", "UNKNOWN_PARAMETER", "include"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(client, query, code, place):
    response = client.get(f"/api/v1/runs?{query}")
    assert response.status_code == 400
    problem = response.json()
    assert (problem["code"], [error["place"] for error in problem["errors"]]) == (code, [place])


def test_a_filter_that_nothing_meets_gives_an_empty_list_with_a_sentence(client, index):
    listed = client.get("/api/v1/runs?operation=nonsense").json()
    assert (listed["rows"], listed["total"]) == ([], 0)
    assert listed["notes"] == ["No published run has the operation “nonsense”."]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "INVALID_PARAMETER"),
        ("run=a", "INVALID_PARAMETER"),
        ("run=a&run=b", "INVALID_PARAMETER"),
        (f"run={'0' * 32}&run={'1' * 32}", "NOT_FOUND"),
        ("&".join(f"run={number:032}" for number in range(9)), "INVALID_PARAMETER"),
    ],
)
def test_a_comparison_of_what_is_no_run_is_refused(client, index, query, code):
    assert client.get(f"/api/v1/compare?{query}").json()["code"] == code
