import pytest

from runs.reruns.harness.seeds import derive_seed, generator_seed, hkdf_sha256


def test_it_agrees_with_the_first_vector_of_rfc_5869():
    output = hkdf_sha256(
        bytes.fromhex("0b" * 22),
        salt=bytes.fromhex("000102030405060708090a0b0c"),
        info=bytes.fromhex("f0f1f2f3f4f5f6f7f8f9"),
        length=42,
    )
    assert output.hex() == ("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")


def test_it_agrees_with_the_vector_without_salt_and_info():
    output = hkdf_sha256(bytes.fromhex("0b" * 22), salt=b"", info=b"", length=42)
    assert output.hex() == ("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")


@pytest.mark.parametrize("length", [0, 255 * 32 + 1])
def test_it_refuses_a_length_hkdf_cannot_give(length: int):
    with pytest.raises(ValueError, match="yields"):
        hkdf_sha256(b"x", salt=b"", info=b"", length=length)


def _seed(**changes: object) -> bytes:
    arguments = {"runner_bytes": bytes(32), "site_salt": b"salt", "job_digest": "sha256:ab", "purpose": "check/0"}
    arguments |= changes
    runner_bytes = arguments.pop("runner_bytes")
    return derive_seed(runner_bytes, **arguments)  # type: ignore[arg-type]


def test_a_seed_is_this_value_for_ever():
    assert _seed().hex() == "c858d44ba0d81b03f1dba4856c9c03d843efae63f0da6c0155db14337b62c5dd"


@pytest.mark.parametrize(
    "change",
    [{"runner_bytes": b"\1" * 32}, {"site_salt": b"other"}, {"job_digest": "sha256:ac"}, {"purpose": "check/1"}],
)
def test_every_part_changes_the_seed(change: dict[str, object]):
    assert _seed(**change) != _seed()


def test_digest_and_purpose_do_not_run_together():
    assert _seed(job_digest="a", purpose="bc") != _seed(job_digest="ab", purpose="c")
    with pytest.raises(ValueError, match="zero byte"):
        _seed(purpose="a\0b")


def test_it_refuses_too_few_bytes_of_the_runner():
    with pytest.raises(ValueError, match="32 bytes"):
        _seed(runner_bytes=bytes(31))


def test_each_tensor_has_a_generator_seed_of_its_own():
    assert generator_seed(bytes(32), "x") != generator_seed(bytes(32), "y")
    assert 0 <= generator_seed(bytes(32), "x") < 1 << 63
