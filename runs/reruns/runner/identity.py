"""Who this runner is: its private key, and what the published keys say of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runs.reruns.documents.keys import KeySet, PrivateKey, PublicKey
from runs.reruns.documents.refusals import Refusal
from runs.reruns.verify import read_keys


@dataclass(frozen=True, slots=True)
class Identity:
    """A runner's key and the file of published keys, which is read anew for each batch: keys come and go."""

    key: PrivateKey
    keys_path: Path

    def keys(self) -> KeySet:
        """The published keys. Raises `Refusal` and OSError."""
        return read_keys(self.keys_path.read_bytes())

    def entry(self, keys: KeySet) -> PublicKey:
        """This runner's own entry: its name, operator and product.

        Raises `Refusal` UNKNOWN_KEY before the key is approved and WRONG_ROLE where it is a dispatcher's.
        """
        entry = keys.find(self.key.keyid)
        if entry.role != "runner" or entry.product is None:
            raise Refusal("WRONG_ROLE", f"{entry.name} is a {entry.role}")
        return entry
