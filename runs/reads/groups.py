"""A comparison group: what it holds constant, who ranks in it and where, and who does not and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson

from runs.charts import Bar, Bars
from runs.policy.ranking import HIGHER_IS_BETTER, extent
from runs.policy.reasons import sentence
from runs.reads import correctness, facts
from runs.reads.cursors import parse_cursor
from runs.reads.filters import Selection
from runs.reads.format import common_unit, date, figure
from runs.reads.links import (
    environment_link,
    group_url,
    hardware_link,
    implementation_link,
    operation_link,
    project_link,
    protocol_link,
)
from runs.reads.rows import Row, as_instant, as_json, as_number, as_uuid, fetch, fetch_tuple
from runs.reads.run_list import PAGE_SIZE, run_list
from runs.reads.spread import Spread, spread
from runs.reads.values import Fact, Figure, Link, Reason, RunRow, Tensor

MOST_CANDIDATES: Final = 20
BARS: Final = 16

# The version counts what publication did to the group; the levels of its runs follow from reruns and from what was
# decided about those who signed them.
_STATE: Final = """
SELECT g.version, g.changed_at, x.id, x.published_at, d.id, d.at
FROM runs_comparisongroup g
LEFT JOIN runs_rerunresult x ON x.id = (SELECT l.id FROM runs_rerunresult l ORDER BY l.id DESC LIMIT 1)
LEFT JOIN runs_signerdecision d ON d.id = (SELECT l.id FROM runs_signerdecision l ORDER BY l.id DESC LIMIT 1)
WHERE g.key = %s
"""
_HEAD: Final = """
SELECT g.key, g.metric_key, g.source_native, g.run_count, g.ranked_count, g.changed_at,
    o.slug AS operation_slug, o.name AS operation_name, o.family,
    w.summary AS workload, w.digest AS workload_digest, w.canonical AS workload_canonical, w.dtype,
    c.digest AS protocol_digest, c.title AS protocol_title, c.canonical AS protocol_canonical,
    v.digest AS environment_digest, v.title AS environment_title, v.canonical AS environment_canonical, v.hardware
FROM runs_comparisongroup g
JOIN runs_operation o ON o.id = g.operation_id
JOIN runs_workload w ON w.id = g.workload_id
JOIN runs_protocol c ON c.id = g.protocol_id
JOIN runs_environment v ON v.id = g.environment_id
WHERE g.key = %s
"""
# The first of a group: of those that share the first rank the one with the best value. Read along (key, value).
_FIRST: Final = """
SELECT r.id, r.metric, r.statistic, r.unit, r.value, r.samples
FROM runs_run r JOIN runs_standing s ON s.run_id = r.id
WHERE r.comparison_key = %s AND s.rank = 1 ORDER BY r.value{way}, r.id LIMIT 1
"""
_DETAILS: Final = """
SELECT r.id, r.canonical, r.low, r.high, s.reasons, i.slug, i.title, i.license, p.slug AS project_slug,
    p.name AS project_name
FROM runs_run r
JOIN runs_standing s ON s.run_id = r.id
JOIN runs_implementation i ON i.id = r.implementation_id
LEFT JOIN runs_project p ON p.id = i.project_id
WHERE r.id IN ({marks})
"""
_SHARING: Final = """
SELECT rank, count(*) AS runs FROM runs_standing WHERE group_id = %s AND rank IN ({marks}) GROUP BY rank
"""
State = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A run of the group.

    `shared`: how many other runs have its rank. `ratio`: its value over the first's, None for a run that does not rank.
    `licence` is that of the implementation, as an SPDX expression, where it is known.
    """

    run: RunRow
    implementation: Link
    project: Link | None
    licence: str | None
    spread: Spread | None
    ratio: float | None
    shared: int
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class GroupPage:
    """A keyset page of a comparison group: by rank, then the runs that do not rank."""

    key: str
    url: str
    title: str
    operation: Link
    family: str
    workload: str
    workload_digest: str
    axes: tuple[tuple[str, int], ...]
    tensors: tuple[Tensor, ...]
    scalars: tuple[Fact, ...]
    cases: int  # of a suite; 0 for a single case
    protocol: Link
    protocol_facts: tuple[Fact, ...]
    environment: Link
    environment_facts: tuple[Fact, ...]
    hardware: Link
    correctness: tuple[Fact, ...]
    metric: str | None  # None where no run of the group has a primary measurement
    statistic: str | None
    unit: str | None
    higher_is_better: bool
    source_native: bool
    run_count: int
    ranked_count: int
    illustrative: bool  # a run on this page was made up
    first: UUID | None
    first_value: Figure | None
    rows: tuple[GroupRow, ...]
    next: str | None
    previous: str | None
    changed_at: datetime


def group_keys(digits: str) -> tuple[str, ...]:
    """The keys that begin with these hexadecimal digits, in order: one more than are ever listed. One statement."""
    rows = fetch(
        f"SELECT key FROM runs_comparisongroup WHERE key >= %s AND key < %s ORDER BY key LIMIT {MOST_CANDIDATES + 1}",  # noqa: S608
        [f"sha256:{digits}", f"sha256:{digits}g"],
    )
    return tuple(row["key"] for row in rows)


@dataclass(frozen=True, slots=True)
class GroupCandidate:
    """A group whose key begins as was asked."""

    key: str
    url: str
    operation: Link
    workload: str
    hardware: Link
    protocol: str


def candidates(digits: str) -> tuple[GroupCandidate, ...]:
    """The groups whose keys begin so. One statement."""
    found = fetch(
        f"""SELECT g.key, o.slug, o.name, w.summary, v.hardware, v.product, v.form_factor, c.title
        FROM runs_comparisongroup g
        JOIN runs_operation o ON o.id = g.operation_id
        JOIN runs_workload w ON w.id = g.workload_id
        JOIN runs_environment v ON v.id = g.environment_id
        JOIN runs_protocol c ON c.id = g.protocol_id
        WHERE g.key >= %s AND g.key < %s ORDER BY g.key LIMIT {MOST_CANDIDATES}""",  # noqa: S608
        [f"sha256:{digits}", f"sha256:{digits}g"],
    )
    return tuple(
        GroupCandidate(
            row["key"],
            group_url(row["key"]),
            operation_link(row["slug"], row["name"]),
            row["summary"],
            hardware_link(row["hardware"], " ".join(filter(None, (row["product"], row["form_factor"])))),
            row["title"],
        )
        for row in found
    )


def group_state(key: str) -> State | None:
    """What the group's pages depend on, as the driver gives it: equal states mean equal pages. One statement."""
    return fetch_tuple(_STATE, [key])


def changed_at(state: State) -> float:
    """When a state came to be, in seconds since 1970."""
    return max(as_instant(state[place]).timestamp() for place in (1, 3, 5) if state[place] is not None)


def group_page(key: str, token: str = "", size: int = PAGE_SIZE) -> GroupPage | None:
    """One page of a group, or None where there is none of this key. At most six statements. Raises InvalidCursor."""
    found = fetch(_HEAD, [key])
    if not found:
        return None
    head = found[0]
    metric, statistic, unit = _metric(head["metric_key"])
    first = _first(key, metric)
    listed = run_list(Selection({"group": key}), parse_cursor(token) if token else None, size)
    rows = _rows(key, listed.rows, first)
    case, protocol, environment = (
        orjson.loads(head[name])["spec"]
        for name in ("workload_canonical", "protocol_canonical", "environment_canonical")
    )
    product = facts.product(environment["hardware"])
    return GroupPage(
        key=key,
        url=group_url(key),
        title=f"{head['operation_name']} · {head['workload']} · {product}",
        operation=operation_link(head["operation_slug"], head["operation_name"]),
        family=head["family"],
        workload=head["workload"],
        workload_digest=head["workload_digest"],
        axes=facts.axes(case),
        tensors=facts.tensors(case),
        scalars=facts.scalars(case),
        cases=len(case.get("cases", ())),
        protocol=protocol_link(head["protocol_digest"], head["protocol_title"]),
        protocol_facts=facts.protocol(protocol),
        environment=environment_link(head["environment_digest"], head["environment_title"]),
        environment_facts=facts.environment(environment),
        hardware=hardware_link(head["hardware"], product),
        correctness=(Fact("comparator", case["correctness"]["comparator"]), *correctness.facts({}, case)),
        metric=metric,
        statistic=statistic,
        unit=unit,
        higher_is_better=metric in HIGHER_IS_BETTER,
        source_native=bool(head["source_native"]),
        run_count=head["run_count"],
        ranked_count=head["ranked_count"],
        illustrative=any(row.run.illustrative for row in rows),
        first=as_uuid(first["id"]) if first else None,
        first_value=_figure(first) if first else None,
        rows=rows,
        next=listed.next,
        previous=listed.previous,
        changed_at=as_instant(head["changed_at"]),
    )


def _metric(key: str) -> tuple[str | None, str | None, str | None]:
    metric, _, rest = key.partition(":")
    statistic, _, unit = rest.partition(":")
    return (metric, statistic, unit) if unit else (None, None, None)


def _first(key: str, metric: str | None) -> Row | None:
    found = fetch(_FIRST.format(way=" DESC" if metric in HIGHER_IS_BETTER else ""), [key])
    return found[0] if found else None


def _figure(row: Row) -> Figure:
    return Figure(row["metric"], row["statistic"], row["unit"], as_number(row["value"]), row["samples"])


def _rows(key: str, runs: Sequence[RunRow], first: Row | None) -> tuple[GroupRow, ...]:
    """The runs of a page with what the group says of each: two statements, whatever their number."""
    if not runs:
        return ()
    marks = ", ".join(["%s"] * len(runs))
    details = {as_uuid(row["id"]): row for row in fetch(_DETAILS.format(marks=marks), [run.id for run in runs])}
    ranks = sorted({run.rank for run in runs if run.rank})
    sharing = {}
    if ranks:
        counted = fetch(_SHARING.format(marks=", ".join(["%s"] * len(ranks))), [key, *ranks])
        sharing = {row["rank"]: row["runs"] for row in counted}
    rows = [_row(run, details[run.id], first, sharing.get(run.rank, 1) - 1) for run in runs]
    # Of runs that share a rank the best value stands first; the list itself is read by rank and id.
    return tuple(sorted(rows, key=_order))


def _order(row: GroupRow) -> tuple[float, float]:
    primary = row.run.primary
    if row.run.rank is None or primary is None:
        return (float("inf"), 0.0)
    return (row.run.rank, extent(primary.metric, primary.value).value)


def _row(run: RunRow, detail: Row, first: Row | None, shared: int) -> GroupRow:
    # Nothing but the digest is left of a run that was removed by law.
    spec = orjson.loads(detail["canonical"])["spec"] if detail["canonical"] else {}
    ranked = run.rank is not None and run.primary is not None and first is not None
    return GroupRow(
        run=run,
        implementation=implementation_link(detail["slug"], detail["title"]),
        project=project_link(detail["project_slug"], detail["project_name"]) if detail["project_slug"] else None,
        licence=detail["license"] or None,
        spread=spread(run.primary, facts.measured(spec, run.primary), (detail["low"], detail["high"])),
        ratio=run.primary.value / first["value"] if ranked and run.primary and first else None,
        shared=shared,
        reasons=tuple(Reason(code, sentence(code)) for code in as_json(detail["reasons"])),
    )


def bars(page: GroupPage) -> Bars | None:
    """The picture of the first runs of a group's first page; None where fewer than two rank."""
    ranked = [row for row in page.rows if row.run.rank and row.run.primary][:BARS]
    if len(ranked) < 2 or page.metric is None or page.unit is None:
        return None
    kinds = Counter(row.spread.kind for row in ranked if row.spread)
    # Spreads of several kinds in one picture would be compared with one another.
    kind = max(kinds, key=lambda each: kinds[each]) if kinds else None
    drawn = [(row, row.spread if row.spread and row.spread.kind == kind else None) for row in ranked]
    values = [row.run.primary.value for row in ranked if row.run.primary]
    unit, factor = common_unit([*values, *(each.high for _, each in drawn if each)], page.unit)
    names = Counter(row.implementation.name for row in ranked)
    metric = page.metric.replace("_", " ")
    return Bars(
        title=f"{page.operation.name} on {page.hardware.name}: {page.statistic} {metric} by run",
        description=f"{page.workload}. {_said(page, len(ranked), kind)} "
        + "; ".join(
            f"rank {row.run.rank}, {_label(row, names)}: {figure(row.run.primary)}" for row in ranked if row.run.primary
        )
        + ".",
        unit=f"{page.statistic} {metric}, {unit}{f' (line: {kind})' if kind else ''}",
        bars=tuple(
            Bar(
                f"{row.run.rank}  {_label(row, names)}",
                row.run.primary.value * factor,
                figure(row.run.primary),
                each.low * factor if each else None,
                each.high * factor if each else None,
                row.run.rank == 1,
            )
            for row, each in drawn
            if row.run.primary
        ),
    )


def _label(row: GroupRow, names: Counter[str]) -> str:
    """An implementation's name, with the day of observation where several runs on the picture are of one."""
    name = row.implementation.name
    return name if names[name] == 1 else f"{name}, {date(row.run.observed_at)}"


def _said(page: GroupPage, drawn: int, kind: str | None) -> str:
    better = "More is better" if page.higher_is_better else "Less is better"
    part = f"the first {drawn} of {page.ranked_count} ranked runs" if drawn < page.ranked_count else "all ranked runs"
    return f"{better}; {part}{f', each with its {kind} as a line' if kind else ''}:"
