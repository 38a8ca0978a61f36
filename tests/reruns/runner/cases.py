"""Jobs that are valid now, the keys that go with them, and a host with the fake harness."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from runs.reruns.documents.keys import KeySet, PrivateKey
from runs.reruns.files import write_private
from runs.reruns.harness.batch import HARNESS_VERSION
from runs.reruns.runner.identity import Identity
from runs.reruns.runner.spool import Spool
from runs.reruns.runner.work import Host
from tests.reruns import examples


def instant(minutes: float) -> str:
    moment = datetime.now(UTC) + timedelta(minutes=minutes)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def job(name: str, **changes: Any) -> dict[str, Any]:
    """A signed job that this harness may execute now."""
    times = {"issuedAt": instant(-1), "expiresAt": instant(60)}
    return examples.signed_job(**{"jobId": name, "harnessVersion": HARNESS_VERSION, **times, **changes})


def jobs(count: int, **changes: Any) -> list[dict[str, Any]]:
    return [job(f"job-{number}", **changes) for number in range(count)]


def keys(runner: dict[str, Any] | None = None) -> KeySet:
    return examples.key_set(runner=runner)


def write_key(path: Path, key: PrivateKey) -> Path:
    """A private key file."""
    path.touch(mode=0o600)
    path.write_bytes(key.signer.private_bytes)
    return path


def write_keys(path: Path, key_set: KeySet) -> Path:
    write_private(path, key_set.plain())
    return path


def host(folder: Path, **changes: Any) -> Host:
    """A host of the example runner, with its spool and its KEYS in a folder."""
    if not (folder / "KEYS.json").exists():
        write_keys(folder / "KEYS.json", keys())
    identity = Identity(examples.RUNNER, folder / "KEYS.json")
    return Host(identity, Spool(folder / "spool"), **{"device": "cuda:0", **changes})


def predicate(envelope: dict[str, Any]) -> dict[str, Any]:
    """What an envelope says."""
    import base64

    content: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))["predicate"]
    return content
