import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.models import ComparisonGroup, Run
from runs.publication import publish, retract
from runs.reads.search.groups import BOUND
from runs.reads.search.results import PAGE_SIZE, SHOWN, UnknownPlace, search
from runs.sources.synthetic import synthesize
from tests.factories import seed_bundle
from tests.search.examples import example_bundle

pytestmark = pytest.mark.usefixtures("index")


def where(groups):
    return [(hit.operation.name, hit.hardware.name, hit.workload, hit.protocol) for hit in groups.hits]


def sizes(groups):
    return [hit.workload for hit in groups.hits]


FORWARD = "Benchmark harness · forward pass"
BACKWARD = "Liger benchmark harness · backward pass"
H100, B200 = "NVIDIA H100 PCIe", "NVIDIA B200"
ASKED = "rmsnorm h100 bf16 hidden=4096"


def test_a_search_as_typed_finds_the_exact_group_with_its_best_run():
    [hit] = search(ASKED).exact.hits
    assert (hit.operation.name, hit.hardware.name, hit.workload) == (
        "Fused add + RMSNorm",
        H100,
        "rows = 2048 · hidden = 4096 · bf16",
    )
    group = ComparisonGroup.objects.get(key=hit.key)
    best = Run.objects.get(id=hit.best.id)
    assert (best.comparison_key, best.standing.rank) == (group.key, 1)
    assert (hit.best.implementation, hit.best.primary.value, hit.best.primary.unit, hit.best.rank) == (
        "Liger-Kernel",
        1007,
        "ns",
        1,
    )
    assert (hit.ranked, hit.runs) == (group.ranked_count, group.run_count) == (2, 2)
    assert hit.url == f"/groups/{group.key}/"
    assert hit.differences == ()


def test_a_named_operation_comes_before_its_family():
    assert [hit.operation.name for hit in search("rmsnorm").exact.hits] == ["RMSNorm"] * 7 + ["Fused add + RMSNorm"]


def test_compatible_groups_are_those_of_the_same_operation_and_gpu_the_nearest_first():
    page = search("op:rmsnorm h100 bf16 hidden=3000")
    assert page.exact.hits == ()
    found = [
        (hit.workload, [(one.name, one.asked, one.found) for one in hit.differences]) for hit in page.compatible.hits
    ]
    assert found == [
        ("rows = 2048 · hidden = 4096 · fp32", [("hidden", "3000", "4096"), ("dtype", "bf16", "fp32")]),
        ("rows = 2048 · hidden = 4096 · fp32", [("hidden", "3000", "4096"), ("dtype", "bf16", "fp32")]),
        ("rows = 2048 · hidden = 2048 · bf16", [("hidden", "3000", "2048")]),
        ("rows = 2048 · hidden = 8192 · bf16", [("hidden", "3000", "8192")]),
        ("rows = 2048 · hidden = 1024 · bf16", [("hidden", "3000", "1024")]),
    ]
    assert page.compatible.hits[0].differences[0].factor == pytest.approx(4096 / 3000)
    assert {hit.hardware.name for hit in page.compatible.hits} == {H100}


def test_distances_add_up_over_axes_and_are_those_of_factors():
    page = search("op:rmsnorm h100 hidden=4096 rows=1024")
    assert sizes(page.compatible)[:3] == [
        "rows = 2048 · hidden = 4096 · fp32",
        "rows = 2048 · hidden = 4096 · fp32",
        "rows = 2048 · hidden = 2048 · bf16",
    ]
    assert [one.name for one in page.compatible.hits[0].differences] == ["rows"]
    assert [one.name for one in page.compatible.hits[2].differences] == ["hidden", "rows"]


def test_the_sizes_measured_next_to_one_that_was_not_are_named():
    [bracket] = search("op:rmsnorm h100 hidden=3000").brackets
    assert (bracket.axis, bracket.asked, bracket.below.text, bracket.above.text) == ("hidden", "3000", "2048", "4096")
    assert bracket.above.url == "/search/?q=op%3Armsnorm+h100+hidden%3D4096"
    [above_all] = search("op:rmsnorm h100 hidden>=9000").brackets
    assert (above_all.asked, above_all.below.text, above_all.above) == ("9000 or more", "8192", None)
    [none] = search("op:rmsnorm h100 cols=128").brackets
    assert (none.below, none.above) == (None, None)
    assert search("op:rmsnorm h100 hidden=2048").brackets == ()


def test_the_same_workload_elsewhere_is_a_list_of_its_own():
    page = search("op:rmsnorm h100 bf16 hidden=4096")
    assert where(page.elsewhere) == [
        ("RMSNorm", B200, "rows = 2048 · hidden = 4096 · bf16", FORWARD),
        ("RMSNorm", B200, "rows = 2048 · hidden = 4096 · bf16", BACKWARD),
    ]
    [difference] = page.elsewhere.hits[0].differences
    assert (difference.name, difference.asked, difference.found) == ("hardware", H100, B200)


def test_the_same_workload_under_another_protocol_is_elsewhere():
    page = search("op:rmsnorm h100 fp32 backward")
    assert where(page.exact) == [("RMSNorm", H100, "rows = 2048 · hidden = 4096 · fp32", BACKWARD)]
    assert where(page.elsewhere) == [("RMSNorm", H100, "rows = 2048 · hidden = 4096 · fp32", FORWARD)]
    [difference] = page.elsewhere.hits[0].differences
    assert (difference.name, difference.asked, difference.found) == ("protocol", "backward", FORWARD)


def test_no_group_is_in_two_lists():
    for text in (
        ASKED,
        "rmsnorm h100 hidden>=2048",
        "op:rmsnorm b200 bf16 backward hidden=4096",
        "rmsnorm 2048x4096 h100",
    ):
        page = search(text)
        keys = [hit.key for groups in (page.exact, page.compatible, page.elsewhere) for hit in groups.hits]
        assert len(keys) == len(set(keys)), text


def test_what_is_excluded_is_in_no_list():
    page = search("rmsnorm bf16 hidden=4096 -h100")
    assert {hit.hardware.name for hit in (*page.exact.hits, *page.compatible.hits)} == {B200}
    assert page.elsewhere.hits == ()
    page = search("rmsnorm h100 hidden=4096 -fp32")
    assert "fp32" not in {hit.dtype for groups in (page.exact, page.compatible, page.elsewhere) for hit in groups.hits}
    page = search("rmsnorm h100 hidden=4096 -backward")
    assert BACKWARD not in {
        hit.protocol for groups in (page.exact, page.compatible, page.elsewhere) for hit in groups.hits
    }
    assert "8192" not in " ".join(sizes(search("op:rmsnorm h100 -hidden=8192").exact))
    assert len(search("op:rmsnorm h100 -2048x8192").exact.hits) == 4


def test_conditions_on_runs_choose_the_best_run_and_leave_its_rank():
    for text in (
        "lang:python",
        "-triton",
        "license:apache",
        "impl:transformers",
        "project:transformers",
        "huggingface",
    ):
        [hit] = search(f"{ASKED} {text}").exact.hits
        assert (hit.best.implementation, hit.best.rank, hit.ranked) == ("Transformers", 2, 2), text
    [hit] = search(f"{ASKED} source:liger evidence:reported status:passed").exact.hits
    assert hit.best.rank == 1
    assert search(f"{ASKED} evidence:verified").exact.hits == ()
    assert search(f"{ASKED} status:timeout").exact.hits == ()


def test_a_group_without_a_ranked_run_that_matches_says_so():
    for run in Run.objects.filter(comparison_key=search(ASKED).exact.hits[0].key):
        retract(run.digest, reason="wrong", actor="the source")
    [hit] = search(ASKED).exact.hits
    assert (hit.best, hit.ranked, hit.runs) == (None, 0, 2)


def test_a_shape_is_looked_for_among_the_axes_in_any_order():
    assert sizes(search("op:rmsnorm h100 4096x2048").exact) == ["rows = 2048 · hidden = 4096 · fp32"] * 2
    assert sizes(search("op:rmsnorm h100 shape:2048x2048").exact) == ["rows = 2048 · hidden = 2048 · bf16"]
    [first, *_] = search("op:rmsnorm h100 shape:2048x3500").compatible.hits
    assert (first.workload, first.differences[0].found) == ("rows = 2048 · hidden = 4096 · fp32", "no axis of 3500")


def test_names_that_match_are_listed():
    page = search(ASKED)
    assert [(hit.kind, hit.link.name) for hit in page.names.hits] == [
        ("operation", "RMSNorm"),
        ("operation", "Fused add + RMSNorm"),
    ]
    page = search("transformers softmax")
    assert [(hit.kind, hit.link.name, hit.detail) for hit in page.names.hits] == [
        ("operation", "Softmax", "softmax; also softmax"),
        ("implementation", "Transformers", "Softmax, python, Apache-2.0"),
    ]
    assert [hit.best.implementation for hit in search("impl:suite-softmax-liger").exact.hits] == ["Liger-Kernel"]


@pytest.mark.parametrize(
    ("text", "left_out", "first"),
    [
        ("rmsnrom b200", ("rmsnrom",), "RMSNorm"),
        ("softmax gppu:b200", ("gppu:b200",), "Softmax"),
        ("softmax h100", ("the workload", "the hardware", "the protocol"), "Softmax"),
        ("softmax mi300x", ("mi300x",), "Softmax"),
        ("softmax b200 evidence:verified", ("what was asked of the runs",), "Softmax"),
        ("softmax hidden>9 hidden<3", ("hidden>9", "hidden<3"), "Softmax"),
    ],
)
def test_where_nothing_matches_the_nearest_is_shown_with_what_was_left_out(text, left_out, first):
    page = search(text)
    assert page.exact.hits == ()
    assert page.nearest.left_out == left_out
    assert page.nearest.groups.hits[0].operation.name == first


def test_where_nothing_is_near_the_index_says_what_it_has():
    page = search("qwertyuiop")
    assert page.nearest is None
    assert [one.text for one in page.known.operations] == ["Fused add + RMSNorm", "RMSNorm", "Softmax"]
    assert search("  ").known == page.known
    assert search(page.known.example.text).exact.hits


def test_a_term_that_was_not_used_never_gives_an_exact_match():
    assert search("op:rmsnorm h100 fp32 hiden=4096").exact.hits == ()
    assert search("op:rmsnorm h100 fp32 qwertyuiop").exact.hits == ()


def test_an_operation_of_no_kernel_finds_no_group_of_another():
    page = search("op:softmax hidden=4096")
    assert (page.exact.hits, page.compatible.hits, page.elsewhere.hits) == ((), (), ())
    assert {hit.operation.name for hit in page.nearest.groups.hits} == {"Softmax"}


def test_a_list_by_itself_goes_on_where_the_page_before_ended():
    publish(example_bundle(repeated=2 * PAGE_SIZE))
    text = "op:rmsnorm h100 bf16 hidden=2048"
    page = search(text)
    assert (len(page.exact.hits), page.exact.total, page.exact.more) == (SHOWN, 2 * PAGE_SIZE + 1, False)
    assert page.exact.next_url == "/search/?q=op%3Armsnorm+h100+bf16+hidden%3D2048&list=exact"
    keys, after = [], ""
    for count in (PAGE_SIZE, PAGE_SIZE, 1):
        alone = search(text, only="exact", after=after)
        assert len(alone.exact.hits) == count
        assert (alone.compatible.hits, alone.elsewhere.hits, alone.names.hits, alone.nearest) == ((), (), (), None)
        keys += [hit.key for hit in alone.exact.hits]
        after = keys[-1]
        assert (alone.exact.next_url is None) == (count == 1)
    assert len(set(keys)) == page.exact.total
    nearest = search(text.replace("2048", "1500"), only="compatible")
    assert len(nearest.compatible.hits) == PAGE_SIZE
    assert nearest.exact.hits == ()


@pytest.mark.parametrize(("only", "after"), [("all", ""), ("", "sha256:0"), ("exact", "sha256:0"), ("names", "")])
def test_a_list_or_a_place_that_is_not_there_is_refused(only, after):
    with pytest.raises(UnknownPlace):
        search(ASKED, only=only, after=after)


def test_a_search_too_wide_to_be_read_is_bounded_and_says_so(monkeypatch):
    monkeypatch.setattr("runs.reads.search.groups.BOUND", 4)
    page = search("rmsnorm")
    assert (len(page.exact.hits), page.exact.total, page.exact.more, page.exact.next_url) == (4, 4, True, None)
    assert search("rmsnorm").exact == page.exact
    assert BOUND == 1_000


@pytest.mark.parametrize(
    "text",
    [
        ASKED,
        "rmsnorm",
        "h100 4096x2048",
        "op:rmsnorm h100 hidden=3000 liger backward",
        "rmsnrom h100",
        "-python bf16",
        "qwertyuiop",
    ],
)
def test_a_search_takes_as_many_statements_however_many_groups_there_are(text, django_assert_num_queries):
    search(text)  # the vocabulary is known from here on
    with CaptureQueriesContext(connection) as few:
        search(text)
    assert len(few) <= 9
    publish(example_bundle(repeated=300))
    search(text)
    with django_assert_num_queries(len(few)):
        search(text)


def test_other_sources_are_found_beside_one_another():
    publish(seed_bundle())
    publish(synthesize(0, 240))
    assert search("groupnorm b200 channels=64").exact.total == 1
    page = search('norm "GPU S1" bf16')
    assert {hit.operation.name for hit in page.exact.hits} >= {"Synthetic plain norm"}
    assert page.exact.hits[0].best.illustrative


def test_what_was_published_since_the_vocabulary_was_read_is_found(monkeypatch):
    monkeypatch.setattr("runs.reads.search.vocabulary.fetch_tuple", lambda sql: ("always the same",))
    assert search("b200").exact.total == 3
    publish(seed_bundle())
    assert search("b200").exact.total == 4
