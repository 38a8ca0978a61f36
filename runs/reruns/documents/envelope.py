"""DSSE envelopes around in-toto statements, one Ed25519 signature each.

An envelope has exactly one form: canonical base64, canonical JSON inside, no unknown field. Otherwise the same signed
statement could come back in other bytes and pass for a new one.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError

from runs.manifests.canonical import canonical_json
from runs.manifests.errors import ManifestError
from runs.manifests.fields import Items
from runs.reruns.documents.base import Document, Hex32
from runs.reruns.documents.keys import PrivateKey, PublicKey
from runs.reruns.documents.refusals import Refusal

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"


class Signature(Document):
    """One signature."""

    keyid: Hex32
    """The key that signed."""
    sig: Annotated[str, Field(min_length=88, max_length=88)]
    """64 bytes in base64."""


class Sealed(Document):
    """The form of an envelope."""

    payload: str
    """The statement in base64."""
    payload_type: Literal["application/vnd.in-toto+json"]
    """The type of the payload."""
    signatures: Annotated[Items[Signature], Field(min_length=1, max_length=1)]
    """The one signature."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A statement whose signature was verified."""

    statement: Mapping[str, Any]
    digest: str
    """`sha256:…` of the payload's bytes: the identity of the document."""
    key: PublicKey


def statement(predicate_type: str, subjects: Mapping[str, str], predicate: Mapping[str, Any]) -> dict[str, Any]:
    """An in-toto statement. `subjects` gives a "sha256:…" digest for each name."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": name, "digest": {"sha256": digest.removeprefix("sha256:")}} for name, digest in subjects.items()
        ],
        "predicateType": predicate_type,
        "predicate": dict(predicate),
    }


def seal(content: Mapping[str, Any], key: PrivateKey, *, limit: int) -> dict[str, Any]:
    """Sign a statement. Raises `Refusal` TOO_LARGE beyond `limit` bytes of payload."""
    payload = canonical_json(dict(content))
    if len(payload) > limit:
        raise Refusal("TOO_LARGE", f"{len(payload):,} bytes, at most {limit:,}")
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(key.signer)
    sealed: dict[str, Any] = envelope.to_dict()
    return sealed


def open_envelope(
    envelope: Mapping[str, Any], *, find: Callable[[str], PublicKey], predicate_type: str, limit: int
) -> Opened:
    """Verify an envelope and read its statement; nothing inside is looked at before its signature holds.

    `find` gives the key of an id or raises `Refusal`. Raises `Refusal` MALFORMED, TOO_LARGE, BAD_SIGNATURE, WRONG_TYPE.
    """
    payload, sealed = _payload(envelope, limit)
    signature = sealed.signatures[0]
    key = find(signature.keyid)
    try:
        Envelope.from_dict(sealed.plain()).verify([key.verifier()], 1)
    except VerificationError as error:
        raise Refusal("BAD_SIGNATURE", f"key of {key.name}") from error
    return Opened(_statement(payload, predicate_type), payload_digest(payload), key)


def payload_digest(payload: bytes) -> str:
    """`sha256:…` of a payload: what a job or a result is known by."""
    return "sha256:" + hashlib.sha256(payload).hexdigest()


def envelope_digest(envelope: Mapping[str, Any]) -> str:
    """The payload digest of an envelope, verified or not. Raises `Refusal` MALFORMED."""
    return payload_digest(_decode(Sealed.read(envelope).payload))


def _payload(envelope: Mapping[str, Any], limit: int) -> tuple[bytes, Sealed]:
    raw = envelope.get("payload")
    if isinstance(raw, str) and len(raw) > 4 * (limit // 3 + 1):
        raise Refusal("TOO_LARGE", f"at most {limit:,} bytes")
    sealed = Sealed.read(envelope)
    _decode(sealed.signatures[0].sig)
    payload = _decode(sealed.payload)
    if len(payload) > limit:
        raise Refusal("TOO_LARGE", f"at most {limit:,} bytes")
    return payload, sealed


def _decode(text: str) -> bytes:
    """Base64 in the one spelling that encoding gives; the last digit has unused bits that decoders ignore."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refusal("MALFORMED", "it is no base64") from error
    if base64.b64encode(data).decode() != text:
        raise Refusal("MALFORMED", "the base64 is not in its canonical spelling")
    return data


def _statement(payload: bytes, predicate_type: str) -> Mapping[str, Any]:
    try:
        content = json.loads(payload)
        canonical = canonical_json(content) == payload
    except (ValueError, RecursionError, ManifestError) as error:
        raise Refusal("MALFORMED", "the payload is no JSON") from error
    if not canonical or not isinstance(content, dict):
        raise Refusal("MALFORMED", "the payload is no canonical JSON object")
    if set(content) != {"_type", "subject", "predicateType", "predicate"}:
        raise Refusal("WRONG_TYPE", "it is no in-toto statement")
    if content["_type"] != STATEMENT_TYPE or content["predicateType"] != predicate_type:
        raise Refusal("WRONG_TYPE", f"{str(content['predicateType'])[:100]}, not {predicate_type}")
    return content


def claimed_subject(envelope: Mapping[str, Any], name: str) -> str:
    """The digest that an unverified envelope gives for a subject, to look up what it speaks about.

    Raises `Refusal` MALFORMED. Believe nothing else of the envelope before `open_envelope`.
    """
    try:
        content = json.loads(_decode(Sealed.read(envelope).payload))
        digests = [subject["digest"]["sha256"] for subject in content["subject"] if subject["name"] == name]
        return f"sha256:{digests[0]}"
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise Refusal("MALFORMED", f"it names no {name}") from error
