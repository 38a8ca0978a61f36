import pytest

from runs.reads.search.results import search
from runs.reads.search.suggestions import MOST, suggest

pytestmark = pytest.mark.usefixtures("index")


def offered(text):
    return [(one.text, one.label, one.kind) for one in suggest(text)]


def test_names_that_begin_so_come_first_then_those_that_hold_it():
    assert offered("rms")[:2] == [
        ("RMSNorm", "RMSNorm", "operation"),
        ("fused_add_rms_norm", "Fused add + RMSNorm", "operation"),
    ]
    assert offered("h1") == [("gpu:nvidia-h100-pcie", "NVIDIA H100 PCIe", "GPU")]
    assert offered("bf") == [("bf16", "bf16", "dtype")]


def test_the_last_word_is_completed_and_the_others_are_kept():
    assert offered("rmsnorm h10") == [("rmsnorm gpu:nvidia-h100-pcie", "NVIDIA H100 PCIe", "GPU")]
    assert ("rmsnorm -python", "python", "language") in offered("rmsnorm -pyth")
    assert ("rmsnorm hidden=", "hidden", "axis") in offered("rmsnorm hid")


def test_the_values_of_a_key_are_offered():
    assert offered("lang:tri") == [("lang:triton", "triton", "language")]
    assert offered("gpu:b2") == [("gpu:nvidia-b200", "NVIDIA B200", "GPU")]
    assert offered("op:soft") == [("op:suite-softmax", "Softmax", "operation")]
    assert offered("status:pa") == [("status:passed", "passed", "status")]
    assert ("impl:Liger-Kernel", "Liger-Kernel", "implementation") in offered("impl:lig")


@pytest.mark.parametrize(
    "text", ["", " ", "rmsnorm ", "qwertyuiop", "hidden=4", "foo:bar", "???", "x" * 1000, "softmax"]
)
def test_nothing_is_offered_where_there_is_nothing_to_complete(text):
    assert [one for one in offered(text) if one[1].lower() != "softmax"] == []


def test_what_is_offered_is_understood():
    for begun in ("r", "h", "n", "s", "l", "t", "p", "lang:p", "rmsnorm n"):
        for one in suggest(begun):
            if not one.text.endswith(("=", ":")):
                assert search(one.text).problems == (), one.text


def test_suggestions_are_few_and_may_be_kept(client):
    response = client.get("/search/suggest/", {"q": "r"})
    assert 0 < len(response.json()["suggestions"]) <= MOST
    assert response.headers["Cache-Control"] == "public, max-age=60"
    assert set(response.json()["suggestions"][0]) == {"text", "label", "kind"}


def test_a_suggestion_takes_one_statement(client, django_assert_num_queries):
    client.get("/search/suggest/", {"q": "r"})
    with django_assert_num_queries(1):
        client.get("/search/suggest/", {"q": "rmsnorm h1"})
