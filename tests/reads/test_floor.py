"""What the page of a run says of the physical floor."""

import pytest

from runs.models import Run
from runs.publication import confirm_below_floor, publish
from runs.reads.floor import data_sheet, run_floor
from runs.reads.run_page import run_page
from runs.reads.values import Figure
from tests import factories
from tests.floor import FORWARD, IMPOSSIBLE, POSSIBLE, SOFTMAX, case, impossible_bundle


def floor_of(primary, environment=factories.H100, protocol=FORWARD):
    return run_floor(SOFTMAX["spec"], case()["spec"], protocol["spec"], environment["spec"], primary)


def latency(nanoseconds):
    return Figure("latency", "median", "ns", nanoseconds)


def test_the_floor_is_bytes_over_bandwidth_with_its_source():
    found = floor_of(latency(4_000_000))
    assert (found.binding, found.rate, found.timed_pass) == ("bandwidth", 2_000_000_000_000, "forward")
    assert found.ns == pytest.approx(found.amount / 2000)
    assert found.share == pytest.approx(found.ns / 4_000_000)
    assert 4.0e9 < found.amount <= 2 * 16384 * 32768 * 4
    assert "H100" in found.sheets[0].title
    assert not found.below


def test_a_run_that_is_faster_than_the_hardware_is_below_it():
    found = floor_of(latency(200_000))
    assert found.below
    assert found.share > 1
    assert found.impossible_ns < found.ns


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"protocol": factories.manifest("BenchmarkProtocol", "p", {})}, "FLOOR_PASS_UNKNOWN"),
        (
            {"environment": {"spec": {"hardware": {"vendor": "v", "product": "Some GPU", "architecture": "a"}}}},
            "FLOOR_HARDWARE_UNKNOWN",
        ),
    ],
)
def test_where_nothing_is_claimed_it_says_why(options, code):
    found = floor_of(latency(1), **options)
    assert (found.reason.code, found.ns, found.share, found.below) == (code, None, None, False)
    assert found.reason.sentence.endswith(".")


@pytest.mark.parametrize(
    "primary", [None, Figure("peak_memory", "median", "bytes", 1), Figure("latency", "mean", "s", 1)]
)
def test_what_is_no_latency_has_no_floor(primary):
    assert floor_of(primary) is None


def test_hardware_without_a_data_sheet_has_none():
    assert data_sheet("some-gpu") is None
    assert data_sheet("nvidia-h100-pcie").bandwidth == 2_000_000_000_000


@pytest.mark.django_db
def test_a_run_page_carries_it_and_a_confirmation():
    publish(impossible_bundle())
    ids = {
        name: Run.objects.get(digest=factories.digest(run)).id for name, run in (("no", IMPOSSIBLE), ("yes", POSSIBLE))
    }
    assert run_page(ids["no"])[0].floor.below
    assert not run_page(ids["yes"])[0].floor.below
    confirm_below_floor(factories.digest(IMPOSSIBLE), reason="returned early", actor="moderator ann")
    page = run_page(ids["no"])[0]
    assert [(event.kind, event.reason, event.actor) for event in page.events] == [
        ("below_floor", "returned early", "moderator ann")
    ]
    assert [reason.code for reason in page.reasons] == ["BELOW_PHYSICAL_FLOOR"]
    assert run_page(ids["yes"])[0].rank == 1
