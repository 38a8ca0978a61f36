import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runs.reads.search.query import (
    LARGEST,
    MAX_LENGTH,
    MAX_TERMS,
    NotANumber,
    Term,
    format_query,
    parse_bounds,
    parse_number,
    parse_query,
    parse_shape,
)

TEXTS = st.text(max_size=MAX_LENGTH) | st.text(alphabet='ab-":=<>≥≤ .,;|·1k_x×*!\n', max_size=40)


def field(key, sign, value, excluded=False):
    return Term("field", value, key, sign, excluded)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        (
            "rmsnorm h100 bf16 hidden=4096",
            [Term("word", "rmsnorm"), Term("word", "h100"), Term("word", "bf16"), field("hidden", "=", "4096")],
        ),
        ("hidden>=4096", [field("hidden", ">=", "4096")]),
        ("hidden ≤ 4096", [field("hidden", "<=", "4096")]),
        ("hidden=1024..8192", [field("hidden", "=", "1024..8192")]),
        (
            "rows = 2048 · hidden = 4096 · fp32",
            [field("rows", "=", "2048"), field("hidden", "=", "4096"), Term("word", "fp32")],
        ),
        ('op:"rms norm" -gpu:h100', [field("op", ":", "rms norm"), field("gpu", ":", "h100", True)]),
        ("Operation:RMSNorm hardware=h100", [field("op", ":", "RMSNorm"), field("gpu", ":", "h100")]),
        (
            '"forward pass" -"peak memory"',
            [Term("phrase", "forward pass"), Term("phrase", "peak memory", excluded=True)],
        ),
        ("-python", [Term("word", "python", excluded=True)]),
        ("2048x4096", [field("shape", ":", "2048x4096")]),
        ("rmsnorm, h100;", [Term("word", "rmsnorm"), Term("word", "h100")]),
        ("op: rmsnorm", [field("op", ":", ""), Term("word", "rmsnorm")]),
        ("hidden=", [field("hidden", "=", "")]),
        ('"not closed', [Term("phrase", "not closed")]),
        ("std::max", [field("std", ":", ":max")]),
        (" - -- , : = \x00 ", []),
        ("", []),
    ],
)
def test_a_query_has_these_terms(text, terms):
    assert list(parse_query(text).terms) == terms


@given(TEXTS)
@example("A:0≤, 0")
@example('a="" 5')
@example('a>"=5"')
def test_any_text_parses_and_what_is_written_parses_to_the_same(text):
    query = parse_query(text)
    assert len(query.terms) <= MAX_TERMS
    written = str(query)
    if len(written) <= MAX_LENGTH:
        assert parse_query(written).terms == query.terms
        assert str(parse_query(written)) == written


@given(TEXTS, st.integers(min_value=0, max_value=MAX_TERMS))
def test_a_query_without_a_term_is_the_others(text, place):
    query = parse_query(text)
    left = query.without(place)
    if len(left) <= MAX_LENGTH:
        assert list(parse_query(left).terms) == [term for at, term in enumerate(query.terms) if at != place]


def test_terms_are_replaced_where_they_stood():
    query = parse_query("cross entropy h100")
    assert query.replaced((0, 1), "op:x") == "op:x h100"
    assert query.replaced((2,), "b200") == "cross entropy b200"


def test_what_is_too_long_is_cut_and_said_so():
    assert parse_query("a " * 200).cut
    assert len(parse_query("a " * 200).terms) == MAX_TERMS
    assert parse_query("a" * (MAX_LENGTH + 1)).cut
    assert not parse_query("a" * MAX_LENGTH).cut
    assert not parse_query("a " * MAX_TERMS).cut


@pytest.mark.parametrize(
    ("text", "number"), [("4096", 4096), ("4k", 4096), ("4Ki", 4096), ("2m", 2 * 1024**2), ("4,096", 4096), ("0", 0)]
)
def test_a_size_is_a_whole_number(text, number):
    assert parse_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "k", "4.5", "-1", "4e3", "4096x", "1,2", "9" * 17, str(LARGEST + 1), "9007199254740991k", "٤"]
)
def test_what_is_no_size_is_refused(text):
    with pytest.raises(NotANumber):
        parse_number(text)


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("hidden=4096", (4096, 4096)),
        ("hidden:4k", (4096, 4096)),
        ("hidden>=4096", (4096, LARGEST)),
        ("hidden>4096", (4097, LARGEST)),
        ("hidden<=4096", (0, 4096)),
        ("hidden<4096", (0, 4095)),
        ("hidden=1k..8k", (1024, 8192)),
        ("hidden=..8k", (0, 8192)),
        ("hidden=1k..", (1024, LARGEST)),
    ],
)
def test_a_condition_has_these_bounds(text, bounds):
    [term] = parse_query(text).terms
    assert parse_bounds(term) == bounds


@pytest.mark.parametrize("text", ["hidden=..", "hidden=8..4", "hidden=a..b", "hidden>1..2", "hidden=1..2..3"])
def test_a_range_that_makes_no_sense_is_refused(text):
    [term] = parse_query(text).terms
    with pytest.raises(NotANumber):
        parse_bounds(term)


def test_a_shape_is_its_sizes():
    assert parse_shape("128x64X512") == (128, 64, 512)
    assert parse_shape("2k×4k") == (2048, 4096)
    with pytest.raises(NotANumber):
        parse_shape("128x*")
    with pytest.raises(NotANumber):
        parse_shape("x".join(["1"] * 9))


def test_a_value_with_spaces_is_written_in_quotes():
    assert format_query([field("impl", ":", "Liger Kernel"), field("op", ":", "")]) == 'impl:"Liger Kernel" op:""'
