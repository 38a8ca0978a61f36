import pytest

from runs.models import Operation
from runs.publication import publish
from runs.reads.search import vocabulary as module
from runs.reads.search.vocabulary import vocabulary
from tests.factories import seed_bundle

pytestmark = pytest.mark.usefixtures("index")


def test_the_vocabulary_is_what_the_tables_hold():
    known = vocabulary()
    assert {one.name for one in known.operations.values()} == {"RMSNorm", "Fused add + RMSNorm", "Softmax"}
    assert known.axes == ("cols", "hidden", "rows")
    assert known.dtypes == ("bf16", "fp32")
    assert known.languages == ("python", "triton")
    assert {one.name for one in known.projects.values()} == {"Liger-Kernel", "Hugging Face Transformers"}
    assert known.operation_names["rmsnorm"] == {Operation.objects.get(name="RMSNorm").id}
    assert len(known.operation_families["rmsnorm"]) == 2
    assert {"h100", "h100pcie", "nvidia", "nvidiah100pcie", "b200"} <= known.hardware_names
    assert not {"pcie", "pc"} & known.hardware_names


def test_it_is_kept_until_something_is_published(django_assert_num_queries):
    first = vocabulary()
    with django_assert_num_queries(1):
        assert vocabulary() is first
    publish(seed_bundle())
    second = vocabulary()
    assert "GroupNorm" in {one.name for one in second.operations.values()}
    assert set(second.axes) == {"batch", "channels", "channels_per_group", "cols", "hidden", "rows"}


def test_it_is_read_anew_when_it_is_old(monkeypatch):
    first = vocabulary()
    monkeypatch.setattr(module, "_MAX_AGE", 0.0)
    assert vocabulary() is not first


def test_an_empty_database_has_an_empty_vocabulary(monkeypatch):
    monkeypatch.setattr(module, "fetch", lambda sql: [])
    module.forget()
    known = vocabulary()
    assert (known.operations, known.axes, known.languages, known.hardware_names) == ({}, (), (), frozenset())
