"""The audit trail: adding to it, and checking that nobody has changed it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from attestations.accounts.models import User
from attestations.locks import wait_for
from attestations.models import AuditEntry
from attestations.models.audit import Subject
from runs.manifests.canonical import canonical_json

FIRST: Final = "0" * 64


def record(
    actor: User | None,
    action: str,
    subject: Subject,
    subject_id: object,
    *,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    reason: str,
    run: UUID | None = None,
) -> AuditEntry:
    """Add an entry, in the transaction of what it tells of, and as the last thing there: entries take turns."""
    wait_for("attestations.audit")
    last = AuditEntry.objects.order_by("-sequence").first()
    entry = AuditEntry(
        sequence=last.sequence + 1 if last else 1,
        at=timezone.now(),
        actor=actor,
        action=action,
        subject=subject,
        subject_id=str(subject_id),
        run_id=run,
        before=dict(before),
        after=dict(after),
        reason=reason,
        previous=last.hash if last else FIRST,
    )
    entry.hash = digest(entry)
    entry.save(force_insert=True)
    return entry


def digest(entry: AuditEntry) -> str:
    """SHA-256 over the RFC 8785 JSON of everything that the entry says, 64 hexadecimal digits."""
    said = {
        "sequence": entry.sequence,
        "at": _instant(entry.at),
        "actor": entry.actor_id,
        "action": entry.action,
        "subject": str(entry.subject),
        "subjectId": entry.subject_id,
        "run": str(entry.run_id) if entry.run_id else None,
        "before": entry.before,
        "after": entry.after,
        "reason": entry.reason,
        "previous": entry.previous,
    }
    return sha256(canonical_json(said)).hexdigest()


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def faults() -> Iterator[str]:
    """A line for each entry that is not what it was when it was added, or does not follow the one before it."""
    previous, expected = FIRST, 1
    for entry in AuditEntry.objects.order_by("sequence").iterator(chunk_size=500):
        if entry.sequence != expected:
            yield f"entry {expected} is missing: entry {entry.sequence} follows entry {expected - 1}"
        if entry.previous != previous:
            yield f"entry {entry.sequence} does not follow the entry before it"
        if digest(entry) != entry.hash:
            yield f"entry {entry.sequence} was changed: its content does not have its hash"
        previous, expected = entry.hash, entry.sequence + 1


def head() -> tuple[int, str]:
    """Number and hash of the last entry. Whoever keeps them elsewhere notices when the end is cut off."""
    last = AuditEntry.objects.order_by("-sequence").first()
    return (last.sequence, last.hash) if last else (0, FIRST)
