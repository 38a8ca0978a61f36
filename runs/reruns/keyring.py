"""The published keys, from the records of those who may sign."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from runs.models import Signer
from runs.reruns.documents.keys import KeySet


def key_set() -> KeySet:
    """The published keys: approved ones with their suspensions, revoked ones marked."""
    keys = []
    for signer in Signer.objects.prefetch_related("decisions").order_by("registered_at", "id"):
        entry = _entry(signer)
        if entry is not None:
            keys.append(entry)
    return KeySet.read({"version": 1, "keys": keys})


def _entry(signer: Signer) -> dict[str, Any] | None:
    decisions = sorted(signer.decisions.all(), key=lambda decision: (decision.at, decision.id))
    approved = next((decision.at for decision in decisions if decision.decision == "approve"), None)
    if approved is None:
        return None
    entry: dict[str, Any] = {
        "keyid": signer.keyid,
        "public": signer.public,
        "role": signer.role,
        "name": signer.name,
        "validFrom": _instant(signer.valid_from or approved),
    }
    if signer.role == "runner":
        entry |= {"operator": signer.operator, "product": signer.product}
    suspensions: list[dict[str, str]] = []
    for decision in decisions:
        if decision.decision == "suspend":
            suspensions.append({"since": _instant(decision.at)})
        elif decision.decision == "resume":
            suspensions[-1]["until"] = _instant(decision.at)
        elif decision.decision == "revoke":
            entry["revokedAt"] = _instant(decision.at)
    return {**entry, "suspensions": suspensions}


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
