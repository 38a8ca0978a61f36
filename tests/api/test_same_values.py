"""What a page's JSON gives, the API gives: the same values from the same reads."""

import pytest

from runs.models import Environment, Protocol, Run

pytestmark = pytest.mark.django_db


def test_a_run_is_what_its_page_shows(client, seed):
    page = client.get(f"/runs/{seed.id}.json").json()
    for reference in (seed.id, str(seed.id).upper(), seed.digest, seed.digest[7:], seed.digest[:19]):
        assert client.get(f"/api/v1/runs/{reference}").json() == page, reference


def test_the_list_of_runs_has_the_rows_of_the_page(client, index):
    page = client.get("/runs.json?operation=suite-rms-norm").json()
    listed = client.get("/api/v1/runs?operation=suite-rms-norm").json()
    assert listed == {
        "total": page["total"],
        "notes": page["notes"],
        "rows": page["rows"],
        "next": None,
        "previous": None,
    }
    assert len(listed["rows"]) == 14


def test_a_group_is_what_its_page_shows(client, seed):
    page = client.get(f"/groups/{seed.comparison_key}.json").json()
    for reference in (seed.comparison_key, seed.comparison_key[7:], seed.comparison_key[:19]):
        assert client.get(f"/api/v1/groups/{reference}").json() == page, reference


@pytest.mark.parametrize(
    "address",
    [
        "operations",
        "operations/suite-rms-norm",
        "implementations",
        "implementations/suite-rms-norm-liger",
        "projects",
        "projects/liger-kernel",
        "sources/liger-kernel-bench",
        "hardware",
        "hardware/nvidia-b200",
        "environments",
        "protocols",
        "records",
    ],
)
def test_other_subjects_are_what_their_pages_show(client, index, address):
    assert client.get(f"/api/v1/{address}").json() == client.get(f"/{address}.json").json()


def test_places_are_found_by_their_digests(client, index):
    for name, of in (("environments", Environment), ("protocols", Protocol)):
        digest = of.objects.values_list("digest", flat=True)[0]
        page = client.get(f"/{name}/{digest[7:23]}.json").json()
        assert client.get(f"/api/v1/{name}/{digest}").json() == page
        assert client.get(f"/api/v1/{name}/{digest[7:23]}").json() == page


def test_sources_and_runners_are_what_their_pages_show(client, index):
    json = {"accept": "application/json"}
    assert client.get("/api/v1/sources").json()["rows"] == client.get("/sources/", headers=json).json()["sources"]
    assert client.get("/api/v1/runners").json()["rows"] == client.get("/runners/", headers=json).json()["runners"]


def test_a_record_is_what_its_page_shows(client, seed):
    page = client.get(f"/records/{seed.comparison_key[7:23]}.json").json()
    assert client.get(f"/api/v1/records/{seed.comparison_key}").json() == page
    assert [step["cause"] for step in page["steps"]]


def test_a_search_is_what_its_page_shows_but_for_where_its_lists_go_on(client, index):
    for query in ("rmsnorm h100 bf16", "", "nonsense", "hidden=4096 rms_norm h100"):
        page = client.get("/search.json", {"q": query}).json()
        assert client.get("/api/v1/search", {"q": query} if query else {}).json() == page, query


def test_a_comparison_is_what_its_page_shows(client, seed):
    ids = list(Run.objects.values_list("id", flat=True))
    query = f"run={ids[0]}&run={ids[1]}"
    assert client.get(f"/api/v1/compare?{query}").json() == client.get(f"/compare.json?{query}").json()


def test_reruns_have_the_rows_and_the_table_of_the_page(client, index):
    page = client.get("/reruns.json").json()
    listed = client.get("/api/v1/reruns?include=table").json()
    assert listed == {
        "rows": page["rows"],
        "next": None,
        "previous": None,
        "included": {"table": page["table"]},
    }
