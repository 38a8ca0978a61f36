"""Keys: private key files of dispatcher and runners, and the published set of public keys (KEYS).

A key's id is derived from the public key itself, so that no list can give one key another's id.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import Field, model_validator
from securesystemslib.signer import CryptoSigner, SSlibKey  # type: ignore[attr-defined]  # public, but without __all__

from runs.manifests.fields import Instant, Items, Maybe, Name, Slug
from runs.reruns.documents.base import Document, Hex32, Phrase, moment
from runs.reruns.documents.refusals import Refusal

Role = Literal["dispatcher", "runner"]
MAX_KEYS = 10_000


class Suspension(Document):
    """A time in which nothing that the key signs is accepted; open-ended while it lasts."""

    since: Instant
    """When it began."""
    until: Maybe[Instant] = None
    """When it ended."""


class PublicKey(Document):
    """One published key."""

    keyid: Hex32
    """Derived from the public key."""
    public: Hex32
    """The Ed25519 public key."""
    role: Role
    """What it may sign: a dispatcher jobs, a runner results."""
    name: Name
    """Whose it is."""
    operator: Maybe[Phrase] = None
    """Who answers for the runner; runners alone have one."""
    product: Maybe[Slug] = None
    """The hardware product that the runner may speak about; runners alone have one."""
    valid_from: Instant
    """The first moment at which it may sign."""
    valid_until: Maybe[Instant] = None
    """The last moment at which it may sign, where that is known."""
    revoked_at: Maybe[Instant] = None
    """When it was revoked: from then on nothing that it ever signed is accepted."""
    suspensions: Annotated[Items[Suspension], Field(max_length=1000)] = ()
    """Times in which it was not trusted."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.keyid != key_id(self.public):
            raise ValueError("the keyid is not that of the public key")
        if (self.role == "runner") != (self.operator is not None and self.product is not None):
            raise ValueError("runners alone, and all of them, have an operator and a product")
        return self

    def require(self, role: Role, *, at: datetime, now: datetime) -> None:
        """Refuse unless the key has the role, could sign at the moment `at` and is not revoked by `now`.

        Raises `Refusal` WRONG_ROLE, KEY_REVOKED, KEY_NOT_VALID or KEY_SUSPENDED.
        """
        if self.role != role:
            raise Refusal("WRONG_ROLE", f"{self.name} is a {self.role}")
        # A revoked key may have signed with any date in it, so that no date in a document saves it.
        if self.revoked_at is not None and moment(self.revoked_at) <= now:
            raise Refusal("KEY_REVOKED", f"{self.name}, on {self.revoked_at}")
        if at < moment(self.valid_from) or (self.valid_until is not None and moment(self.valid_until) < at):
            raise Refusal("KEY_NOT_VALID", self.name)
        for pause in self.suspensions:
            if moment(pause.since) <= at and (pause.until is None or at < moment(pause.until)):
                raise Refusal("KEY_SUSPENDED", f"{self.name}, since {pause.since}")

    def verifier(self) -> SSlibKey:
        """The key as the signature library has it."""
        return _library_key(self.public)


class KeySet(Document):
    """The published keys, as one JSON document."""

    version: Literal[1]
    """The form of this document."""
    keys: Annotated[Items[PublicKey], Field(max_length=MAX_KEYS)]
    """All keys that ever were, revoked ones included."""

    @model_validator(mode="after")
    def _has_each_key_once(self) -> Self:
        if len({key.keyid for key in self.keys}) != len(self.keys):
            raise ValueError("a key is listed twice")
        return self

    def find(self, keyid: str) -> PublicKey:
        """The key with an id. Raises `Refusal` UNKNOWN_KEY."""
        for key in self.keys:
            if key.keyid == keyid:
                return key
        raise Refusal("UNKNOWN_KEY", keyid)


@dataclass(frozen=True, slots=True, repr=False)
class PrivateKey:
    """A key that signs. It has no representation that could end up in a log."""

    signer: CryptoSigner

    @property
    def public(self) -> str:
        """The public key as hex digits."""
        value: str = self.signer.public_key.keyval["public"]
        return value

    @property
    def keyid(self) -> str:
        """The id of the key."""
        return key_id(self.public)

    def describe(self, entry: Mapping[str, Any]) -> PublicKey:
        """The key's entry in KEYS, given the other fields of `PublicKey` by their JSON names."""
        return PublicKey.read({**entry, "keyid": self.keyid, "public": self.public})


def key_id(public: str) -> str:
    """The id of an Ed25519 public key given as hex digits."""
    return _library_key(public).keyid


def _library_key(public: str) -> SSlibKey:
    return SSlibKey.from_crypto(Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)))


def generate_private_key(path: Path) -> PrivateKey:
    """Draw a key and write it to a new file that its owner alone can read (PKCS #8, PEM).

    Raises FileExistsError rather than overwrite one.
    """
    signer = CryptoSigner.generate_ed25519()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(signer.private_bytes)
    return PrivateKey(signer)


def load_private_key(path: Path) -> PrivateKey:
    """Read a private key file.

    Raises `Refusal` KEY_FILE_EXPOSED where anybody but its owner can read or write it, MALFORMED where it is no Ed25519
    key, and OSError where it cannot be read.
    """
    with path.open("rb") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise Refusal("KEY_FILE_EXPOSED", str(path))
        data = file.read(64 * 1024)
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError) as error:
        raise Refusal("MALFORMED", f"{path} is no private key") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise Refusal("MALFORMED", f"{path} is no Ed25519 key")
    return PrivateKey(CryptoSigner(key))
