import html
import json
import re
from pathlib import Path
from urllib.parse import urlencode

import orjson
import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given
from hypothesis import settings as tried
from hypothesis import strategies as st

from runs.models import Run
from runs.reads.search.results import search
from runs.views.json import dumps

pytestmark = pytest.mark.usefixtures("index")
JSON = {"accept": "application/json"}
ASKED = "op:rmsnorm h100 bf16 hidden=3000"


def text_of(response):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", response.content.decode())))


def test_the_json_twin_has_what_the_page_shows(client):
    twin = client.get("/search.json", {"q": ASKED}).json()
    assert twin == json.loads(dumps(search(ASKED)))
    assert client.get("/search/", {"q": ASKED}, headers=JSON).json() == twin
    page = text_of(client.get("/search/", {"q": ASKED}))
    for chip in twin["chips"]:
        assert chip["value"] in page
    shown = [hit for name in ("exact", "compatible", "elsewhere") for hit in twin[name]["hits"]]
    assert shown
    for hit in shown:
        for words in (
            hit["operation"]["name"],
            hit["workload"],
            hit["hardware"]["name"],
            hit["protocol"],
            hit["best"]["implementation"],
        ):
            assert words in page
        assert f"{hit['best']['rank']} of {hit['ranked']}" in page
    for bracket in twin["brackets"]:
        assert f"{bracket['below']['text']} below" in page
    for hit in twin["names"]["hits"]:
        assert hit["link"]["name"] in page


def test_the_page_links_to_groups_runs_and_searches(client):
    page = search(ASKED)
    content = html.unescape(client.get("/search/", {"q": ASKED}).content.decode())
    hit = page.compatible.hits[0]
    for address in (
        hit.url,
        f"/runs/{hit.best.id}/",
        page.chips[0].remove_url,
        page.brackets[0].above.url,
        f"/search.json?{urlencode({'q': ASKED})}",
    ):
        assert f'href="{address}"' in content
    assert client.get(hit.url).status_code == 200
    assert f'value="{ASKED}"' in content


def test_every_chip_is_removed_by_its_link(client):
    twin = client.get("/search.json", {"q": "rms norm h100 bf16 hidden=4k -python"}).json()
    assert len(twin["chips"]) == 5
    for place, chip in enumerate(twin["chips"]):
        left = client.get(chip["remove_url"], headers=JSON).json()
        assert [(one["label"], one["value"]) for one in left["chips"]] == [
            (one["label"], one["value"]) for at, one in enumerate(twin["chips"]) if at != place
        ]


def test_a_typo_is_answered_with_what_may_be_meant(client):
    page = text_of(client.get("/search/", {"q": "rmsnrom h100 hidden=4096"}))
    assert "No name in the index holds “rmsnrom”. Did you mean RMSNorm ?" in page
    assert "Nothing matches all of it: the nearest that exists" in page
    assert "Left out: rmsnrom ." in page


def test_an_empty_search_says_how_to_search(client):
    page = text_of(client.get("/search/"))
    assert "How to search" in page
    assert "channels" not in page
    assert "hidden, rows" in page
    assert "Exact groups" not in page
    assert "No comparison group matches all of it." in text_of(client.get("/search/", {"q": "qwertyuiop"}))


def test_one_list_has_a_page_of_its_own(client):
    response = client.get("/search/", {"q": ASKED, "list": "compatible"})
    page = text_of(response)
    assert "All lists of this search" in page
    assert "Same workload, other hardware" not in page
    assert f"/search.json?{urlencode({'q': ASKED, 'list': 'compatible'})}" in html.unescape(response.content.decode())


@pytest.mark.parametrize("query", ["list=none", "after=x", "q=rmsnorm&list=exact&after=x", "list=exact"])
def test_a_place_that_is_not_there_is_a_bad_request(client, query):
    response = client.get(f"/search.json?{query}")
    assert (response.status_code, response.headers["Content-Type"]) == (400, "application/problem+json")
    assert client.get(f"/search/?{query}").status_code == 400


def test_an_id_or_a_digest_leads_to_its_run(client):
    run = Run.objects.first()
    for words in (run.digest, run.digest[7:], run.digest[:19], f" {run.id} "):
        response = client.get("/search/", {"q": words}, follow=True)
        assert response.redirect_chain[-1][0] == f"/runs/{run.id}/"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "op:<b>x</b>",
        "hidden=<i>",
        "<u>:x",
        "javascript:alert(1)",
        "'; DROP TABLE runs_run; --",
        "%s %(x)s {x} {{ 1 }}",
        "gpu:%",
        "\x00\x01",
        "\u202e\u200b",
        "ﬀ ß İ",
        "hidden=" + "9" * 300,
        "shape:" + "x".join(["9007199254740991"] * 8),
    ],
)
def test_hostile_input_is_text(client, text):
    response = client.get("/search/", {"q": text})
    assert response.status_code == 200
    content = response.content.decode()
    for tag in ("<script>alert", "<img", "<b>x", "<i>", "<u>"):
        assert tag not in content
    assert client.get("/search.json", {"q": text}).status_code == 200
    assert client.get("/search/suggest/", {"q": text}).status_code == 200
    assert Run.objects.count() == 18


@tried(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "rmsnorm",
                "h100",
                "bf16",
                "hidden=4096",
                "hidden>1",
                "hidden<2",
                "-python",
                '"forward"',
                "4096x2048",
                "op:x",
                "x:y",
                "gpu:",
                "-h100",
                "reported",
            ]
        ),
        max_size=6,
    ).map(" ".join)
)
def test_any_query_is_answered_and_nothing_is_dropped_in_silence(text):
    search("")  # the vocabulary is known from here on
    with CaptureQueriesContext(connection) as statements:
        page = search(text)
    assert len(statements) <= 15
    again = search(page.query)
    assert again.query == page.query
    assert bool(page.chips) == bool(page.query)
    for groups in (page.exact, page.compatible, page.elsewhere):
        assert len(groups.hits) <= groups.total
    orjson.loads(dumps(page))


def test_a_search_can_only_be_read(client):
    for address in ("/search/", "/search.json", "/search/suggest/"):
        assert client.post(address).status_code == 405


def test_the_box_is_a_plain_form_on_every_page(client):
    for address in ("/", "/sources/", "/search/"):
        content = client.get(address).content.decode()
        assert '<form class="search" role="search" action="/search/">' in content
        assert 'data-suggest="/search/suggest/"' in content


def test_the_script_is_small():
    assert (Path(settings.BASE_DIR) / "kernelindex/static/js/search.js").stat().st_size < 5_000
