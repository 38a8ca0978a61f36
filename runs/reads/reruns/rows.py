"""Reruns as rows: one statement joins a rerun with its claim, its result and its runner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django.urls import reverse

from runs.reads.links import operation_link
from runs.reads.reruns.values import Finding, Ratio, RerunRow
from runs.reads.reruns.words import KEY_STATES, failure_reason, verdict_reason, verdict_word
from runs.reads.rows import Row, as_instant, as_json, as_uuid, fetch
from runs.reads.values import Link

COLUMNS: Final = """
    u.id, u.run_id, u.product, u.state, u.version, u.code, u.detail, u.created_at, u.queued_at, u.started_at,
    u.finished_at, u.expires_at, r.value AS run_value, r.unit AS run_unit, i.title AS implementation,
    o.slug AS operation_slug, o.name AS operation_name, w.summary AS workload, c.title AS protocol,
    x.verdict, x.decision, x.claim, x.event, x.device_time, x.launch_bound, x.hardware_equal, x.digest AS result_digest,
    x.finished_at AS measured_at, x.published_at, n.name AS runner_name, n.operator AS runner_operator,
    (SELECT d.decision FROM runs_signerdecision d WHERE d.signer_id = n.id ORDER BY d.at DESC, d.id DESC LIMIT 1)
    AS runner_decision
"""
JOINS: Final = """
FROM runs_rerun u
JOIN runs_run r ON r.id = u.run_id
JOIN runs_implementation i ON i.id = r.implementation_id
JOIN runs_operation o ON o.id = r.operation_id
JOIN runs_workload w ON w.id = r.workload_id
JOIN runs_protocol c ON c.id = r.protocol_id
LEFT JOIN runs_rerunresult x ON x.rerun_id = u.id
LEFT JOIN runs_signer n ON n.id = COALESCE(x.runner_id, u.runner_id)
"""
_ROWS: Final = f"SELECT {COLUMNS} {JOINS}"


def rerun_rows(condition: str, params: Sequence[Any], *, order: str = "u.id DESC", limit: int) -> tuple[RerunRow, ...]:
    """At most `limit` reruns `u` under a condition of this package's own making; none of a claim that was removed."""
    found = fetch(f"{_ROWS} WHERE r.canonical <> '' AND {condition} ORDER BY {order} LIMIT {limit:d}", params)
    return tuple(rerun_row(row) for row in found)


def rerun_url(rerun: UUID) -> str:
    """The page of a rerun."""
    return reverse("rerun", args=[rerun])


def runner_link(name: str) -> Link:
    """A runner with its page."""
    return Link(name, name, reverse("runner", args=[name]))


def rerun_row(row: Row) -> RerunRow:
    """A row of the statement above as a value."""
    finding = _finding(row) if row["verdict"] else None
    return RerunRow(
        id=as_uuid(row["id"]),
        run=as_uuid(row["run_id"]),
        implementation=row["implementation"],
        operation=operation_link(row["operation_slug"], row["operation_name"]),
        workload=row["workload"],
        protocol=row["protocol"],
        claim_ns=finding.claim_ns if finding else row["run_value"] if row["run_unit"] == "ns" else None,
        product=row["product"],
        state=row["state"],
        version=row["version"],
        runner=runner_link(row["runner_name"]) if row["runner_name"] else None,
        runner_state=KEY_STATES[row["runner_decision"] or "register"] if row["runner_name"] else None,
        operator=row["runner_operator"] or None,
        finding=finding,
        failure=failure_reason(row["code"]) if row["code"] else None,
        failure_detail=row["detail"],
        created_at=as_instant(row["created_at"]),
        queued_at=_maybe(row["queued_at"]),
        started_at=_maybe(row["started_at"]),
        finished_at=_maybe(row["finished_at"]),
        expires_at=_maybe(row["expires_at"]),
    )


def _maybe(value: Any) -> Any:
    return None if value is None else as_instant(value)


def _finding(row: Row) -> Finding:
    decision = as_json(row["decision"])
    event, device = row["event"], row["device_time"]
    return Finding(
        verdict=row["verdict"],
        verdict_word=verdict_word(row["verdict"]),
        reasons=tuple(verdict_reason(code) for code in decision["reasons"]),
        rules=decision["version"],
        processes=decision["processes"],
        claim_ns=row["claim"],
        event_ns=event,
        event=_ratio(decision.get("event")),
        device_ns=device,
        device=_ratio(decision.get("device")),
        device_share=device / event if event and device is not None else None,
        launch_bound=None if row["launch_bound"] is None else bool(row["launch_bound"]),
        hardware_equal=bool(row["hardware_equal"]),
        measured_at=as_instant(row["measured_at"]),
        published_at=as_instant(row["published_at"]),
        digest=row["result_digest"],
    )


def _ratio(interval: Any) -> Ratio | None:
    return None if interval is None else Ratio(interval["estimate"], interval["low"], interval["high"])
