"""Chosen runs side by side: where they differ, and what may be said of them (`runs.policy.comparison`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson

from runs.manifests.canonical import object_digest
from runs.manifests.keys import correctness_key
from runs.manifests.order import in_display_order
from runs.policy.comparison import PARTS, Basis, Contender, Ratio, decide
from runs.policy.level import EvidenceLevel
from runs.policy.ranking import HIGHER_IS_BETTER
from runs.policy.reasons import sentence
from runs.reads import facts
from runs.reads.links import (
    compare_url,
    environment_link,
    group_url,
    hardware_link,
    implementation_link,
    operation_link,
    protocol_link,
    source_link,
)
from runs.reads.rows import Row, as_instant, as_json, as_number, as_uuid, fetch
from runs.reads.run_page import events_of
from runs.reads.spread import Spread, spread
from runs.reads.values import Event, Figure, Link, Reason

MOST_FIELDS: Final = 200  # of a section: a suite of another size differs in thousands
LETTERS: Final = "ABCDEFGH"

_RUNS: Final = """
SELECT r.id, r.digest, r.canonical, r.status, r.illustrative, r.metric, r.statistic, r.unit, r.value, r.low, r.high,
    r.samples, r.observed_at, r.comparison_key, r.source_native, r.hardware, s.rank, s.reasons, g.metric_key,
    g.run_count, g.ranked_count, e.level, e.disputed,
    o.digest AS operation_digest, o.slug AS operation_slug, o.name AS operation_name,
    o.canonical AS operation_canonical,
    w.canonical AS workload_canonical, w.summary AS workload,
    i.slug AS implementation_slug, i.title AS implementation_title, i.name AS implementation_name,
    i.digest AS implementation_digest, i.canonical AS implementation_canonical, p.name AS project_name,
    c.digest AS protocol_digest, c.title AS protocol_title, c.canonical AS protocol_canonical,
    v.digest AS environment_digest, v.title AS environment_title, v.canonical AS environment_canonical,
    q.slug AS source_slug, q.name AS source_name, q.license AS source_license, q.attribution AS source_attribution,
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
JOIN runs_standing s ON s.run_id = r.id
JOIN runs_comparisongroup g ON g.key = s.group_id
LEFT JOIN runs_evidencelevel e ON e.run_id = r.id
LEFT JOIN runs_retraction x ON x.run_id = r.id
LEFT JOIN runs_supersession z ON z.run_id = r.id
LEFT JOIN runs_floorconfirmation f ON f.run_id = r.id
WHERE r.id IN ({marks})
"""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A chosen run; `letter` is its name on the page."""

    letter: str
    id: UUID
    digest: str
    implementation: Link
    operation: Link
    workload: str
    hardware: Link
    protocol: Link
    environment: Link
    source: Link
    status: str
    level: str
    disputed: bool
    illustrative: bool
    events: tuple[Event, ...]
    primary: Figure | None
    spread: Spread | None
    ratio: Ratio | None  # over the leader's value; None where nothing is compared
    rank: int | None
    ranked: int
    reasons: tuple[Reason, ...]
    source_native: bool
    comparison_key: str
    group_url: str
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a manifest across the runs, in their order; None where a manifest leaves it out."""

    name: str
    values: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the runs. `material`: it has to match for a verdict. `more` fields differ beyond those listed."""

    name: str
    material: bool
    differing: tuple[Field, ...]
    equal: tuple[Field, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A part that has to match and does not, with the first fields in which it differs."""

    part: str
    fields: tuple[Field, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Subset:
    """Chosen runs that are of one group among others that are not."""

    letters: str
    url: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said (`runs.policy.comparison.Decision`), in letters of runs.

    `mismatches`: what would have to match, the first material one first.
    """

    outcome: str  # "ahead" | "shared" | "alone" | "no_group"
    leaders: str
    higher_is_better: bool
    mismatches: tuple[Mismatch, ...]
    comparable: tuple[Subset, ...]


@dataclass(frozen=True, slots=True)
class ComparePage:
    runs: tuple[ComparedRun, ...]
    verdict: Verdict
    sections: tuple[Section, ...]


def compare(chosen: Sequence[UUID]) -> ComparePage | None:
    """These runs beside one another, in this order; None where one of them is gone or never was. One statement."""
    found = fetch(_RUNS.format(marks=", ".join(["%s"] * len(chosen))), list(chosen))
    by_id = {as_uuid(row["id"]): row for row in found if row["canonical"]}
    if any(id_ not in by_id for id_ in chosen):
        return None
    rows = [by_id[id_] for id_ in chosen]
    specs = [_specs(row) for row in rows]
    decision = decide([_basis(row, spec) for row, spec in zip(rows, specs, strict=True)], [*map(_contender, rows)])
    ratios = decision.ratios or [None] * len(rows)
    sections = tuple(_section(name, specs) for name in _SECTIONS)
    by_name = {section.name: section for section in sections}
    return ComparePage(
        tuple(
            _run(letter, row, spec, ratio)
            for letter, row, spec, ratio in zip(LETTERS, rows, specs, ratios, strict=False)
        ),
        Verdict(
            decision.outcome,
            "".join(LETTERS[place] for place in decision.leaders),
            rows[0]["metric_key"].partition(":")[0] in HIGHER_IS_BETTER,
            tuple(_mismatch(by_name[part]) for part in decision.mismatches),
            _subsets(rows) if decision.outcome == "no_group" else (),
        ),
        sections,
    )


def _specs(row: Row) -> dict[str, Any]:
    """What each section shows of a run, as JSON."""
    run = in_display_order(orjson.loads(row["canonical"])["spec"])
    operation, workload, implementation, protocol, environment = (
        in_display_order(orjson.loads(row[f"{name}_canonical"]))
        for name in ("operation", "workload", "implementation", "protocol", "environment")
    )
    case, made = workload["spec"], implementation["spec"]
    stated = {"stated": run["correctness"]} if "correctness" in run else {}
    licensing = made.get("licensing", {})
    project = {"project": row["project_name"]} if row["project_name"] else {}
    metric, statistic, unit = row["metric"], row["statistic"], row["unit"]
    source = {"licence": row["source_license"], "attribution": row["source_attribution"]}
    return {
        "run": run,
        "implementation": {
            "name": row["implementation_title"],
            "entry": row["implementation_name"],
            **project,
            **{name: value for name, value in made.items() if name not in ("operation", "licensing")},
        },
        "operation": {"name": row["operation_name"], **operation["spec"]},
        "workload": {
            "kind": workload["kind"],
            **{name: value for name, value in case.items() if name not in ("operationSpecDigest", "correctness")},
        },
        "protocol": protocol["spec"],
        "environment": environment["spec"],
        "correctness": {"rule": case["correctness"], **stated},
        "metric": {"metric": metric, "statistic": statistic, "unit": unit} if metric else {},
        "licence": {**licensing, "source": {name: value for name, value in source.items() if value}},
    }


_SECTIONS: Final = (
    "implementation",
    "operation",
    "workload",
    "protocol",
    "environment",
    "correctness",
    "metric",
    "licence",
)
_SHOWN: Final = 3  # fields named beside a part that does not match


def _basis(row: Row, spec: Mapping[str, Any]) -> Basis:
    return Basis(
        row["operation_digest"],
        object_digest(spec["workload"]),
        row["protocol_digest"],
        row["environment_digest"],
        correctness_key({"correctness": spec["correctness"]["rule"]}),
        row["metric_key"],
    )


def _contender(row: Row) -> Contender:
    return Contender(row["rank"], row["metric"], row["value"], row["low"], row["high"], bool(row["illustrative"]))


def _run(letter: str, row: Row, spec: Mapping[str, Any], ratio: Ratio | None) -> ComparedRun:
    primary = None
    if row["value"] is not None:
        primary = Figure(row["metric"], row["statistic"], row["unit"], as_number(row["value"]), row["samples"])
    return ComparedRun(
        letter=letter,
        id=as_uuid(row["id"]),
        digest=row["digest"],
        implementation=implementation_link(row["implementation_slug"], row["implementation_title"]),
        operation=operation_link(row["operation_slug"], row["operation_name"]),
        workload=row["workload"],
        hardware=hardware_link(row["hardware"], facts.product(spec["environment"]["hardware"])),
        protocol=protocol_link(row["protocol_digest"], row["protocol_title"]),
        environment=environment_link(row["environment_digest"], row["environment_title"]),
        source=source_link(row["source_slug"], row["source_name"]),
        status=row["status"],
        level=row["level"] or EvidenceLevel.REPORTED.slug,
        disputed=bool(row["disputed"]),
        illustrative=bool(row["illustrative"]),
        events=events_of(row),
        primary=primary,
        spread=spread(primary, facts.measured(spec["run"], primary), (row["low"], row["high"])),
        ratio=ratio,
        rank=row["rank"],
        ranked=row["ranked_count"],
        reasons=tuple(Reason(code, sentence(code)) for code in as_json(row["reasons"])),
        source_native=bool(row["source_native"]),
        comparison_key=row["comparison_key"],
        group_url=group_url(row["comparison_key"]),
        observed_at=as_instant(row["observed_at"]),
    )


def _section(name: str, specs: Sequence[Mapping[str, Any]]) -> Section:
    leaves = [dict(_leaves(spec[name])) for spec in specs]
    names = {path: None for each in leaves for path in each}  # in the order in which they first come
    differing: list[Field] = []
    equal: list[Field] = []
    for path in names:
        values = [each.get(path) for each in leaves]
        alike = len({orjson.dumps(value) for value in values}) == 1
        (equal if alike else differing).append(
            Field(path, tuple(None if value is None else _text(value) for value in values))
        )
    more = max(len(differing) - MOST_FIELDS, 0)
    return Section(name, name in PARTS, tuple(differing[:MOST_FIELDS]), tuple(equal[:MOST_FIELDS]), more)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a JSON document that holds no other, with its path: `hardware.product`, `inputs[x].tensor.dtype`.

    Different documents have different leaves: empty objects and lists are leaves too.
    """
    if isinstance(value, Mapping) and value:
        for name in value:
            yield from _leaves(value[name], f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        names = [_item_name(item, place) for place, item in enumerate(value, 1)]
        distinct = len(set(names)) == len(names)
        for place, (name, item) in enumerate(zip(names, value, strict=True), 1):
            yield from _leaves(item, f"{path}[{name if distinct else place}]")
    elif path:
        yield path, value


def _item_name(item: Any, place: int) -> str:
    if isinstance(item, Mapping):
        return str(item.get("name", item.get("externalId", place)))
    return str(place)


def _text(value: Any) -> str:
    """A leaf in the manifest's own words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "none"
    return "none" if value == {} else str(value)


def _mismatch(section: Section) -> Mismatch:
    # Of correctness the workload's rule has to match; how far a result was from the reference is its own affair.
    fields = [field for field in section.differing if section.name != "correctness" or field.name.startswith("rule.")]
    return Mismatch(section.name, tuple(fields[:_SHOWN]), max(len(fields) - _SHOWN, 0) + section.more)


def _subsets(rows: Sequence[Row]) -> tuple[Subset, ...]:
    by_key: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        by_key.setdefault(row["comparison_key"], []).append(place)
    return tuple(
        Subset(
            "".join(LETTERS[place] for place in places), compare_url(*(as_uuid(rows[place]["id"]) for place in places))
        )
        for places in by_key.values()
        if len(places) > 1
    )
