"""Envelopes: one form only, and no bit of it can change."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.reruns.documents.base import read_json
from runs.reruns.documents.envelope import PAYLOAD_TYPE, envelope_digest, open_envelope, seal, statement
from runs.reruns.documents.refusals import Refusal
from tests.reruns.examples import KEYS, RUNNER

TYPE = "https://kernelindex.dev/example/v1"
CONTENT = statement(TYPE, {"it": "sha256:" + "3" * 64}, {"n": 1})


def opened(envelope, limit=10_000):
    return open_envelope(envelope, find=KEYS.find, predicate_type=TYPE, limit=limit)


def code_of(envelope, **options):
    with pytest.raises(Refusal) as refusal:
        opened(envelope, **options)
    return refusal.value.code


def test_it_opens_what_was_sealed():
    envelope = seal(CONTENT, RUNNER, limit=10_000)
    found = opened(envelope)
    assert found.statement == CONTENT
    assert found.digest == envelope_digest(envelope)
    assert found.key.name == "h200-a"


def test_the_signature_is_that_of_the_dsse_pre_authentication_encoding():
    envelope = seal(CONTENT, RUNNER, limit=10_000)
    payload = base64.b64decode(envelope["payload"])
    encoded = b"DSSEv1 28 application/vnd.in-toto+json %d %s" % (len(payload), payload)
    key = RUNNER.signer._private_key.public_key()
    key.verify(base64.b64decode(envelope["signatures"][0]["sig"]), encoded)
    assert envelope["payloadType"] == PAYLOAD_TYPE


def test_every_single_flipped_bit_is_refused():
    text = json.dumps(seal(CONTENT, RUNNER, limit=10_000), separators=(",", ":")).encode()
    accepted = []
    for position in range(len(text) * 8):
        flipped = bytearray(text)
        flipped[position // 8] ^= 1 << position % 8
        try:
            envelope = read_json(bytes(flipped), limit=10_000)
            if isinstance(envelope, dict):
                opened(envelope)
                accepted.append(position)
        except Refusal:
            continue
    assert accepted == []


@given(st.binary(max_size=200))
def test_no_payload_but_the_signed_one_is_accepted(payload):
    envelope = seal(CONTENT, RUNNER, limit=10_000)
    envelope["payload"] = base64.b64encode(payload).decode()
    assert code_of(envelope) == "BAD_SIGNATURE"


def test_the_same_bytes_in_other_base64_are_refused():
    envelope = seal(CONTENT, RUNNER, limit=10_000)
    signature = envelope["signatures"][0]["sig"]
    # 64 bytes leave four unused bits in the last digit: Q becomes R without changing a byte
    assert signature.endswith("==")
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    sibling = signature[:-3] + digits[digits.index(signature[-3]) + 1] + "=="
    assert base64.b64decode(sibling) == base64.b64decode(signature)
    envelope["signatures"][0]["sig"] = sibling
    assert code_of(envelope) == "MALFORMED"


@pytest.mark.parametrize(
    "change",
    [
        lambda envelope: envelope.update(extra=1),
        lambda envelope: envelope.update(payloadType="text/plain"),
        lambda envelope: envelope.update(signatures=[]),
        lambda envelope: envelope.update(signatures=envelope["signatures"] * 2),
        lambda envelope: envelope.update(payload=5),
        lambda envelope: envelope.update(payload=envelope["payload"] + "\n"),
        lambda envelope: envelope.update(payload="é"),
        lambda envelope: envelope.pop("payload"),
        lambda envelope: envelope["signatures"][0].update(cert="x"),
    ],
)
def test_it_refuses_any_other_form(change):
    envelope = seal(CONTENT, RUNNER, limit=10_000)
    change(envelope)
    assert code_of(envelope) == "MALFORMED"


def test_it_refuses_an_unknown_key():
    envelope = seal(CONTENT, RUNNER, limit=10_000)
    envelope["signatures"][0]["keyid"] = "0" * 64
    assert code_of(envelope) == "UNKNOWN_KEY"


def test_it_refuses_the_signature_of_another_key():
    envelope = seal(CONTENT, RUNNER, limit=10_000)
    envelope["signatures"][0]["keyid"] = KEYS.keys[2].keyid
    assert code_of(envelope) == "BAD_SIGNATURE"


def test_it_refuses_what_is_too_large_on_both_sides():
    envelope = seal(CONTENT, RUNNER, limit=10_000)
    size = len(base64.b64decode(envelope["payload"]))
    assert opened(envelope, limit=size).statement == CONTENT
    assert code_of(envelope, limit=size - 1) == "TOO_LARGE"
    assert code_of(envelope, limit=10) == "TOO_LARGE"
    assert code_of({**envelope, "payload": "*" * 100}, limit=10) == "TOO_LARGE"
    with pytest.raises(Refusal, match="at most 10"):
        seal(CONTENT, RUNNER, limit=10)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({**CONTENT, "predicateType": "https://kernelindex.dev/other/v1"}, "WRONG_TYPE"),
        ({**CONTENT, "_type": "https://in-toto.io/Statement/v0.1"}, "WRONG_TYPE"),
        ({"n": 1}, "WRONG_TYPE"),
        ({**CONTENT, "extra": 1}, "WRONG_TYPE"),
    ],
)
def test_it_refuses_a_signed_statement_of_another_type(content, code):
    assert code_of(seal(content, RUNNER, limit=10_000)) == code


@pytest.mark.parametrize(
    "payload",
    [
        b"not json",
        b"[]",
        b"[" * 5_000,
        b'{"a": 1}',
        b'{"a":1,"a":1}',
        b'{"a":NaN}',
        b"\xff",
    ],
)
def test_it_refuses_a_signed_payload_that_is_no_canonical_json_object(payload):
    from securesystemslib.dsse import Envelope

    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(RUNNER.signer)
    assert code_of(envelope.to_dict()) == "MALFORMED"


@pytest.mark.parametrize("text", [b'{"a":1,"a":2}', b'{"a":Infinity}', b"{", b"[" * 100_000])
def test_it_reads_no_ambiguous_json(text):
    with pytest.raises(Refusal) as refusal:
        read_json(text, limit=1_000_000)
    assert refusal.value.code == "MALFORMED"
