"""The run page: everything that it shows of one run, in four statements at most, whatever the size of the database."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.urls import reverse

from runs.manifests.order import in_display_order
from runs.policy.level import EvidenceLevel
from runs.policy.reasons import sentence
from runs.reads import correctness, facts
from runs.reads.floor import run_floor
from runs.reads.links import (
    environment_link,
    hardware_link,
    implementation_link,
    operation_link,
    project_link,
    protocol_link,
)
from runs.reads.neighbours import Neighbours, neighbours
from runs.reads.reruns.of_run import not_rerunnable, reruns_of
from runs.reads.reruns.values import RunRerun
from runs.reads.rows import Row, as_instant, as_json, as_number, as_uuid, fetch, fetch_tuple
from runs.reads.tombstones import removed
from runs.reads.values import ArtifactRow, Event, Fact, Figure, Reason, RunPage, SourceLine

# What a page of a run depends on and what can change: nothing else in the page's statement ever does.
_STATE = """
SELECT r.digest, r.published_at, s.version, s.changed_at, g.version, g.changed_at, e.level, e.since, e.disputed,
    u.id, u.version, u.created_at, u.queued_at, u.started_at, u.finished_at,
    CASE WHEN u.id IS NULL THEN NULL ELSE (SELECT d.at FROM runs_signerdecision d ORDER BY d.id DESC LIMIT 1) END
FROM runs_run r
LEFT JOIN runs_standing s ON s.run_id = r.id
LEFT JOIN runs_comparisongroup g ON g.key = s.group_id
LEFT JOIN runs_evidencelevel e ON e.run_id = r.id
LEFT JOIN runs_rerun u ON u.id = (SELECT l.id FROM runs_rerun l WHERE l.run_id = r.id ORDER BY l.id DESC LIMIT 1)
WHERE r.id = %s
"""

_PAGE = """
SELECT r.digest, r.published_at, s.version AS standing_version, s.changed_at AS standing_changed_at,
    g.version AS group_version, g.changed_at AS group_changed_at, e.level, e.since, e.disputed,
    u.id AS rerun_id, u.version AS rerun_version, u.created_at AS rerun_created_at, u.queued_at AS rerun_queued_at,
    u.started_at AS rerun_started_at, u.finished_at AS rerun_finished_at,
    CASE WHEN u.id IS NULL THEN NULL ELSE (SELECT d.at FROM runs_signerdecision d ORDER BY d.id DESC LIMIT 1) END
    AS key_decided_at,
    (SELECT y.rerun_id FROM runs_rerunrun b JOIN runs_rerunresult y ON y.id = b.result_id WHERE b.run_id = r.id)
    AS published_by,
    r.id, r.canonical, r.metadata, r.status, r.illustrative, r.metric, r.statistic, r.unit, r.value, r.low, r.high,
    r.samples, r.observed_at, r.comparison_key, r.source_native, r.hardware,
    s.rank, s.reasons, g.run_count, g.ranked_count,
    (SELECT count(*) FROM runs_standing t WHERE t.group_id = s.group_id AND t.rank = s.rank) AS sharing,
    o.slug AS operation_slug, o.name AS operation_name, o.canonical AS operation_canonical,
    w.canonical AS workload_canonical, w.summary AS workload_summary,
    i.slug AS implementation_slug, i.title AS implementation_title, i.canonical AS implementation_canonical,
    i.revision,
    p.slug AS project_slug, p.name AS project_name,
    c.digest AS protocol_digest, c.title AS protocol_title,
    c.canonical AS protocol_canonical, c.metadata AS protocol_metadata,
    v.digest AS environment_digest, v.title AS environment_title,
    v.canonical AS environment_canonical, v.metadata AS environment_metadata,
    q.slug AS source_slug, q.name AS source_name, q.url AS source_url, q.license AS source_license,
    q.attribution AS source_attribution,
    n.name AS snapshot_name, n.version AS snapshot_version, n.digest AS snapshot_digest,
    x.reason AS retraction_reason, x.actor AS retraction_actor, x.at AS retraction_at,
    z.reason AS supersession_reason, z.actor AS supersession_actor, z.at AS supersession_at, z.successor_id,
    f.reason AS floor_reason, f.actor AS floor_actor, f.at AS floor_at
FROM runs_run r
JOIN runs_operation o ON o.id = r.operation_id
JOIN runs_workload w ON w.id = r.workload_id
JOIN runs_implementation i ON i.id = r.implementation_id
LEFT JOIN runs_project p ON p.id = i.project_id
JOIN runs_protocol c ON c.id = r.protocol_id
JOIN runs_environment v ON v.id = r.environment_id
JOIN runs_source q ON q.id = r.source_id
LEFT JOIN runs_sourcesnapshot n ON n.id = r.snapshot_id
LEFT JOIN runs_standing s ON s.run_id = r.id
LEFT JOIN runs_comparisongroup g ON g.key = s.group_id
LEFT JOIN runs_evidencelevel e ON e.run_id = r.id
LEFT JOIN runs_rerun u ON u.id = (SELECT l.id FROM runs_rerun l WHERE l.run_id = r.id ORDER BY l.id DESC LIMIT 1)
LEFT JOIN runs_retraction x ON x.run_id = r.id
LEFT JOIN runs_supersession z ON z.run_id = r.id
LEFT JOIN runs_floorconfirmation f ON f.run_id = r.id
WHERE r.id = %s
"""

_STATE_NAMES = (
    "digest",
    "published_at",
    "standing_version",
    "standing_changed_at",
    "group_version",
    "group_changed_at",
    "level",
    "since",
    "disputed",
    "rerun_id",
    "rerun_version",
    "rerun_created_at",
    "rerun_queued_at",
    "rerun_started_at",
    "rerun_finished_at",
    "key_decided_at",
)
_CHANGES = (1, 3, 5, 7, 11, 12, 13, 14, 15)  # where a state holds times

State = tuple[Any, ...]


def run_state(run_id: UUID) -> State | None:
    """What a page of this run depends on, as the driver gives it: equal states mean equal pages. One statement."""
    return fetch_tuple(_STATE, [run_id])


def changed_at(state: State) -> float:
    """When the page of a state last changed, in seconds since 1970."""
    return max(as_instant(state[place]).timestamp() for place in _CHANGES if state[place] is not None)


def run_page(run_id: UUID) -> tuple[RunPage, State] | None:
    """The page of a run with the state that it was read in, or None where there is no such run.

    Page and state come from one statement, so they belong together whatever is published meanwhile. Only the newest
    rerun of a run can change, so it stands for all of them in the state.
    """
    found = fetch(_PAGE, [run_id])
    if not found:
        return None
    row = found[0]
    if not row["canonical"]:
        raise removed(run_id)
    artifacts = fetch("SELECT role, uri, digest FROM runs_artifact WHERE run_id = %s ORDER BY role", [run_id])
    reruns = reruns_of(run_id) if row["rerun_id"] else ()
    alone = row["ranked_count"] == (1 if row["rank"] else 0)
    beside = Neighbours() if alone else neighbours(row["comparison_key"], run_id, row["rank"], row["metric"])
    return _page(row, artifacts, reruns, beside), tuple(row[name] for name in _STATE_NAMES)


def canonical_manifest(run_id: UUID) -> tuple[str, str, datetime] | None:
    """Digest and canonical JSON of a run, exactly as digested, and when it was published."""
    found = fetch_tuple("SELECT digest, canonical, published_at FROM runs_run WHERE id = %s", [run_id])
    if found and not found[1]:
        raise removed(run_id)
    return (found[0], found[1], as_instant(found[2])) if found else None


def _envelope(manifest: dict[str, Any], metadata: Any) -> Any:
    """A manifest as it is shown: with its editorial part, members in display order."""
    return in_display_order({**manifest, "metadata": as_json(metadata)})


def _primary(row: Row) -> Figure | None:
    if row["value"] is None:
        return None
    return Figure(row["metric"], row["statistic"], row["unit"], as_number(row["value"]), row["samples"])


def events_of(row: Row) -> tuple[Event, ...]:
    events = [
        Event(kind, row[f"{name}_reason"], row[f"{name}_actor"], as_instant(row[f"{name}_at"]), successor)
        for kind, name, successor in (
            ("retracted", "retraction", None),
            ("superseded", "supersession", as_uuid(row["successor_id"]) if row["successor_id"] else None),
            ("below_floor", "floor", None),
        )
        if row[f"{name}_at"] is not None
    ]
    return tuple(sorted(events, key=lambda event: event.at))


def _snapshot(row: Row) -> Fact | None:
    if row["snapshot_digest"] is None:
        return None
    return Fact(f"{row['snapshot_name']} {row['snapshot_version']}".strip(), row["snapshot_digest"])


def _page(row: Row, artifacts: list[Row], reruns: tuple[RunRerun, ...], beside: Neighbours) -> RunPage:
    run, operation, workload, implementation, protocol, environment = (
        orjson.loads(row[name])
        for name in (
            "canonical",
            "operation_canonical",
            "workload_canonical",
            "implementation_canonical",
            "protocol_canonical",
            "environment_canonical",
        )
    )
    spec, case, native = run["spec"], workload["spec"], run["spec"].get("sourceNative", {})
    primary = _primary(row)
    figures = facts.measured(spec, primary)
    run_id = as_uuid(row["id"])
    shown = in_display_order(native.get("metrics", {}))
    return RunPage(
        id=run_id,
        digest=row["digest"],
        title=f"{row['implementation_title']} · {row['operation_name']} · {row['workload_summary']}",
        status=row["status"],
        level=row["level"] or EvidenceLevel.REPORTED.slug,
        disputed=bool(row["disputed"]),
        illustrative=bool(row["illustrative"]),
        events=events_of(row),
        primary=primary,
        spread=tuple(
            other for other in figures[1:] if primary and (other.metric, other.unit) == (primary.metric, primary.unit)
        ),
        interval=None if row["low"] is None else (as_number(row["low"]), as_number(row["high"])),
        rank=row["rank"],
        tied=(row["sharing"] or 1) - 1 if row["rank"] else 0,
        ranked=row["ranked_count"] or 0,
        group_runs=row["run_count"] or 0,
        neighbours=beside,
        reasons=tuple(Reason(code, sentence(code)) for code in as_json(row["reasons"] or "[]")),
        source_native=bool(row["source_native"]),
        observed_at=as_instant(row["observed_at"]),
        observed=spec["observedAt"],
        native_metrics=tuple(shown.items()),
        floor=run_floor(operation["spec"], case, protocol["spec"], environment["spec"], primary),
        implementation=implementation_link(row["implementation_slug"], row["implementation_title"]),
        implementation_detail=facts.implementation(implementation["spec"]),
        project=project_link(row["project_slug"], row["project_name"]) if row["project_slug"] else None,
        revision=row["revision"] or None,
        operation=operation_link(row["operation_slug"], row["operation_name"]),
        workload=row["workload_summary"],
        comparison_key=row["comparison_key"],
        protocol_link=protocol_link(row["protocol_digest"], row["protocol_title"]),
        environment_link=environment_link(row["environment_digest"], row["environment_title"]),
        source=SourceLine(
            row["source_slug"], row["source_name"], row["source_url"], row["source_license"], row["source_attribution"]
        ),
        external_id=native.get("externalId"),
        correctness=correctness.facts(spec, case),
        correctness_note=correctness.note(spec, case),
        axes=facts.axes(case),
        tensors=facts.tensors(case),
        scalars=facts.scalars(case),
        comparator=case["correctness"]["comparator"],
        cases=facts.cases(case),
        measurements=figures,
        protocol=facts.protocol(protocol["spec"]),
        environment=facts.environment(environment["spec"]),
        artifacts=tuple(ArtifactRow(item["role"], item["uri"], item["digest"]) for item in artifacts),
        reruns=reruns,
        not_rerunnable=not_rerunnable(row["operation_slug"], spec, as_json(row["metadata"]), environment["spec"]),
        published_by=as_uuid(row["published_by"]) if row["published_by"] else None,
        manifest={
            "run": _envelope(run, row["metadata"]),
            "protocol": _envelope(protocol, row["protocol_metadata"]),
            "environment": _envelope(environment, row["environment_metadata"]),
        },
        published_at=as_instant(row["published_at"]),
        snapshot=_snapshot(row),
        permalink=settings.BASE_URL + reverse("run", args=[run_id]),
        hardware=hardware_link(row["hardware"], facts.product(environment["spec"]["hardware"])),
    )
