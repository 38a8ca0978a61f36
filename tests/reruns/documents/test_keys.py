"""Key files and the published key set."""

import stat

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from runs.reruns.documents import keys as module
from runs.reruns.documents.keys import KeySet, load_private_key
from runs.reruns.documents.refusals import Refusal
from tests.reruns.examples import DISPATCHER, DISPATCHER_ENTRY, KEYS, NOW, RUNNER, RUNNER_ENTRY, instant, key_set


def test_a_generated_key_is_for_its_owner_alone_and_loads_again(tmp_path):
    path = tmp_path / "runner.pem"
    key = module.generate_private_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_private_key(path).keyid == key.keyid
    assert load_private_key(path).public == key.public


def test_it_never_overwrites_a_key(tmp_path):
    path = tmp_path / "runner.pem"
    module.generate_private_key(path)
    with pytest.raises(FileExistsError):
        module.generate_private_key(path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_it_refuses_a_key_file_that_others_can_reach(tmp_path, mode):
    path = tmp_path / "runner.pem"
    module.generate_private_key(path)
    path.chmod(mode)
    with pytest.raises(Refusal) as refusal:
        load_private_key(path)
    assert refusal.value.code == "KEY_FILE_EXPOSED"


def test_it_refuses_a_file_that_is_no_ed25519_key(tmp_path):
    path = tmp_path / "key.pem"
    pem = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for content in (pem, b"no key"):
        path.write_bytes(content)
        path.chmod(0o600)
        with pytest.raises(Refusal) as refusal:
            load_private_key(path)
        assert refusal.value.code == "MALFORMED"


def test_a_private_key_shows_nothing_of_itself():
    secret = RUNNER.signer.private_bytes.decode().splitlines()[1]
    assert secret not in f"{RUNNER!r} {RUNNER}"


def test_a_key_set_survives_a_round_trip():
    assert KeySet.read(KEYS.plain()) == KEYS


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        (DISPATCHER, {**DISPATCHER_ENTRY, "operator": "x", "product": "cpu"}),
        (RUNNER, {**DISPATCHER_ENTRY, "role": "runner"}),
        (RUNNER, {**RUNNER_ENTRY, "role": "administrator"}),
        (RUNNER, {**RUNNER_ENTRY, "validFrom": "yesterday"}),
        (RUNNER, {**RUNNER_ENTRY, "private": "x"}),
    ],
)
def test_it_refuses_an_entry_that_makes_no_sense(key, entry):
    with pytest.raises(Refusal):
        key.describe(entry)


def test_it_refuses_a_key_under_the_id_of_another():
    plain = KEYS.plain()
    plain["keys"][0]["keyid"] = plain["keys"][1]["keyid"]
    with pytest.raises(Refusal, match="not that of the public key"):
        KeySet.read(plain)


def test_it_refuses_a_key_that_is_listed_twice():
    plain = KEYS.plain()
    plain["keys"].append(plain["keys"][0])
    with pytest.raises(Refusal, match="listed twice"):
        KeySet.read(plain)


def test_a_key_signs_in_its_own_role_alone():
    with pytest.raises(Refusal) as refusal:
        KEYS.keys[0].require("runner", at=NOW, now=NOW)
    assert refusal.value.code == "WRONG_ROLE"


def test_the_ends_of_validity_are_inclusive_and_those_of_a_suspension_half_open():
    entry = {
        "validFrom": instant(-1),
        "validUntil": instant(30),
        "suspensions": [{"since": instant(10), "until": instant(20)}],
    }
    key = key_set(runner=entry).keys[1]
    outcomes = {}
    for minute in (-2, -1, 9, 10, 19, 20, 30, 31):
        try:
            key.require("runner", at=module.moment(instant(minute)), now=NOW)
            outcomes[minute] = None
        except Refusal as refusal:
            outcomes[minute] = refusal.code
    assert outcomes == {
        -2: "KEY_NOT_VALID",
        -1: None,
        9: None,
        10: "KEY_SUSPENDED",
        19: "KEY_SUSPENDED",
        20: None,
        30: None,
        31: "KEY_NOT_VALID",
    }
