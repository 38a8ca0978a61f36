"""Jobs and results between two parties who do not trust each other."""

import json
from datetime import timedelta

import pytest

from runs.reruns.documents.base import read_json
from runs.reruns.documents.envelope import envelope_digest, seal, statement
from runs.reruns.documents.exchange import audit_result, sign_result, verify_job, verify_result
from runs.reruns.documents.refusals import REFUSALS, Refusal
from runs.reruns.documents.result import MAX_PAYLOAD_BYTES, PREDICATE_TYPE, Result
from tests.reruns.examples import (
    DISPATCHER,
    KEYS,
    NOW,
    OTHER_RUNNER,
    RECIPE,
    RUNNER,
    correctness,
    environment,
    exchange,
    instant,
    job_document,
    key_set,
    private_key,
    result_document,
    signed_job,
)

EXECUTED = result_document("sha256:" + "0" * 64)["executed"]


def job_refusal(envelope, keys=KEYS, now=NOW, **options):
    with pytest.raises(Refusal) as refusal:
        verify_job(envelope, keys, now, **options)
    return refusal.value.code


def result_refusal(pair, keys=KEYS, now=NOW, **options):
    with pytest.raises(Refusal) as refusal:
        verify_result(pair.result, pair.job, keys, now, **options)
    return refusal.value.code


def later(minutes):
    return NOW + timedelta(minutes=minutes)


def test_a_runner_accepts_a_job_for_its_product():
    envelope = signed_job()
    verified = verify_job(envelope, KEYS, NOW, product="nvidia-h200")
    assert verified.job.job_id == "rerun-1"
    assert verified.digest == envelope_digest(envelope)
    assert verified.key.name == "site"


def test_the_site_accepts_a_result():
    pair = exchange()
    verified = verify_result(pair.result, pair.job, KEYS, NOW)
    assert (verified.result.runner, verified.key.operator) == ("h200-a", "KernelIndex")
    assert verified.digest == envelope_digest(pair.result)
    assert verified.job.digest == verified.result.job_digest


def test_a_runner_refuses_a_job_for_another_product():
    assert job_refusal(signed_job(), product="nvidia-h100") == "OTHER_PRODUCT"


def test_a_runner_refuses_a_job_that_another_runner_signed():
    assert job_refusal(signed_job(RUNNER)) == "WRONG_ROLE"


def test_a_runner_refuses_a_job_of_an_unknown_key():
    assert job_refusal(signed_job(private_key("stranger"))) == "UNKNOWN_KEY"


def test_a_runner_refuses_a_job_twice():
    envelope = signed_job()
    assert job_refusal(envelope, seen={envelope_digest(envelope)}) == "REPLAYED"


@pytest.mark.parametrize(("minutes", "code"), [(61, "EXPIRED"), (-16, "CLOCK")])
def test_a_runner_refuses_a_job_outside_its_time(minutes, code):
    assert job_refusal(signed_job(), now=later(minutes)) == code


@pytest.mark.parametrize("minutes", [60, -15])
def test_a_runner_accepts_a_job_at_the_ends_of_its_time(minutes):
    assert verify_job(signed_job(), KEYS, later(minutes)).job.job_id == "rerun-1"


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"revokedAt": instant(-1)}, "KEY_REVOKED"),
        ({"validFrom": instant(-9)}, "KEY_NOT_VALID"),
        ({"validUntil": instant(-1)}, "KEY_NOT_VALID"),
        ({"suspensions": [{"since": instant(-1)}]}, "KEY_SUSPENDED"),
        ({"suspensions": [{"since": instant(-11), "until": instant(-9)}]}, "KEY_SUSPENDED"),
    ],
)
def test_a_runner_refuses_a_job_of_a_dispatcher_that_may_not_sign(entry, code):
    assert job_refusal(signed_job(), key_set(dispatcher=entry)) == code


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"revokedAt": instant(-1)}, "KEY_REVOKED"),
        ({"validFrom": instant(-0.5)}, "KEY_NOT_VALID"),
        ({"validUntil": instant(-2)}, "KEY_NOT_VALID"),
        ({"validUntil": instant(-0.5)}, "KEY_NOT_VALID"),
        ({"suspensions": [{"since": instant(-0.5)}]}, "KEY_SUSPENDED"),
        ({"suspensions": [{"since": instant(-2), "until": instant(-0.5)}]}, "KEY_SUSPENDED"),
        ({"product": "nvidia-h100"}, "OTHER_PRODUCT"),
        ({"name": "h200-c"}, "OTHER_RUNNER"),
    ],
)
def test_the_site_refuses_a_result_of_a_runner_that_may_not_sign_it(entry, code):
    assert result_refusal(exchange(), key_set(runner=entry)) == code


def test_a_revocation_in_the_future_does_not_count_yet():
    pair = exchange()
    assert verify_result(pair.result, pair.job, key_set(runner={"revokedAt": instant(1)}), NOW)


@pytest.mark.parametrize(("key", "code"), [(DISPATCHER, "WRONG_ROLE"), (OTHER_RUNNER, "OTHER_RUNNER")])
def test_the_site_refuses_a_result_that_somebody_else_signed(key, code):
    assert result_refusal(exchange(key)) == code


def test_the_site_refuses_a_result_with_a_job_that_the_runner_signed_itself():
    assert result_refusal(exchange(job=signed_job(RUNNER))) == "WRONG_ROLE"


def test_the_site_refuses_a_result_for_a_job_whose_dispatcher_was_revoked():
    assert result_refusal(exchange(), key_set(dispatcher={"revokedAt": instant(-1)})) == "KEY_REVOKED"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"nonce": "ba" * 32}, "NONCE_MISMATCH"),
        ({"jobId": "rerun-2"}, "OTHER_JOB"),
        ({"jobDigest": "sha256:" + "0" * 64}, "OTHER_JOB"),
        ({"product": "nvidia-h100"}, "OTHER_PRODUCT"),
        ({"environment": environment("NVIDIA H100")}, "OTHER_PRODUCT"),
        ({"environment": environment("unknown")}, "OTHER_PRODUCT"),
        ({"executed": {**EXECUTED, "recipe": {**RECIPE, "version": 2}}}, "OTHER_RECIPE"),
        ({"executed": {**EXECUTED, "harnessVersion": "1.1"}}, "OTHER_RECIPE"),
        ({"log": "x" * 1001}, "TOO_LARGE"),
        ({"acceptedAt": instant(-16)}, "CLOCK"),
        ({"finishedAt": instant(6)}, "CLOCK"),
        ({"finishedAt": instant(61)}, "EXPIRED"),
        ({"correctness": correctness("sha256:" + "0" * 64)}, "SEED_MISMATCH"),
    ],
)
def test_the_site_refuses_a_result_that_does_not_answer_the_job(changes, code):
    assert result_refusal(exchange(**changes)) == code


def test_a_result_of_a_failure_may_lack_its_environment():
    document = result_document(envelope_digest(signed_job()), processes=[])
    del document["environment"], document["correctness"]
    document["failure"] = {"code": "not_rerunnable", "message": "It has no recipe."}
    envelope = sign_result(Result.read(document), RUNNER)
    assert verify_result(envelope, signed_job(), KEYS, NOW).result.failure.code == "not_rerunnable"


def test_the_site_refuses_the_result_of_another_job():
    one = exchange()
    other = exchange(job=signed_job(jobId="rerun-2"), jobId="rerun-2")
    mixed = type(one)(other.job, one.result)
    assert result_refusal(mixed) == "OTHER_JOB"


def test_the_site_refuses_a_late_result_however_early_it_claims_to_be():
    assert result_refusal(exchange(), now=later(61)) == "EXPIRED"


def test_the_site_refuses_a_result_twice():
    pair = exchange()
    assert result_refusal(pair, seen={envelope_digest(pair.result)}) == "REPLAYED"


def test_the_site_refuses_a_job_in_place_of_a_result_and_the_other_way_round():
    pair = exchange()
    assert result_refusal(type(pair)(pair.job, pair.job)) == "WRONG_ROLE"
    assert job_refusal(pair.result) == "WRONG_ROLE"


def test_the_site_refuses_a_statement_about_something_else_than_its_predicate():
    job = signed_job()
    content = statement(PREDICATE_TYPE, {"job": "sha256:" + "9" * 64}, result_document(envelope_digest(job)))
    pair = type(exchange())(job, seal(content, RUNNER, limit=MAX_PAYLOAD_BYTES))
    assert result_refusal(pair) == "MANIFEST_MISMATCH"


def test_a_job_whose_subject_is_another_claim_is_refused():
    content = statement(
        "https://kernelindex.dev/rerun-job/v1",
        dict.fromkeys(("run", "workload", "implementation", "protocol", "environment"), "sha256:" + "9" * 64),
        job_document(),
    )
    assert job_refusal(seal(content, DISPATCHER, limit=MAX_PAYLOAD_BYTES)) == "MANIFEST_MISMATCH"


def test_an_old_result_can_still_be_audited_but_not_published():
    pair = exchange()
    years_later = NOW + timedelta(days=2000)
    keys = key_set(runner={"validUntil": instant(100)}, dispatcher={"validUntil": instant(100)})
    assert audit_result(pair.result, pair.job, keys, years_later).result.job_id == "rerun-1"
    assert result_refusal(pair, keys, years_later) == "KEY_NOT_VALID"


def test_a_key_that_was_revoked_later_no_longer_vouches_for_what_it_signed():
    pair = exchange()
    keys = key_set(runner={"revokedAt": instant(100)})
    with pytest.raises(Refusal) as refusal:
        audit_result(pair.result, pair.job, keys, later(101))
    assert refusal.value.code == "KEY_REVOKED"


@pytest.mark.parametrize("which", ["job", "result"])
def test_a_flipped_bit_anywhere_in_an_envelope_is_refused(which):
    pair = exchange()
    text = json.dumps(getattr(pair, which), separators=(",", ":")).encode()
    accepted = []
    for place in range(len(text)):
        flipped = bytearray(text)
        flipped[place] ^= 1 << place % 8
        try:
            envelope = read_json(bytes(flipped), limit=MAX_PAYLOAD_BYTES)
            if isinstance(envelope, dict):
                sides = {"job": pair.job, "result": pair.result, which: envelope}
                verify_result(sides["result"], sides["job"], KEYS, NOW)
                accepted.append(place)
        except Refusal:
            continue
    assert accepted == []


def test_every_refusal_has_a_sentence():
    assert all(text[0].isupper() and text.endswith(".") for text in REFUSALS.values())
    assert str(Refusal("EXPIRED", "on Monday")) == "The job had expired. on Monday"
