import pytest

from runs.models import Environment, Implementation, Operation
from runs.reads.search.facets import AxisRange
from runs.reads.search.meaning import understand
from runs.reads.search.query import LARGEST, parse_query
from runs.reads.search.vocabulary import vocabulary

pytestmark = pytest.mark.usefixtures("index")


def meaning(text):
    return understand(parse_query(text), vocabulary())


def chips(text):
    return [(chip.label, chip.value) for chip in meaning(text).chips]


def operations(*names):
    return frozenset(Operation.objects.filter(name__in=names).values_list("id", flat=True))


def test_bare_words_are_recognised():
    assert chips("rmsnorm h100 bf16 hidden=4096 triton") == [
        ("operation", "rmsnorm"),
        ("GPU", "NVIDIA H100 PCIe"),
        ("dtype", "bf16"),
        ("hidden", "4096"),
        ("language", "triton"),
    ]
    facets = meaning("rmsnorm h100 bf16 hidden=4096 triton").facets
    assert facets.operations == operations("RMSNorm", "Fused add + RMSNorm")
    assert facets.environments == frozenset(
        Environment.objects.filter(hardware="nvidia-h100-pcie").values_list("id", flat=True)
    )
    assert facets.dtypes == {"bf16"}
    assert facets.axes == (AxisRange("hidden", ((4096, 4096),)),)
    assert facets.implementations == frozenset(
        Implementation.objects.filter(language="triton").values_list("id", flat=True)
    )


@pytest.mark.parametrize("name", ["rmsnorm", "RMSNorm", "rms_norm", "rms-norm", "rms norm", "RMS Norm"])
def test_an_operation_is_recognised_however_it_is_spelled(name):
    assert meaning(name).facets.operations == operations("RMSNorm", "Fused add + RMSNorm")
    assert meaning(f'op:"{name}"').facets.operations == operations("RMSNorm")


def test_a_key_names_one_operation_where_a_bare_word_names_its_family_too():
    assert [chip.note for chip in meaning("rmsnorm").chips] == ["RMSNorm and Fused add + RMSNorm"]
    assert chips("op:rmsnorm") == [("operation", "RMSNorm")]
    assert meaning("op:norm").facets.operations == operations("RMSNorm", "Fused add + RMSNorm")


@pytest.mark.parametrize(
    "name",
    ["h100", "H100 PCIe", "nvidia h100", "gpu:h100", "gpu:nvidia-h100-pcie", 'gpu:"h100 pcie"', "sm_90", "arch:sm90"],
)
def test_hardware_is_recognised_however_it_is_spelled(name):
    assert meaning(name).facets.environments == frozenset(
        Environment.objects.filter(hardware="nvidia-h100-pcie").values_list("id", flat=True)
    )


def test_each_chip_leads_to_the_search_without_it():
    found = meaning("rms norm h100 hidden=4k").chips
    assert [chip.remove_url for chip in found] == [
        "/search/?q=h100+hidden%3D4k",
        "/search/?q=rms+norm+hidden%3D4k",
        "/search/?q=rms+norm+h100",
    ]
    assert found[2].note == "typed 4k"
    assert meaning("h100").chips[0].remove_url == "/search/"


def test_a_minus_excludes():
    facets = meaning("-python -h100 -hidden=4096 -op:softmax -bf16 -2048x4096").facets
    assert facets.implementations is facets.environments is facets.operations is facets.dtypes is None
    assert facets.excluded.operations == operations("Softmax")
    assert facets.excluded.dtypes == {"bf16"}
    assert facets.excluded.axes == (AxisRange("hidden", ((4096, 4096),)),)
    assert facets.excluded.shapes == ((2048, 4096),)
    assert len(facets.excluded.implementations) == 3
    assert len(facets.excluded.environments) == 1
    assert all(chip.excluded for chip in meaning("-python -h100").chips)


def test_values_of_one_key_are_alternatives_and_different_keys_all_apply():
    assert len(meaning("gpu:h100 gpu:b200").facets.environments) == 2
    assert meaning("gpu:h100 arch:sm_100").facets.environments == frozenset()
    assert len(meaning("lang:triton impl:liger project:liger-kernel").facets.implementations) == 3
    assert meaning("lang:python project:liger-kernel").facets.implementations == frozenset()


def test_values_of_an_axis_are_alternatives_and_comparisons_all_apply():
    assert meaning("hidden=1024 hidden=8k").facets.axes == (AxisRange("hidden", ((1024, 1024), (8192, 8192))),)
    assert meaning("hidden>1024 hidden<8k").facets.axes == (AxisRange("hidden", ((1025, 8191),)),)
    assert meaning("hidden=1..5000 hidden>=4096").facets.axes == (AxisRange("hidden", ((4096, 5000),)),)
    assert meaning("rows>=1").facets.axes == (AxisRange("rows", ((1, LARGEST),)),)


def test_comparisons_that_contradict_one_another_are_named():
    found = meaning("hidden>8k hidden<1k")
    assert found.facets.is_void
    assert [problem.code for problem in found.problems] == ["CONTRADICTION"]
    assert found.left_out == ("hidden>8k", "hidden<1k")


@pytest.mark.parametrize(
    ("text", "code", "suggested"),
    [
        ("rmsnorm gppu:h100", "UNKNOWN_KEY", "gpu:h100"),
        ("rmsnorm hiden=4096", "UNKNOWN_KEY", "hidden=4096"),
        ("rmsnorm hidden=big", "NOT_A_NUMBER", "hidden=4096"),
        ("rmsnorm dtype>=bf16", "NOT_COMPARABLE", "dtype:bf16"),
        ("rmsnorm shape:big", "NOT_A_SHAPE", "shape:2048x4096"),
        ("rmsnorm gpu:h1000", "UNKNOWN_VALUE", "h100"),
        ("rmsnorm lang:trition", "UNKNOWN_VALUE", "triton"),
        ("rmsnorm status:pased", "UNKNOWN_VALUE", "status:passed"),
        ("rmsnorm softmx", "NO_SUCH_NAME", "Softmax"),
        ("rmsnorm -softmx", "NO_SUCH_NAME", "-Softmax"),
    ],
)
def test_what_is_not_understood_gets_a_suggestion_and_is_no_silent_text(text, code, suggested):
    found = meaning(text)
    [problem] = found.problems
    assert problem.code == code
    typed = text.split(" ", 1)[1]
    assert found.left_out == (typed,)
    assert suggested.removeprefix("-") in [suggestion.text for suggestion in problem.suggestions]
    assert not found.chips[-1].used
    assert all(one.found for one in found.facets.texts if one.text != typed.removeprefix("-"))
    # Following a suggestion leads to a query that is understood.
    again = parse_query(
        next(s.url for s in problem.suggestions)
        .partition("q=")[2]
        .replace("+", " ")
        .replace("%3A", ":")
        .replace("%3D", "=")
    )
    assert understand(again, vocabulary()).problems == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("op:", "NO_VALUE"),
        ("hidden=", "NOT_A_NUMBER"),
        ("zzzz:1", "UNKNOWN_KEY"),
        ("gpu:mi300x", "UNKNOWN_VALUE"),
        ("qwertyuiop", "NO_SUCH_NAME"),
        ("x" * 400, "TOO_LONG"),
    ],
)
def test_what_is_like_nothing_is_named_without_a_suggestion(text, code):
    assert code in [problem.code for problem in meaning(text).problems]


def test_a_well_known_gpu_that_nobody_measured_is_no_text():
    found = meaning("rmsnorm mi300x")
    assert found.facets.environments == frozenset()
    assert found.facets.texts == ()
    assert found.problems[0].sentence == "The index has no GPU “mi300x”."


def test_quotes_make_text_of_a_name():
    [text] = meaning('"rmsnorm"').facets.texts
    assert text.operations == operations("RMSNorm", "Fused add + RMSNorm")
    assert meaning('"rmsnorm"').facets.operations is None


def test_text_is_looked_for_in_the_names_of_everything():
    [backward] = meaning("backward").facets.texts
    assert backward.is_of_protocols
    [named] = meaning("huggingface").facets.texts
    assert len(named.implementations) == 3
    assert named.is_of_runs


def test_near_names_are_looked_for_a_bounded_number_of_times():
    found = meaning(" ".join(f"softmx{number}" for number in range(20)))
    assert len(found.problems) == 20
    assert sum(bool(problem.suggestions) for problem in found.problems) <= 4


def test_an_empty_index_understands_grammar_alone():
    from runs.reads.search.vocabulary import Vocabulary

    empty = Vocabulary({}, {}, {}, {}, {}, {}, (), ())
    found = understand(parse_query("rmsnorm h100 bf16 hidden=4096 op:x shape:2x2"), empty)
    assert [problem.code for problem in found.problems] == [
        "NO_SUCH_NAME",
        "UNKNOWN_VALUE",
        "UNKNOWN_VALUE",
        "UNKNOWN_KEY",
        "UNKNOWN_VALUE",
    ]
