import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.manifests.bundle import Record, Source
from runs.models import Run
from runs.publication import publish, retract
from runs.reads.cursors import Cursor, InvalidCursor, parse_cursor
from runs.reads.filters import filters, search_words, selection
from runs.reads.lookup import candidates, runs_with_digest
from runs.reads.overview import home_page, source_rows
from runs.reads.run_list import group_size, run_list
from runs.reads.tallies import tallies
from tests import factories

pytestmark = pytest.mark.django_db

SOFTMAX = factories.manifest(
    "OperationSpec",
    "softmax",
    {**factories.GROUP_NORM["spec"], "family": "softmax"},
    title="Softmax 100%",
)


def softmax_runs():
    case = factories.workload(64, SOFTMAX)
    entry = factories.implementation("softmax-triton", "Softmaxer", "triton", SOFTMAX, licensing={})
    made = [
        factories.run(
            entry,
            case,
            name=f"softmax-{number}",
            title="softmax",
            median=100 if status == "passed" else None,
            observed_at=f"2026-03-0{number}T00:00:00Z",
            environment=factories.H100,
            status=status,
        )
        for number, status in ((1, "passed"), (2, "timeout"), (3, "runtime_error"))
    ]
    subjects = (*factories.SUBJECTS, Record(SOFTMAX, aliases=("soft_maximum",)), Record(case), Record(entry))
    return factories.bundle(
        *made, subjects=subjects, source=Source("other", "Other source", "benchmark"), snapshot=None
    )


@pytest.fixture
def catalog():
    publish(factories.seed_bundle())
    publish(softmax_runs())


def walk(parameters, size):
    """All pages of a list from the first to the last, and then back again."""
    chosen = selection(parameters)
    pages = [run_list(chosen, size=size)]
    while pages[-1].next:
        pages.append(run_list(chosen, parse_cursor(pages[-1].next), size))
    back = [pages[-1]]
    while back[-1].previous:
        back.append(run_list(chosen, parse_cursor(back[-1].previous), size))
    return pages, back


def ids(pages):
    return [row.id for page in pages for row in page.rows]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_pages_hold_every_run_once_the_latest_first_and_go_back_as_they_came(catalog, size):
    publish(factories.filler(7))
    pages, back = walk({}, size)
    assert ids(pages) == sorted(Run.objects.values_list("id", flat=True), reverse=True)
    assert ids(reversed(back)) == ids(pages)
    assert pages[0].previous is None
    assert pages[-1].next is None


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_a_comparison_group_goes_by_rank_and_the_unranked_come_last(size):
    publish(factories.seed_bundle())
    publish(factories.crowd(5, ties=2))
    for run in Run.objects.order_by("digest")[:2]:
        retract(run.digest, reason="a test", actor="a test")
    key = Run.objects.values_list("comparison_key", flat=True).first()
    pages, back = walk({"group": key}, size)
    rows = [row for page in pages for row in page.rows]
    assert [row.rank for row in rows if row.rank] == sorted(row.rank for row in rows if row.rank)
    assert [row.rank for row in rows[-2:]] == [None, None]
    assert len({row.id for row in rows}) == 7
    assert [(row.rank or 99, row.id) for row in rows] == sorted((row.rank or 99, row.id) for row in rows)
    assert ids(reversed(back)) == ids(pages)


def test_a_page_keeps_its_place_when_runs_are_published_meanwhile(catalog):
    first = run_list(selection({}), size=2)
    second = run_list(selection({}), parse_cursor(first.next), 2)
    publish(factories.filler(4))
    assert run_list(selection({}), parse_cursor(first.next), 2).rows == second.rows


def test_a_ranked_cursor_belongs_to_groups_alone(catalog):
    with pytest.raises(InvalidCursor):
        run_list(selection({}), Cursor(uuid.uuid4(), True, 2))


@pytest.mark.parametrize(
    ("parameters", "count"),
    [
        ({}, 5),
        ({"operation": "softmax"}, 3),
        ({"operation": "liger-group-norm"}, 2),
        ({"family": "softmax"}, 3),
        ({"hardware": "nvidia-h100-pcie"}, 3),
        ({"hardware": "nvidia-b200"}, 2),
        ({"source": "other"}, 3),
        ({"status": "timeout"}, 1),
        ({"status": "passed", "operation": "softmax"}, 1),
        ({"level": "reported"}, 5),
        ({"level": "verified"}, 0),
        ({"q": "groupnorm"}, 2),
        ({"q": "GROUP norm"}, 2),
        ({"q": "group_norm"}, 2),
        ({"q": "soft_maximum"}, 3),
        ({"q": "softmaxer"}, 3),
        ({"q": "transformers groupnorm"}, 1),
        ({"q": "transformers softmax"}, 0),
        ({"q": "100%"}, 3),
        ({"q": "1%0"}, 3),
        ({"q": "%"}, 0),
        ({"operation": "nonsense"}, 0),
        ({"hardware": "'; DROP TABLE runs_run; --"}, 0),
        ({"group": "sha256:" + "0" * 64}, 0),
        ({"status": ""}, 5),
    ],
)
def test_a_filter_leaves_the_runs_that_it_names(catalog, parameters, count):
    chosen = selection(parameters)
    rows = run_list(chosen).rows
    assert len(rows) == count
    assert chosen.total(tallies()) in {count, None}


def test_the_underscore_of_a_search_stands_for_itself(catalog):
    assert run_list(selection({"q": "g_oupnorm"})).rows == ()


def test_a_value_that_no_run_has_is_named_in_a_sentence(catalog):
    assert selection({"operation": "nonsense", "status": "passed"}).notes(tallies()) == (
        "No published run has the operation “nonsense”.",
    )
    assert selection({"level": "verified"}).notes(tallies()) == ()
    assert selection({"level": "perfect"}).notes(tallies()) == ("No published run has the evidence level “perfect”.",)


def test_a_search_without_a_word_finds_nothing_and_says_so(catalog):
    assert selection({"q": "%!"}).notes(tallies()) == ("The search has no word in it.",)
    assert selection({"q": "norm"}).notes(tallies()) == ()


def test_words_are_cut_to_what_a_search_can_use():
    assert search_words("Fused  Add+RMS_Norm, 2.0! " + "x " * 20) == ["fused", "add+rms_norm", "2.0"] + ["x"] * 5


def test_a_filter_offers_what_runs_have_with_their_counts(catalog):
    offered = {
        each.name: {option.slug: option.count for option in each.options} for each in filters(selection({}), tallies())
    }
    assert offered == {
        "operation": {"liger-group-norm": 2, "softmax": 3},
        "family": {"groupnorm": 2, "softmax": 3},
        "hardware": {"nvidia-b200": 2, "nvidia-h100-pcie": 3},
        "source": {"liger-kernel-bench": 2, "other": 3},
        "status": {"passed": 3, "timeout": 1, "runtime_error": 1},
        "level": {"reported": 5, "verified": 0, "replicated": 0},
        "group": {},
        "q": {},
    }


def test_a_row_shows_what_its_page_shows(catalog):
    row = run_list(selection({"q": "transformers"})).rows[0]
    assert (row.primary.value, row.primary.unit, row.rank, row.level) == (73728, "ns", 2, "reported")
    assert isinstance(row.primary.value, int)
    assert row.operation.url == "/operations/liger-group-norm/"
    assert (row.hardware.name, row.hardware.url) == ("NVIDIA B200", "/hardware/nvidia-b200/")


def test_counts_are_kept_until_a_run_is_published(catalog, django_assert_num_queries):
    assert tallies().runs == 5
    with django_assert_num_queries(1):
        assert tallies().runs == 5
    publish(factories.filler(2))
    with django_assert_num_queries(2):
        assert tallies().runs == 7


def test_counts_are_made_anew_after_half_a_minute(catalog, monkeypatch, django_assert_num_queries):
    from runs.reads import tallies as module

    tallies()
    later = module.time.monotonic() + 31
    monkeypatch.setattr(module.time, "monotonic", lambda: later)
    with django_assert_num_queries(2):
        tallies()


@pytest.mark.parametrize(
    "parameters", [{}, {"operation": "liger-group-norm"}, {"q": "group norm"}, {"source": "x", "status": "passed"}]
)
def test_a_page_of_a_list_is_one_statement_however_many_runs_there_are(parameters, django_assert_num_queries):
    publish(factories.seed_bundle())
    for _ in range(2):
        with django_assert_num_queries(1):
            run_list(selection(parameters))
        publish(factories.filler(60))


def test_a_page_of_a_group_is_two_statements_at_most(django_assert_num_queries):
    publish(factories.seed_bundle())
    publish(factories.crowd(60))
    key = Run.objects.values_list("comparison_key", flat=True).first()
    with django_assert_num_queries(1):
        page = run_list(selection({"group": key}))
    assert len(page.rows) == 50
    with django_assert_num_queries(2):
        run_list(selection({"group": key}), parse_cursor(page.next))


def test_the_size_of_a_group_is_known_without_counting(catalog):
    key = Run.objects.get(digest=factories.digest(factories.SEED)).comparison_key
    assert group_size(key) == 2
    assert group_size("sha256:" + "0" * 64) is None


@pytest.mark.parametrize("column", ["operation", "hardware", "source", "status"])
def test_a_filtered_list_is_read_along_its_index(column):
    if connection.vendor != "sqlite":
        pytest.skip("the plan is SQLite's")
    publish(factories.filler(3))
    with CaptureQueriesContext(connection) as queries:
        run_list(selection({column: "passed"}))
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN QUERY PLAN " + queries[0]["sql"])
        plan = " / ".join(row[3] for row in cursor.fetchall())
    assert f"SEARCH r USING INDEX run_{column}_latest" in plan
    assert "TEMP B-TREE" not in plan


def test_a_group_is_read_along_its_index():
    if connection.vendor != "sqlite":
        pytest.skip("the plan is SQLite's")
    publish(factories.crowd(3))
    key = Run.objects.values_list("comparison_key", flat=True).first()
    with CaptureQueriesContext(connection) as queries:
        run_list(selection({"group": key}), Cursor(uuid.uuid4(), True, 1))
    with connection.cursor() as cursor:
        for query in queries.captured_queries:
            cursor.execute("EXPLAIN QUERY PLAN " + query["sql"])
            plan = " / ".join(row[3] for row in cursor.fetchall())
            assert "SEARCH s USING" in plan
            assert "standing_group_rank" in plan
            assert "TEMP B-TREE" not in plan


def test_a_digest_is_found_by_its_beginning(catalog):
    run = Run.objects.get(digest=factories.digest(factories.SEED))
    assert runs_with_digest("5cde9b90d5f9") == (run.id,)
    assert runs_with_digest(run.digest.removeprefix("sha256:")) == (run.id,)
    assert runs_with_digest("5cde9b90d5fa") == ()
    assert [row.digest for row in candidates("")] == sorted(Run.objects.values_list("digest", flat=True))


def test_the_home_page_counts_runs_and_shows_the_latest(catalog, django_assert_num_queries):
    with django_assert_num_queries(3):
        page = home_page()
    assert page.runs == 5
    assert {count.slug: count.count for count in page.sources} == {"liger-kernel-bench": 2, "other": 3}
    assert {count.slug: count.count for count in page.levels} == {"reported": 5, "verified": 0, "replicated": 0}
    assert [row.id for row in page.latest] == sorted((row.id for row in page.latest), reverse=True)
    publish(factories.filler(40))
    assert len(home_page().latest) == 10


def test_sources_tell_what_they_gave_and_which_files_were_read(catalog, django_assert_num_queries):
    with django_assert_num_queries(2):
        liger, other = source_rows()
    assert (liger.line.name, liger.runs, liger.line.license) == ("Liger-Kernel benchmarks", 2, "BSD-2-Clause")
    assert [(file.name, file.version, file.size) for file in liger.snapshots] == [
        ("all_benchmark_data.csv", "0.8.4", 1_000_000)
    ]
    assert (other.line.name, other.runs, other.snapshots) == ("Other source", 3, ())
    assert other.latest_observed.day == 3


def test_an_empty_index_has_pages_too(django_assert_num_queries):
    assert home_page().runs == 0
    assert run_list(selection({})).rows == ()
    assert source_rows() == ()
