import csv
import io
import json
import re
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from runs.models import ComparisonGroup, Run
from runs.publication import publish, retract
from runs.reads.groups import group_page
from tests import factories

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}
VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "ranking.json").read_text())["vectors"]


def address(key, rest="/"):
    return f"/groups/{key}{rest}"


def text_of(response):
    """What a reader sees of a page's content, blanks reduced."""
    main = re.search(r"<main.*?</main>", response.content.decode(), re.DOTALL)[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", main)).split())


def table_rows(response):
    return list(csv.DictReader(io.StringIO(response.content.decode(), newline="")))


def test_the_page_says_what_the_group_holds_constant_and_who_ranks_where(client, seed):
    shown = text_of(client.get(address(seed.comparison_key)))
    for words in (
        "GroupNorm on NVIDIA B200",
        "batch = 128 · hidden = 512 · channels = 64",
        "Liger benchmark harness · backward pass",
        "2 ranked of 2 runs, by median latency, less is better",
        "Source-native:",
        "not_asserted",
        "cuda_events",
        "1 Liger-Kernel",
        "67.3 µs 1.00 × 66.4 µs to 68.4 µs p20 to p80 reported 2026-02-28 the first",
        "73.7 µs 1.10 × 71.7 µs to 73.9 µs p20 to p80 reported 2026-02-28 compare with #1",
    ):
        assert words in shown, words


def test_the_json_is_the_page_field_for_field(client, seed):
    twin = client.get(address(seed.comparison_key, ".json")).json()
    page = group_page(seed.comparison_key)
    assert set(twin) == set(page.__slots__)
    assert [row["run"]["rank"] for row in twin["rows"]] == [1, 2]
    assert twin["rows"][1]["ratio"] == 73728 / 67328
    assert twin["rows"][1]["spread"] == {"kind": "p20 to p80", "low": 71712, "high": 73926}
    assert twin["first"] == twin["rows"][0]["run"]["id"]
    assert client.get(address(seed.comparison_key), headers=JSON).json() == twin
    shown = client.get(address(seed.comparison_key)).content.decode()
    for row in twin["rows"]:
        assert f'<data class="figure" value="{row["run"]["primary"]["value"]}"' in re.sub(r"\s+", " ", shown)
        assert f'title="{row["ratio"]}"' in shown


def test_the_csv_has_the_same_rows(client, seed):
    response = client.get(address(seed.comparison_key, ".csv"))
    assert response.headers["Content-Type"].startswith("text/csv")
    assert "attachment" in response.headers["Content-Disposition"]
    rows = table_rows(response)
    twin = client.get(address(seed.comparison_key, ".json")).json()
    for row, shown in zip(rows, twin["rows"], strict=True):
        assert row["digest"] == shown["run"]["digest"]
        assert (int(row["rank"]), float(row["value"])) == (shown["run"]["rank"], shown["run"]["primary"]["value"])
        assert float(row["ratio_to_first"]) == shown["ratio"]


@pytest.mark.parametrize("rest", ["/", ".json", ".csv", "/bars.svg"])
def test_the_beginning_of_a_key_leads_to_the_group(client, seed, rest):
    digits = seed.comparison_key.removeprefix("sha256:")
    for reference in (digits[:12], f"sha256:{digits[:20]}", digits, seed.comparison_key.upper().replace("SHA", "sha")):
        response = client.get(address(reference, rest) + "?cursor=x")
        assert response.status_code == 302, reference
        assert response.headers["Location"] == address(seed.comparison_key, rest) + "?cursor=x"


def test_a_beginning_that_several_keys_share_gets_a_choice(client, seed, monkeypatch):
    publish(factories.filler(3))
    monkeypatch.setattr("runs.views.groups.parse_digest", lambda text: "" if text == "any" else None)
    response = client.get("/groups/any/")
    assert response.status_code == 300
    for key in ComparisonGroup.objects.values_list("key", flat=True):
        assert key in response.content.decode()
    assert len(client.get("/groups/any.json").json()["candidates"]) == 4


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("0" * 64, "There is no comparison group with this key."),
        ("sha256:" + "0" * 64, "There is no comparison group with this key."),
        ("sha256:632687a0a3d", "The beginning of a comparison key needs at least 12 hexadecimal digits."),
        ("632687a0a3d", "The beginning of a comparison key needs at least 12 hexadecimal digits."),
        ("nonsense", "A comparison key is sha256: and 64 hexadecimal digits, or the beginning of them."),
    ],
)
def test_a_key_that_leads_nowhere_is_not_found(client, seed, reference, sentence):
    for rest in ("/", ".json", ".csv", "/bars.svg"):
        assert client.get(address(reference, rest)).status_code == 404
    assert client.get(address(reference, ".json")).json()["detail"] == sentence


def made_by(key):
    """An implementation that a key of the vectors names."""
    return factories.implementation(
        f"vector-{key}", f"Key {key}", projectRevision={"version": key}, licensing={"declared": "MIT"}
    )


def bundle_of(vector):
    """A vector of the published ranking policy as records: a run and an implementation each."""
    subjects, runs = list(factories.SUBJECTS), []
    native, metric = vector.get("native", False), vector.get("metric", "latency")
    for given in vector["runs"]:
        made = made_by(given["key"])
        subjects.append(factories.Record(made))
        value, low, high = given.get("value"), given.get("low"), given.get("high")
        spec = {}
        if value is not None and metric == "latency":
            interval = {"confidence95": [low, high]} if low is not None and high is not None else {}
            spec["timing"] = {"primaryStatistic": "median", "latencyNs": {"median": value, **interval}}
        elif value is not None:
            spec["measurements"] = [{"metric": metric, "unit": "tflops", "statistic": "median", "value": value}]
        if native:
            spec["sourceNative"] = {"source": "liger-kernel-bench"}
        runs.append(
            factories.run(
                made,
                factories.workload(),
                name=f"run-{given['key']}",
                title="run",
                median=None,
                observed_at="2026-03-02T00:00:00.000Z",
                status=given.get("status", "passed"),
                **spec,
            )
        )
    return factories.bundle(*runs, subjects=tuple(subjects)), runs


def publishable(vector):
    """Whether the manifest format can say what the vector says: whole nanoseconds, positive, whole intervals."""
    metric = vector.get("metric", "latency")
    for given in vector["runs"]:
        ends = [given.get(name) for name in ("value", "low", "high") if given.get(name) is not None]
        if metric == "latency" and any(not isinstance(end, int) or end <= 0 for end in ends):
            return False
        if (given.get("low") is None) != (given.get("high") is None) or (ends[1:] and metric != "latency"):
            return False
        if set(given) - {"key", "value", "low", "high", "status", "retracted"}:
            return False
        if ends[1:] and not given["low"] <= given["value"] <= given["high"]:
            return False
    return True


@pytest.mark.parametrize("vector", [*filter(publishable, VECTORS)], ids=lambda vector: vector["name"].replace(" ", "-"))
def test_the_page_ranks_as_the_published_vectors_say(client, vector):
    bundle, runs = bundle_of(vector)
    publish(bundle)
    for given, run in zip(vector["runs"], runs, strict=True):
        if given.get("retracted"):
            retract(factories.digest(run), reason="wrong", actor="the source")
    twins = [client.get(address(key, ".json")).json() for key in ComparisonGroup.objects.values_list("key", flat=True)]
    rows = [row for twin in twins for row in twin["rows"]]
    names = {row["implementation"]["name"].removeprefix("Key "): row for row in rows}
    assert {key: row["run"]["rank"] for key, row in names.items() if row["run"]["rank"]} == vector["ranks"]
    for key, reasons in vector.get("reasons", {}).items():
        assert [reason["code"] for reason in names[key]["reasons"]] == reasons
    for twin in twins:
        shown = text_of(client.get(address(twin["key"])))
        ranked = [row for row in twin["rows"] if row["run"]["rank"]]
        for row in ranked:
            share = sum(other["run"]["rank"] == row["run"]["rank"] for other in ranked) - 1
            assert row["shared"] == share
            told = f" shared with {share} {'other' if share == 1 else 'others'}" if share else ""
            assert f"{row['run']['rank']}{told} {row['implementation']['name']} " in shown
        for row in twin["rows"]:
            for reason in row["reasons"]:
                assert f"{reason['sentence']} {reason['code']}" in shown


def test_the_vectors_that_a_page_can_show_are_most_of_them():
    assert sum(map(publishable, VECTORS)) >= 10


def test_a_strict_group_is_named_so_and_shows_intervals(client, db):
    publish(
        bundle_of(
            {
                "runs": [
                    {"key": "a", "value": 100, "low": 98, "high": 103},
                    {"key": "b", "value": 101, "low": 97, "high": 104},
                ]
            }
        )[0]
    )
    key = ComparisonGroup.objects.get().key
    shown = text_of(client.get(address(key)))
    assert "Comparison group · strict" in shown
    assert "98 ns to 103 ns 95 % confidence interval" in shown
    assert "1 shared with 1 other Key a" in shown


def test_a_large_group_pages_by_keyset(client, seed):
    publish(factories.crowd(120, ties=7))
    url, seen, pages = address(seed.comparison_key, ".json"), [], 0
    while url:
        twin = client.get(url).json()
        seen += [(row["run"]["rank"], row["run"]["id"]) for row in twin["rows"]]
        following = twin["next"]
        pages += 1
        html = client.get(
            address(seed.comparison_key) + (url.partition("?")[1] + url.partition("?")[2])
        ).content.decode()
        assert (f"?cursor={following}" in html) == bool(following)
        url = address(seed.comparison_key, f".json?cursor={following}") if following else None
    assert (pages, len(seen), len(set(seen))) == (3, 122, 122)
    assert [rank for rank, _ in seen] == sorted(rank for rank, _ in seen)
    assert sum(rank == 2 for rank, _ in seen) == 8
    assert len(table_rows(client.get(address(seed.comparison_key, ".csv")))) == 122


def test_a_place_of_another_list_is_a_bad_request(client, seed):
    assert client.get(address(seed.comparison_key, ".json?cursor=x")).status_code == 400
    assert client.get(address(seed.comparison_key, "/?cursor=x")).status_code == 400


@pytest.mark.parametrize("rest", ["/", ".json", ".csv"])
def test_a_group_takes_as_many_statements_with_two_runs_as_with_a_hundred(
    client, seed, rest, django_assert_max_num_queries, django_assert_num_queries
):
    url = address(seed.comparison_key, rest)
    for _ in range(2):
        with django_assert_max_num_queries(8):
            client.get(url)
        with django_assert_num_queries(1):
            client.get(url)
        publish(factories.crowd(100))


@pytest.mark.parametrize("rest", ["/", ".json", ".csv"])
def test_a_page_that_did_not_change_is_answered_304_and_one_that_did_is_not(
    client, seed, rest, django_assert_num_queries
):
    url = address(seed.comparison_key, rest)
    first = client.get(url)
    headers = {"if-none-match": first.headers["ETag"]}
    with django_assert_num_queries(1):
        assert client.get(url, headers=headers).status_code == 304
    publish(factories.filler(1))
    assert client.get(url, headers=headers).status_code == 304
    retract(seed.digest, reason="measured the wrong kernel", actor="the source")
    after = client.get(url, headers=headers)
    assert after.status_code == 200
    assert b"RETRACTED" in after.content


def test_somebody_who_is_signed_in_gets_a_page_that_nobody_keeps(seed):
    person = Client()
    person.force_login(get_user_model().objects.create_user("someone"))
    response = person.get(address(seed.comparison_key))
    assert response.headers["Cache-Control"] == "private, no-store"
    assert "someone" in response.content.decode()


def test_a_run_that_does_not_rank_says_why(client, seed):
    failed = factories.run(
        factories.LIGER,
        factories.workload(),
        name="f",
        title="f",
        median=1,
        status="timeout",
        observed_at="2026-03-02T00:00:00Z",
    )
    publish(factories.bundle(failed))
    shown = text_of(client.get(address(seed.comparison_key)))
    assert "Do not rank" in shown
    assert "Only runs with the status passed rank. NOT_PASSED" in shown
    assert "2 ranked of 3 runs" in shown


def test_the_picture_is_named_by_its_content_and_kept_for_ever(client, seed):
    page = client.get(address(seed.comparison_key)).content.decode()
    url = unescape(re.search(r'<img src="([^"]+)"', page)[1])
    narrow = unescape(re.search(r'srcset="([^"]+)"', page)[1])
    assert narrow == f"{url}&width=narrow"
    assert re.search(r'alt="GroupNorm on NVIDIA B200: median latency by run"', page)
    for each in (url, narrow):
        picture = client.get(each)
        assert picture.headers["Content-Type"] == "image/svg+xml"
        assert picture.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert "style-src 'sha256-" in picture.headers["Content-Security-Policy"]
        assert b"67.3" in picture.content
    publish(factories.crowd(1))
    old = client.get(address(seed.comparison_key, "/bars.svg?v=other"))
    assert old.status_code == 302
    assert old.headers["Location"] != url


def test_a_group_of_one_has_no_picture(client, db):
    publish(factories.bundle(factories.SEED))
    key = Run.objects.get().comparison_key
    assert b"<img" not in client.get(address(key)).content
    assert client.get(address(key, "/bars.svg")).status_code == 404


EVIL = '=HYPERLINK("http://evil")<script>alert(1)</script>'


def test_names_that_attack_are_text_on_the_page_and_in_the_csv(client, db):
    evil = factories.implementation("evil", EVIL, licensing={})
    run = factories.run(evil, factories.workload(), name="e", title="e", median=5, observed_at="2026-03-02T00:00:00Z")
    publish(factories.bundle(run, factories.FIRST, subjects=(*factories.SUBJECTS, factories.Record(evil))))
    key = Run.objects.get(value=5).comparison_key
    page = client.get(address(key)).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    row = table_rows(client.get(address(key, ".csv")))[0]
    assert row["implementation"] == f"'{EVIL}"


def test_a_rank_and_the_filter_of_a_list_lead_to_the_group(client, seed):
    assert f'href="/groups/{seed.comparison_key}/"' in client.get(f"/runs/{seed.id}/").content.decode()
    assert (
        f'href="/groups/{seed.comparison_key}/"' in client.get(f"/runs/?group={seed.comparison_key}").content.decode()
    )
    assert client.get("/runs/?group=a/b").status_code == 200


def test_a_run_page_leads_to_its_neighbours_and_to_the_comparison_with_the_first(client, seed):
    first = Run.objects.exclude(pk=seed.pk).get()
    crowd = factories.crowd(1)
    publish(crowd)
    last = Run.objects.exclude(pk__in=[seed.pk, first.pk]).get()
    page = client.get(f"/runs/{seed.id}/")
    shown = text_of(page)
    assert "Compare with #1 →" in shown
    assert f"/compare/?run={first.id}&amp;run={seed.id}" in page.content.decode()
    assert "← rank 1: Liger-Kernel, 67.3 µs" in shown
    assert "rank 3: Liger-Kernel, 80.0 µs →" in shown
    assert f'href="/runs/{last.id}/" rel="next"' in page.content.decode()
    assert "Compare with #1" not in text_of(client.get(f"/runs/{first.id}/"))
    retract(seed.digest, reason="wrong", actor="the source")
    assert "Compare with #1 →" in text_of(client.get(f"/runs/{seed.id}/"))


def test_a_group_can_only_be_read(client, seed):
    assert client.post(address(seed.comparison_key)).status_code == 405
