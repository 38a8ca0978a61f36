"""The device's identity: committed to in the signed result, opened to the site alone.

A result is published, a GPU's UUID is not. The runner signs SHA-256(blinding ‖ UUID) and hands blinding and UUID to the
site beside the envelope; the site checks them against the signature and keeps an HMAC of the UUID under its own key.
"""

import hashlib
import hmac
import secrets
from typing import Annotated

from pydantic import Field

from runs.reruns.documents.base import Document, Hex32
from runs.reruns.documents.refusals import Refusal


class DeviceOpening(Document):
    """What the site alone learns beside a result."""

    uuid: Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{1,100}$")]
    """The device's UUID, as the driver spells it."""
    blinding: Hex32
    """Drawn for one result, so that two results of one device cannot be linked."""

    @property
    def commitment(self) -> str:
        """The digest that the signed result holds."""
        return "sha256:" + hashlib.sha256(bytes.fromhex(self.blinding) + self.uuid.encode()).hexdigest()


def draw_opening(uuid: str) -> DeviceOpening:
    """An opening of a device with a fresh blinding."""
    return DeviceOpening.read({"uuid": uuid, "blinding": secrets.token_hex(32)})


def device_hmac(opening: DeviceOpening | None, commitment: str | None, *, site_key: bytes) -> str | None:
    """The identity under which the site knows the device (64 hex digits); None where the result commits to none.

    Raises `Refusal` MALFORMED where opening and commitment do not belong together.
    """
    if opening is None and commitment is None:
        return None
    if opening is None or commitment is None or not hmac.compare_digest(opening.commitment, commitment):
        raise Refusal("MALFORMED", "the device is not the one that the result commits to")
    return hmac.new(site_key, b"kernelindex device v1\0" + opening.uuid.encode(), hashlib.sha256).hexdigest()
