import pytest

from runs.reads.search.words import holds, is_dtype, is_gpu, is_same_dtype, near, spans, squash, tokens


def test_names_are_compared_without_case_and_punctuation():
    assert {squash(name) for name in ("RMSNorm", "rms_norm", "rms-norm", "Rms Norm")} == {"rmsnorm"}


def test_a_name_is_cut_into_words_and_their_runs():
    assert tokens("NVIDIA A100 SXM4-80GB") == ("nvidia", "a100", "sxm4", "80gb")
    assert set(spans(("a", "b", "c"))) == {"a", "ab", "abc", "b", "bc", "c"}


def test_a_short_word_is_looked_for_as_a_word_of_its_own():
    assert holds(("Dynamic Tanh",), "tan")
    assert not holds(("Dynamic Tanh",), "ta")
    assert holds(("KL divergence",), "kl")


@pytest.mark.parametrize(
    "name", ["h100", "H200", "a100", "RTX 4090", "MI300X", "nvidia-b200", "gh200", "l40s", "H100-PCIe", "t4"]
)
def test_what_people_call_gpus_is_a_gpu(name):
    assert is_gpu(name)


@pytest.mark.parametrize("word", ["h", "h1", "v2", "b1", "p80", "k3", "norm", "4096", "t5", "llama3", ""])
def test_other_words_are_no_gpu(word):
    assert not is_gpu(word)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("bf16", "bfloat16"),
        ("half", "fp16"),
        ("float32", "fp32"),
        ("fp8", "fp8_e4m3fn"),
        ("float8", "e5m2"),
        ("fp8", "float8_e4m3"),
    ],
)
def test_a_dtype_has_several_spellings(wanted, found):
    assert is_dtype(wanted)
    assert is_same_dtype(wanted, found)


@pytest.mark.parametrize(
    ("wanted", "found"), [("fp16", "bf16"), ("fp8e4m3", "fp8e5m2"), ("fp32", "fp3"), ("int8", "int8x")]
)
def test_dtypes_that_differ_are_not_the_same(wanted, found):
    assert not is_same_dtype(wanted, found)


def test_near_names_are_alike_or_begin_alike():
    names = ["RMSNorm", "LayerNorm", "Softmax", "Sparsemax"]
    assert near("rmsnrom", names)[0] == "RMSNorm"
    assert near("soft", names) == ["Softmax"]
    assert near("qwertyuiop", names) == []
    assert near("???", names) == []
