"""What was removed by law: the digest, when, and on which ground."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from runs.reads.rows import as_instant, fetch_tuple


class Removed(Exception):
    """The content of a run was removed."""

    def __init__(self, digest: str, reason: str, at: datetime) -> None:
        self.digest = digest
        self.reason = reason
        self.at = at
        super().__init__(digest)


def removed(run_id: UUID) -> Removed:
    """The tombstone of a run that has one."""
    found = fetch_tuple("SELECT digest, reason, at FROM runs_redaction WHERE run_id = %s", [run_id])
    assert found is not None
    return Removed(found[0], found[1], as_instant(found[2]))
