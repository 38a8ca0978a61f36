import pytest

from runs.models import Run
from runs.publication import publish
from tests import factories

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}


def test_the_list_for_programs_has_what_the_page_shows(client, seed):
    listed = client.get("/runs.json?operation=liger-group-norm").json()
    assert listed["filters"] == {"operation": "liger-group-norm"}
    assert (listed["total"], listed["notes"], listed["next"], listed["previous"]) == (2, [], None, None)
    assert {row["id"] for row in listed["rows"]} == {str(id_) for id_ in Run.objects.values_list("id", flat=True)}
    assert client.get("/runs/?operation=liger-group-norm", headers=JSON).json() == listed
    page = client.get("/runs/?operation=liger-group-norm")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    for row in listed["rows"]:
        assert f"/runs/{row['id']}/" in page.content.decode()


def test_pages_link_to_one_another_and_keep_the_filters(client, db):
    publish(factories.filler(120))
    first = client.get("/runs.json?hardware=nvidia-b200&status=passed").json()
    assert first["next"].startswith("/runs.json?hardware=nvidia-b200&status=passed&cursor=")
    second = client.get(first["next"]).json()
    third = client.get(second["next"]).json()
    assert (len(first["rows"]), len(second["rows"]), len(third["rows"])) == (50, 50, 20)
    assert third["next"] is None
    assert client.get(second["previous"]).json()["rows"] == first["rows"]
    html = client.get(first["next"].replace("/runs.json", "/runs/")).content.decode()
    assert second["next"].replace("/runs.json", "/runs/").replace("&", "&amp;") in html
    assert "status=passed" in html


def test_a_comparison_group_is_listed_by_rank(client, seed):
    listed = client.get(f"/runs.json?group={seed.comparison_key}").json()
    assert [row["rank"] for row in listed["rows"]] == [1, 2]
    assert listed["total"] == 2


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("operation=nonsense", "No published run has the operation “nonsense”."),
        ("level=perfect", "No published run has the evidence level “perfect”."),
        ("group=nonsense", "No published run has this comparison key."),
        ("q=%25", "The search has no word in it."),
    ],
)
def test_an_unknown_value_gives_an_empty_list_with_a_sentence(client, seed, query, sentence):
    listed = client.get(f"/runs.json?{query}").json()
    assert (listed["rows"], listed["notes"]) == ([], [sentence])
    response = client.get(f"/runs/?{query}")
    assert response.status_code == 200
    assert sentence in response.content.decode()


@pytest.mark.parametrize("cursor", ["x", "%00", "PgAAAAAAAAAAAAAAAA", "a" * 500])
def test_an_invalid_cursor_is_a_bad_request(client, seed, cursor):
    response = client.get(f"/runs/?cursor={cursor}", headers=JSON)
    assert response.status_code == 400
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["detail"] == "The cursor belongs to no page of this list. Begin again without it."
    assert client.get(f"/runs/?cursor={cursor}").status_code == 400


def test_a_cursor_of_a_group_is_no_cursor_of_the_whole_list(client, seed):
    publish(factories.crowd(60))
    following = client.get(f"/runs.json?group={seed.comparison_key}").json()["next"]
    cursor = following.rsplit("=", 1)[1]
    assert client.get(f"/runs.json?cursor={cursor}").status_code == 400


def test_a_search_for_an_id_or_a_digest_leads_to_the_run(client, seed):
    for words in (seed.digest, seed.digest[7:], seed.digest[:19], f" {seed.id} "):
        response = client.get("/search/", {"q": words}, follow=True)
        assert response.redirect_chain[-1][0] == f"/runs/{seed.id}/", words


def test_words_narrow_the_list(client, seed):
    response = client.get("/runs/", {"q": "transformers groupnorm"})
    assert 'value="transformers groupnorm"' in response.content.decode()
    assert str(seed.id) in response.content.decode()


@pytest.mark.parametrize(
    "query", ["", "?operation=liger-group-norm&status=passed", "?q=norm", "?group={key}", "?source=x"]
)
def test_a_list_takes_few_statements_however_many_runs_there_are(client, seed, query, django_assert_max_num_queries):
    for _ in range(2):
        with django_assert_max_num_queries(5):
            assert client.get("/runs/" + query.format(key=seed.comparison_key)).status_code == 200
        publish(factories.filler(80))


def test_a_list_can_only_be_read(client, db):
    assert client.post("/runs/").status_code == 405
    assert client.post("/runs.json").status_code == 405
