"""The result document: what cannot be built, and how large it may be."""

import pytest

from runs.reruns.documents.base import MAX_LOG_CHARACTERS
from runs.reruns.documents.refusals import Refusal
from runs.reruns.documents.result import MAX_PAYLOAD_BYTES, Result
from tests.reruns.examples import environment, instant, manifests, process, result_document, watch

DIGEST = "sha256:" + "2" * 64


def test_a_result_survives_a_round_trip():
    document = result_document(DIGEST, failure={"code": "crash", "message": "It ended."})
    assert Result.read(document).plain() == document


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": "reproduced"},
        {"processes": [process(1), process(0)]},
        {"processes": [process(0), process(0)]},
        {"processes": [process(index) for index in range(16)]},
        {"processes": [{**process(0), "eventNs": []}]},
        {"processes": [{**process(0), "eventNs": [-1]}]},
        {"processes": [{**process(0), "deviceNs": None}]},
        {"environment": None},
        {"processes": [{**process(0), "eventNs": [1.5]}]},
        {"processes": [{**process(0), "eventNs": [1] * 50_001}]},
        {"log": "x" * (MAX_LOG_CHARACTERS + 1)},
        {"log": "\0"},
        {"finishedAt": instant(-6)},
        {"environment": manifests()["workload"]},
        {"environment": {"kind": "ExecutionEnvironment"}},
        {
            "batch": {
                **result_document(DIGEST)["batch"],
                "watch": watch(telemetry={**watch()["telemetry"], "watts": [1]}),
            }
        },
        {"batch": {**result_document(DIGEST)["batch"], "watch": watch(seconds=float("nan"))}},
        {"correctness": None},
        {"jobDigest": "2" * 64},
    ],
)
def test_it_refuses_what_is_out_of_form(changes):
    with pytest.raises(Refusal) as refusal:
        Result.read(result_document(DIGEST, **changes))
    assert refusal.value.code == "MALFORMED"


def test_a_full_second_look_fits_into_the_limit():
    samples = [1_000_000 + step for step in range(5_000)]
    processes = [{**process(index), "eventNs": samples} for index in range(15)]
    document = Result.read(result_document(DIGEST, processes=processes))
    assert len(document.model_dump_json(by_alias=True)) < MAX_PAYLOAD_BYTES // 4


def test_only_a_failure_may_lack_its_environment():
    document = result_document(DIGEST)
    del document["environment"]
    failure = {"code": "not_rerunnable", "message": "It has no recipe."}
    assert Result.read({**document, "failure": failure, "processes": []}).environment is None
    for incomplete in (document, {**document, "failure": failure}, {**document, "processes": []}):
        with pytest.raises(Refusal, match="without its environment"):
            Result.read(incomplete)


def test_an_environment_of_its_own_product_is_kept_as_it_is():
    assert Result.read(result_document(DIGEST, environment=environment("CPU"))).environment == environment("CPU")
