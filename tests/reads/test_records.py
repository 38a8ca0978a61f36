"""Who was first when."""

from datetime import UTC, datetime

import pytest

from runs.models import Run
from runs.publication import publish, retract
from runs.reads.cursors import InvalidCursor
from runs.reads.records import chart, latest_records, record_list, record_page
from tests import factories

pytestmark = pytest.mark.django_db
DIGITS = factories.SEED_KEY.removeprefix("sha256:")


def later(median, day, name="later"):
    return factories.run(
        factories.TRANSFORMERS,
        factories.workload(),
        name=name,
        title=name,
        median=median,
        observed_at=f"2026-03-{day:02d}T00:00:00Z",
        sourceNative={"source": "liger-kernel-bench", "externalId": name},
    )


def published(manifest):
    publish(factories.bundle(manifest))
    return Run.objects.get(digest=factories.digest(manifest))


def test_the_list_shows_the_first_of_each_group_and_what_it_displaced():
    publish(factories.seed_bundle())
    faster = published(later(60_000, 1))
    [row] = record_list({}).rows
    step = row.current
    assert (step.first.run, step.first.primary.value) == (faster.id, 60_000)
    assert (step.displaced.implementation.name, step.displaced.primary.value) == ("Liger-Kernel", 67_328)
    assert step.ratio == pytest.approx(60_000 / 67_328)
    assert step.at == datetime(2026, 3, 1, tzinfo=UTC)
    assert (row.runs, row.ranked, row.hardware.slug) == (3, 3, "nvidia-b200")


def test_a_result_that_is_published_late_changes_the_past():
    publish(factories.seed_bundle())
    published(later(60_000, 2, "second"))
    published(later(61_000, 1, "late"))
    steps = record_page(DIGITS).steps
    assert [step.first.primary.value for step in steps] == [67_328, 61_000, 60_000]
    assert [step.at for step in steps] == sorted(step.at for step in steps)


def test_the_same_runs_give_the_same_history_in_any_order():
    runs = [later(60_000 - 100 * day, day, f"day-{day}") for day in (3, 1, 2)]
    for run in runs:
        publish(factories.bundle(run))
    assert [step.at.day for step in record_page(DIGITS).steps] == [1, 2, 3]


def test_a_retracted_first_gives_its_place_back():
    publish(factories.seed_bundle())
    faster = published(later(60_000, 1))
    retract(faster.digest, reason="wrong kernel", actor="the source")
    last = record_page(DIGITS).steps[-1]
    assert (last.cause, last.first.primary.value, last.displaced.run) == ("withdrawn", 67_328, faster.id)
    [row] = record_list({}).rows
    assert row.current == last


def test_a_group_without_a_run_that_stands_keeps_its_history():
    only = published(later(60_000, 1))
    retract(only.digest, reason="wrong kernel", actor="the source")
    assert record_list({}).rows == ()
    found = record_page(DIGITS)
    assert [step.first is None for step in found.steps] == [False, True]
    assert chart(found) is None


def test_equal_firsts_are_one_record():
    published(later(60_000, 1, "one"))
    published(later(60_000, 2, "two"))
    [row] = record_list({}).rows
    assert row.current.at.day == 1
    assert latest_records() == ()


def test_the_picture_has_a_point_for_each_first():
    publish(factories.seed_bundle())
    published(later(60_000, 1))
    drawn = chart(record_page(DIGITS))
    assert [value for _, value in drawn.points] == [pytest.approx(67.328), pytest.approx(60.0)]
    assert drawn.unit == "median latency, µs"
    assert "67.3 µs from 2026-02-28; 60.0 µs from 2026-03-01" in drawn.description


def test_pages_follow_one_another_by_date_of_observation():
    cases = [factories.workload(1024 + 4 * number) for number in range(60)]
    runs = [
        factories.run(
            factories.LIGER,
            case,
            name=f"n{number}",
            title="t",
            median=1000,
            observed_at=f"2026-03-01T00:{number:02d}:00Z",
        )
        for number, case in enumerate(cases)
    ]
    publish(factories.bundle(*runs, subjects=(*factories.SUBJECTS, *map(factories.Record, cases))))
    first = record_list({})
    second = record_list({}, first.next)
    third = record_list({}, second.next)
    shown = [row.current.at for found in (first, second, third) for row in found.rows]
    assert shown == sorted(shown, reverse=True)
    assert [len(found.rows) for found in (first, second, third)] == [25, 25, 10]
    assert (first.previous, third.next) == (None, None)
    assert record_list({}, second.previous) == first
    with pytest.raises(InvalidCursor):
        record_list({}, "nonsense")


def test_filters_narrow_the_list():
    publish(factories.seed_bundle())
    assert len(record_list({"operation": "liger-group-norm", "hardware": "nvidia-b200"}).rows) == 1
    assert record_list({"hardware": "nvidia-h100-pcie"}).rows == ()


@pytest.mark.parametrize("others", [0, 40])
def test_they_take_two_statements_whatever_there_is(others, django_assert_num_queries):
    publish(factories.seed_bundle())
    publish(factories.crowd(others))
    publish(factories.filler(others))
    for read in (lambda: record_list({}), latest_records, lambda: record_page(DIGITS)):
        with django_assert_num_queries(2):
            read()


def test_there_is_no_history_of_a_group_that_does_not_exist(db):
    assert record_page("0" * 12) is None
