"""Seeds of a rerun: nobody can know them before the runner has accepted the job, anybody can derive them afterwards.

A seed is HKDF (RFC 5869, SHA-256) over 32 bytes the runner draws, salted by the site and the job, so that neither the
site nor the runner alone chooses the inputs a kernel is checked on.
"""

import hashlib
import hmac

RUNNER_BYTES = 32
_HASH_BYTES = hashlib.sha256().digest_size


def hkdf_sha256(secret: bytes, *, salt: bytes, info: bytes, length: int) -> bytes:
    """HKDF with SHA-256 (RFC 5869), extract and expand.

    Raises ValueError for a length outside 1 to 255 blocks of 32 bytes.
    """
    if not 1 <= length <= 255 * _HASH_BYTES:
        raise ValueError(f"HKDF-SHA-256 yields 1 to {255 * _HASH_BYTES} bytes, not {length}")
    key = hmac.new(salt or bytes(_HASH_BYTES), secret, hashlib.sha256).digest()
    block = b""
    output = b""
    for counter in range(1, -(-length // _HASH_BYTES) + 1):
        block = hmac.new(key, block + info + bytes([counter]), hashlib.sha256).digest()
        output += block
    return output[:length]


def derive_seed(runner_bytes: bytes, *, site_salt: bytes, job_digest: str, purpose: str) -> bytes:
    """The 32-byte seed for one purpose (``check/0``, ``timing``, …) of one job.

    The salt of the HKDF is the SHA-256 of the site's salt, so that a site may choose one of any length; job and purpose
    are the context, divided by a zero byte that neither can contain. Raises ValueError for runner bytes of another
    length or text with a zero byte.
    """
    if len(runner_bytes) != RUNNER_BYTES:
        raise ValueError(f"the runner draws {RUNNER_BYTES} bytes, not {len(runner_bytes)}")
    if "\0" in job_digest or "\0" in purpose:
        raise ValueError("a job digest and a purpose have no zero byte")
    info = b"kernelindex rerun seed v1\0" + job_digest.encode() + b"\0" + purpose.encode()
    return hkdf_sha256(runner_bytes, salt=hashlib.sha256(site_salt).digest(), info=info, length=32)


def generator_seed(seed: bytes, name: str) -> int:
    """A 63-bit integer for a random generator: one for each tensor, so that the order of drawing does not matter."""
    return int.from_bytes(hashlib.sha256(seed + b"\0" + name.encode()).digest()[:8], "big") >> 1
