"""What an export says beside the manifests: held against what follows from them, and its withdrawals honoured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import F

from runs.exchange import known
from runs.models import Run, ServingRun
from runs.publication import retract, supersede
from runs.refusals import PublicationRefused
from runs.serving_records import withdraw_serving
from runs.sources.catalog import build
from runs.sources.catalog.report import Report
from runs.sources.catalog.spool import Spool, Spooled
from runs.sources.catalog.tables import is_id

_COLUMNS: Final = {
    "comparisonKey": "comparison_key",
    "correctnessKey": "standing__group__correctness_key",
    "protocolKey": "protocol__digest",
    "environmentKey": "environment__digest",
    "status": "status",
    "primaryMetric": "metric",
    "primaryStatistic": "statistic",
    "primaryUnit": "unit",
    "primaryValue": "value",
    "sampleCount": "samples",
    "uncertaintyLow": "low",
    "uncertaintyHigh": "high",
    "observedAt": "observed_at",
}
CORRECTED: Final = "The source published a corrected record."
_SAID_BEFORE: Final = {"ALREADY_RETRACTED", "ALREADY_SUPERSEDED"}


def check_runs(landed: Mapping[UUID, Spooled], report: Report) -> None:
    """Report every column of these runs that is not what follows from the manifest, by our own derivation."""
    rows = Run.objects.filter(id__in=list(landed)).exclude(canonical="")
    others = rows.exclude(implementation__operation=F("operation")).count()
    if others:
        report.notices["of an implementation of another operation"] += others
    for id_, *values in rows.values_list("id", *_COLUMNS.values()):
        item = landed[id_]
        derived = dict(zip(_COLUMNS, values, strict=True))
        derived["primaryMetric"] = derived["primaryMetric"] or "none"
        for column, says in build.statements(item.row).items():
            found = derived[column]
            if (None if found == "" else found) != says:
                report.differ("benchmark_runs", item.id, column, _plain(says), _plain(found))


def honour(spool: Spool, report: Report, sources: Mapping[str, str]) -> None:
    """Retract and supersede the runs that their sources did; `sources` are names by id, and speak as actors."""
    for table, model in (("benchmark_runs", Run), ("serving_runs", ServingRun)):
        for item in spool.notices(table):
            _honour(table, model, item, sources.get(str(item.row.get("sourceId")), ""), report)


def _honour(table: str, model: type[Run] | type[ServingRun], item: Spooled, actor: str, report: Report) -> None:
    former_id = item.row.get("supersedesId")
    here = known(table, [UUID(id_) for id_ in (item.id, former_id) if is_id(id_)])
    digests = dict(model._default_manager.filter(id__in=here.values()).values_list("id", "digest"))
    named = {str(external): digests[id_] for external, id_ in here.items() if id_ in digests}
    own = named.get(item.id)
    if own is None:
        return  # it was refused, and the report says why
    if former_id and former_id in named:
        _say(report, "superseded", lambda: _supersede(model, named[former_id], own, actor))
    elif former_id:
        report.differ(table, item.id, "supersedesId", former_id, None)
    if item.row.get("retractedAt"):
        _say(report, "retracted", lambda: _retract(model, own, item.row, actor))


def _say(report: Report, what: str, write: Callable[[], object]) -> None:
    try:
        write()
    except PublicationRefused as refused:
        codes = {refusal.code for refusal in refused.refusals}
        report.notices[f"{what} before" if codes <= _SAID_BEFORE else f"not {what}: {', '.join(sorted(codes))}"] += 1
    else:
        report.notices[what] += 1


def _retract(model: type[Run] | type[ServingRun], digest: str, row: Mapping[str, Any], actor: str) -> None:
    at: datetime | None = build.instant(row.get("retractedAt"))
    if model is Run:
        retract(digest, reason=build.reason_of(row), actor=actor, at=at)
    else:
        withdraw_serving(digest, reason=build.reason_of(row), actor=actor, at=at)


def _supersede(model: type[Run] | type[ServingRun], former: str, own: str, actor: str) -> None:
    if model is Run:
        supersede(former, own, reason=CORRECTED, actor=actor)
    else:
        withdraw_serving(former, reason=CORRECTED, actor=actor, successor=own)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
