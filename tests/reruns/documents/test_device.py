"""A device is known to the site and to nobody else."""

import pytest

from runs.reruns.documents.device import DeviceOpening, device_hmac, draw_opening
from runs.reruns.documents.refusals import Refusal

UUID = "GPU-0c1e7b0a-1111-2222-3333-444455556666"


def test_one_device_is_one_device_whoever_runs_it():
    one, other = draw_opening(UUID), draw_opening(UUID)
    assert one.commitment != other.commitment
    identity = device_hmac(one, one.commitment, site_key=b"site")
    assert identity == device_hmac(other, other.commitment, site_key=b"site")
    assert identity != device_hmac(one, one.commitment, site_key=b"another site")
    another = draw_opening(UUID[:-1] + "7")
    assert identity != device_hmac(another, another.commitment, site_key=b"site")
    assert UUID not in f"{identity} {one.commitment}"


def test_the_commitment_is_a_plain_hash_that_anybody_can_recompute():
    opening = DeviceOpening.read({"uuid": "a", "blinding": "00" * 32})
    assert opening.commitment == "sha256:41a0370c3d9f42773a59e8e01651911cf43b1e3f66944cbb690029debc4eb647"


def test_a_device_must_be_the_one_that_was_signed():
    one, other = draw_opening(UUID), draw_opening(UUID)
    for opening, commitment in ((one, other.commitment), (None, one.commitment), (one, None)):
        with pytest.raises(Refusal):
            device_hmac(opening, commitment, site_key=b"site")


def test_a_result_without_a_device_has_no_identity():
    assert device_hmac(None, None, site_key=b"site") is None
