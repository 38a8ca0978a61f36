"""The page of an operation, whatever was measured of it."""

import pytest

from runs.charts import digest as picture
from runs.publication import publish
from runs.reads.operations.choice import Choice, UnknownChoice, parse_choice
from runs.reads.operations.listing import operation_list
from runs.reads.operations.page import operation_page, operation_scaling
from runs.reads.operations.scaling import chart
from runs.reads.values import Fact
from tests import factories
from tests.floor import softmax_bundle, timed

pytestmark = pytest.mark.django_db
SIZES = (1024, 4096, 512)


@pytest.fixture
def softmax():
    """One kernel at three sizes on an H100, twice at the largest; the other operation has runs on a B200."""
    publish(factories.seed_bundle())
    runs = [timed(f"softmax-{size}", 1000 * size, size) for size in SIZES]
    publish(softmax_bundle(*runs, timed("slower", 9_000_000, 4096), cases=SIZES))


def page(slug="softmax", **chosen):
    return operation_page(slug, parse_choice(chosen))


def test_it_says_what_is_computed(softmax):
    found = page()
    assert (found.name, found.family, found.digest) == (
        "Softmax",
        "softmax",
        operation_page("softmax", Choice()).digest,
    )
    assert [(axis.name, axis.role) for axis in found.axes] == [("rows", "variable"), ("hidden", "variable")]
    assert [(each.name, each.direction, each.shape) for each in found.arguments] == [
        ("x", "input", ("rows", "hidden")),
        ("y", "output", ("rows", "hidden")),
    ]
    assert page("liger-group-norm").aliases == ("group_norm",)
    assert (found.runs, found.groups) == (4, 3)


def test_the_first_of_each_group_stands_in_a_table_of_workloads_by_gpu(softmax):
    table = page().coverage
    assert [column.hardware.slug for column in table.columns] == ["nvidia-h100-pcie"]
    assert [row.workload for row in table.rows] == [f"rows = 16384 · hidden = {size} · fp32" for size in sorted(SIZES)]
    cells = [row.cells[0] for row in table.rows]
    assert [cell.best.primary.value for cell in cells] == [512_000, 1_024_000, 4_096_000]
    assert [(cell.runs, cell.ranked) for cell in cells] == [(1, 1), (1, 1), (2, 2)]
    assert cells[0].best.implementation.slug == "softmax-kernel"


def test_it_names_what_nobody_measured(softmax):
    publish(softmax_bundle(timed("elsewhere", 700, 512, environment=factories.B200), cases=SIZES))
    found = page()
    assert {(column.hardware.slug, column.missing) for column in found.coverage.columns} == {
        ("nvidia-h100-pcie", 0),
        ("nvidia-b200", 2),
    }
    place = [column.hardware.slug for column in found.coverage.columns].index("nvidia-b200")
    assert [row.cells[place] is None for row in found.coverage.rows] == [False, True, True]
    assert found.unmeasured == ()
    assert [link.slug for link in page("liger-group-norm").unmeasured] == ["nvidia-h100-pcie"]


def test_a_reader_chooses_a_workload_and_a_gpu(softmax):
    found = page(**{"at.hidden": "4096", "environment": factories.digest(factories.H100)[7:19]})
    assert [row.workload for row in found.coverage.rows] == ["rows = 16384 · hidden = 4096 · fp32"]
    assert found.chosen == (Fact("environment", "Host · H100"), Fact("hidden", "4096"))
    assert [option.value for option in found.sizes[1].options if option.chosen] == ["4096"]


@pytest.mark.parametrize(
    "chosen",
    [
        {"at.depth": "3"},
        {"at.hidden": "many"},
        {"at.Hidden": "3"},
        {"along": "depth"},
        {"dtype": "fp4"},
        {"measured": "nothing"},
        {"environment": "0123456789ab"},
        {"after": "0123456789ab"},
    ],
)
def test_what_nobody_measured_cannot_be_chosen(softmax, chosen):
    with pytest.raises(UnknownChoice):
        page(**chosen)


def test_a_choice_reads_back_from_its_own_address():
    given = {"measured": "a:b", "at.hidden": "8", "along": "rows", "at.batch": "2", "unrelated": "x"}
    choice = parse_choice(given)
    assert choice.query() == "measured=a%3Ab&along=rows&at.batch=2&at.hidden=8"
    assert choice.query(along="") == "measured=a%3Ab&at.batch=2&at.hidden=8"


def test_it_scales_along_the_axis_with_most_sizes(softmax):
    figure = page().scaling
    assert (figure.axis, figure.sizes) == ("hidden", (512, 1024, 4096))
    assert figure.held == (Fact("rows", "16384"), Fact("dtype", "fp32"))
    [line] = figure.lines
    # Of the two runs at the largest size the better one.
    assert [(point.size, point.primary.value) for point in line.points] == [
        (512, 512_000),
        (1024, 1_024_000),
        (4096, 4_096_000),
    ]


def test_one_size_is_no_line(softmax):
    assert page("liger-group-norm").scaling is None
    assert page(along="rows").scaling is None
    assert operation_scaling("liger-group-norm", Choice()) is None
    assert operation_scaling("nothing", Choice()) is None


def test_the_picture_has_the_figures_in_a_unit_that_suits_them(softmax):
    name, measured, figure = operation_scaling("softmax", Choice())
    drawn = chart(name, measured, figure)
    assert drawn.unit == "median latency, ms"
    assert drawn.series[0].points == ((512, 0.512), (1024, 1.024), (4096, 4.096))
    assert "512 µs at 512, 4.10 ms at 4096" in drawn.description
    assert picture(drawn) == picture(chart(name, measured, figure))


def test_the_table_goes_on_where_it_ended(db):
    publish(factories.filler(95))
    seen, after = [], ""
    while True:
        table = page("liger-group-norm", after=after).coverage
        seen += [row.digest for row in table.rows]
        if not table.next:
            break
        after = table.next
    assert len(seen) == len(set(seen)) == table.workloads == 96  # the workload without a run is among them


@pytest.mark.parametrize("runs", [1, 60])
def test_the_page_takes_ten_statements_whatever_was_measured(runs, django_assert_num_queries):
    publish(factories.filler(runs))
    with django_assert_num_queries(10):
        assert page("liger-group-norm").runs == runs
    with django_assert_num_queries(2):
        [family] = operation_list().families
    assert [(row.runs, row.groups, row.environments) for row in family.operations] == [(runs, runs, 1)]


def test_an_operation_that_nobody_measured_has_a_page(db, django_assert_num_queries):
    publish(factories.bundle())
    with django_assert_num_queries(10):
        found = page("liger-group-norm")
    assert (found.runs, found.groups, found.measured, found.scaling) == (0, 0, (), None)
    assert found.coverage.columns == ()
    assert page("nothing") is None


def test_runs_that_measured_nothing_are_a_way_of_measuring_of_their_own(db):
    failed = factories.run(
        factories.LIGER,
        factories.workload(),
        name="failed",
        title="Failed",
        median=None,
        observed_at="2026-03-01T00:00:00.000Z",
        status="incorrect_numerical",
    )
    publish(factories.bundle(failed))
    assert [option.label.rpartition(" · ")[2] for option in page("liger-group-norm").measured] == ["nothing measured"]
    publish(factories.bundle(factories.SEED))
    shown = page("liger-group-norm").measured
    assert [option.label.rpartition(" · ")[2] for option in shown] == ["median", "nothing measured"]
    assert [option.chosen for option in shown] == [True, False]
