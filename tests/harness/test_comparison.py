import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from runs.reruns.harness.comparison import (  # noqa: E402
    LIMIT_NORM,
    TOLERANCES,
    bounds_for,
    compare,
    fingerprint,
    narrowest,
    set_aside,
    take_blocks,
)
from runs.reruns.harness.sampling import MAX_CHECKED, choose_blocks  # noqa: E402

ALL = [(0, 1000)]
BOUNDS = bounds_for("softmax", "y", torch.float32)


def _reference() -> "torch.Tensor":
    return torch.randn(1000, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def _compare(actual, reference=None, plain=None, aside: int = 0):
    return compare(actual, _reference() if reference is None else reference, ALL, BOUNDS, plain, aside=aside)


def test_the_reference_itself_matches_without_error():
    found = _compare(_reference())
    assert found["matched"]
    assert found["scaled_error"] == found["max_scaled_error"] == found["relative_norm"] == 0.0
    assert found["checked"] == found["elements"] == 1000


def test_rounding_to_float32_matches():
    assert _compare(_reference().float())["matched"]


def test_one_wrong_element_is_found():
    actual = _reference()
    actual[500] += 0.01
    found = _compare(actual)
    assert not found["matched"]
    assert found["matched_ratio"] == 0.999


def test_a_small_bias_everywhere_is_found_by_the_norm():
    found = _compare(_reference() * 1.0005)
    assert found["scaled_error"] < BOUNDS.element
    assert not found["matched"]


@pytest.mark.parametrize("aside", [0, 4])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_never_matches(value: float, aside: int):
    actual = _reference()
    actual[3] = value
    found = _compare(actual, plain=torch.zeros(1000), aside=aside)
    assert not found["matched"]
    assert found["not_finite"] == 1
    assert found["max_scaled_error"] is None
    assert found["relative_norm"] is None


ONES = torch.ones(1000, dtype=torch.float64)


def _of_ones(off: int, by: float, aside: int):
    """Ones of which some are off, under the tolerance of a 16-bit type."""
    actual = ONES.clone()
    actual[:off] += by
    return compare(actual, ONES, ALL, bounds_for("softmax", "y", torch.bfloat16), None, aside=aside)


def test_as_many_elements_as_are_set_aside_may_be_off_and_the_largest_error_is_still_told():
    found = _of_ones(4, 0.2, aside=4)
    assert found["matched"]
    assert (found["scaled_error"], found["set_aside"]) == (0.0, 4)
    assert found["max_scaled_error"] == pytest.approx(0.1)
    assert found["max_absolute_error"] == pytest.approx(0.2)
    assert found["matched_ratio"] == 0.996


def test_one_element_more_than_is_set_aside_is_found():
    found = _of_ones(5, 0.2, aside=4)
    assert found["relative_norm"] < found["norm_tolerance"]
    assert not found["matched"]


def test_what_is_set_aside_still_counts_in_the_norm():
    found = _of_ones(4, 1.0, aside=4)
    assert found["scaled_error"] == 0.0
    assert not found["matched"]


def test_errors_set_aside_of_the_plain_evaluation_excuse_nothing():
    plain = _reference()
    plain[[1, 2, 3, 4]] += 1.0
    assert _compare(_reference(), plain=plain)["element_tolerance"] > BOUNDS.element
    assert _compare(_reference(), plain=plain, aside=4)["element_tolerance"] == BOUNDS.element


@pytest.mark.parametrize(
    ("elements", "dtype", "distribution", "count"),
    [
        (1 << 21, torch.bfloat16, "hard", 1048),
        (1 << 21, torch.float16, "hard", 1048),
        (1 << 21, torch.bfloat16, "normal", 0),
        (1 << 21, torch.float32, "hard", 0),
        (4608, torch.bfloat16, "hard", 4),
        (500, torch.bfloat16, "hard", 2),
        (1, torch.bfloat16, "hard", 0),
    ],
)
def test_a_few_elements_of_hard_sixteen_bit_outputs_alone_are_set_aside(elements, dtype, distribution, count):
    assert set_aside(elements, dtype, distribution) == count


def test_a_plain_evaluation_that_is_off_as_much_excuses_the_error():
    actual = _reference() * 1.0005
    assert _compare(actual, plain=_reference() * 1.0002)["matched"]
    assert not _compare(actual, plain=_reference() * 1.00001)["matched"]


def test_nothing_excuses_zeros():
    found = _compare(torch.zeros(1000), plain=torch.zeros(1000))
    assert not found["matched"]
    assert found["norm_tolerance"] == LIMIT_NORM


def test_a_reference_of_zeros_is_matched_by_zeros_alone():
    zeros = torch.zeros(1000, dtype=torch.float64)
    assert _compare(zeros.clone(), zeros)["matched"]
    assert not _compare(zeros + 1e-9, zeros)["matched"]


def test_tolerances_grow_as_types_narrow():
    order = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
    assert [TOLERANCES[dtype] for dtype in order] == sorted(TOLERANCES[dtype] for dtype in order)
    assert narrowest([torch.float32, torch.bfloat16, torch.int64]) == torch.bfloat16


@given(st.integers(1, 40_000_000), st.integers(0, (1 << 64) - 1))
def test_blocks_lie_in_the_tensor_in_order_and_do_not_overlap(elements: int, bits: int):
    blocks = choose_blocks(elements, bits)
    assert sum(end - start for start, end in blocks) <= MAX_CHECKED
    edges = [edge for block in blocks for edge in block]
    assert edges == sorted(edges)
    assert edges[0] >= 0
    assert edges[-1] <= elements
    assert all(start < end for start, end in blocks)


def test_a_small_tensor_is_compared_whole():
    assert choose_blocks(1000, 5) == [(0, 1000)]


def test_other_bits_choose_other_blocks():
    assert choose_blocks(MAX_CHECKED * 8, 1) != choose_blocks(MAX_CHECKED * 8, 2)


def test_blocks_are_taken_in_logical_order():
    tensor = torch.arange(12).reshape(3, 4).t()
    assert take_blocks(tensor, [(0, 2), (10, 12)]).tolist() == [0, 4, 7, 11]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.complex64])
def test_a_fingerprint_tells_tensors_apart(dtype):
    tensor = torch.arange(100).to(dtype)
    changed = tensor.clone()
    changed[7] += 1
    swapped = tensor.clone()
    swapped[[3, 4]] = swapped[[4, 3]]
    assert fingerprint(tensor) == fingerprint(tensor.clone())
    assert len({tuple(fingerprint(one)) for one in (tensor, changed, swapped)}) == 3
