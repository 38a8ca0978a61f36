"""Expressions of derived axes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.manifests.canonical import MAX_INTEGER
from runs.manifests.errors import ManifestError
from runs.manifests.expressions import parse_expression
from tests.manifests.vectors import problems_of

AXES = {"hidden": 4096, "heads": 32, "a": 7, "b": 3}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hidden // heads", 128),
        ("a+b*2", 13),
        ("(a + b) * 2", 20),
        ("a - b - 1", 3),
        ("a // b % 2", 0),
        ("-a // b", -3),
        ("-(a % -b)", 2),
        ("a - -b", 10),
        ("0012", 12),
    ],
)
def test_it_evaluates_as_python_does(text, value):
    assert parse_expression(text).evaluate(AXES) == value
    assert eval(text.replace("0012", "12"), {"__builtins__": {}}, dict(AXES)) == value


def test_it_names_the_axes_that_it_needs():
    assert parse_expression("hidden // heads + hidden * (2 - 2)").axes == {"hidden", "heads"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "found the end"),
        ("   ", "found the end"),
        ("hidden /", "at character 8 .* found '/'"),
        ("hidden / heads", "at character 8"),
        ("hidden // ", "found the end"),
        ("2 hidden", "expected an operator or the end, found 'hidden'"),
        ("(a + b", "expected a closing parenthesis"),
        ("a + b)", "expected an operator or the end"),
        ("a ** b", "found '\\*'"),
        ("a.b", "found '.'"),
        ("Hidden", "found 'H'"),
        ("__import__", "found '_'"),
        ("a[0]", "found '\\['"),
        ("a\n+ b", "at character 2"),
        ("1.5", "found '.'"),
        ("٣", "at character 1"),
        ("9007199254740992", "beyond 2\\^53"),
        ("(" * 33 + "1" + ")" * 33, "nested at most 32"),
        ("-" * 33 + "1", "nested at most 32"),
        ("1" + "+1" * 250, "at most 500 characters"),
    ],
)
def test_it_says_where_an_expression_goes_wrong(text, reason):
    with pytest.raises(ManifestError, match=reason):
        parse_expression(text)


@pytest.mark.parametrize(
    ("text", "axes", "reason"),
    [
        ("hidden // heads", {"hidden": 1}, "needs the axis 'heads'"),
        ("a // (b - b)", AXES, "divides by zero"),
        ("a % 0", AXES, "divides by zero"),
        ("a * a", {"a": 2**30}, "leaves the range"),
        ("a + 1", {"a": MAX_INTEGER}, "leaves the range"),
    ],
)
def test_it_says_why_an_expression_has_no_value(text, axes, reason):
    with pytest.raises(ManifestError, match=reason):
        parse_expression(text).evaluate(axes)


expressions = st.recursive(
    st.integers(0, 50).map(str) | st.sampled_from(sorted(AXES)),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(" ".join)
        | inner.map(lambda text: f"({text})")
        | inner.map(lambda text: f"-({text})")
    ),
    max_leaves=8,
)


@given(expressions)
def test_any_expression_has_the_value_that_python_gives_it(text):
    try:
        expected = eval(text, {"__builtins__": {}}, dict(AXES))
    except ZeroDivisionError:
        with pytest.raises(ManifestError, match="divides by zero"):
            parse_expression(text).evaluate(AXES)
        return
    assert parse_expression(text).evaluate(AXES) == expected


@given(st.text(alphabet="ab10 +-*/%()._[", max_size=30))
def test_any_text_is_an_expression_or_an_error_with_its_place(text):
    problems = problems_of(parse_expression, text)
    assert problems is None or [problem.code for problem in problems] == ["expression"]
