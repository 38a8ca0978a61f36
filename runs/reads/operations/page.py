"""The page of an operation: what it computes, what was measured of it, and what was not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

from runs.manifests.order import display_order
from runs.reads.links import hardware_link, implementation_link
from runs.reads.operations.choice import Choice
from runs.reads.operations.coverage import coverage
from runs.reads.operations.ground import Ground, ground
from runs.reads.operations.scaling import scaling
from runs.reads.operations.values import Argument, Axis, AxisChoice, OperationPage, Option, ScalingFigure
from runs.reads.rows import as_json, fetch
from runs.reads.values import Fact

_MOST_OPTIONS: Final = 200

_OPERATION: Final = """
SELECT o.id, o.slug, o.name, o.family, o.digest, o.canonical, o.metadata,
    (SELECT coalesce(sum(g.run_count), 0) FROM runs_comparisongroup g WHERE g.operation_id = o.id) AS runs
FROM runs_operation o WHERE o.slug = %s
"""
_ALIASES: Final = "SELECT alias FROM runs_operationalias WHERE operation_id = %s ORDER BY alias LIMIT 50"
_IMPLEMENTATIONS: Final = """
SELECT slug, title, language FROM runs_implementation WHERE operation_id = %s ORDER BY title, slug LIMIT 200
"""
_UNMEASURED: Final = """
SELECT v.hardware, min(v.product) AS product, min(v.form_factor) AS form_factor FROM runs_environment v
WHERE NOT EXISTS (
    SELECT 1 FROM runs_environment u JOIN runs_comparisongroup g ON g.environment_id = u.id
    WHERE u.hardware = v.hardware AND g.operation_id = %s)
GROUP BY v.hardware ORDER BY v.hardware LIMIT 100
"""


def operation_page(slug: str, choice: Choice) -> OperationPage | None:
    """The page as a reader chose to see it, or None where there is no such operation.

    Ten statements, whatever was measured. Raises UnknownChoice.
    """
    found = fetch(_OPERATION, [slug])
    if not found:
        return None
    row = found[0]
    spec = orjson.loads(row["canonical"])["spec"]
    known = ground(row["id"], choice)
    figure = scaling(row["id"], known, choice)
    return OperationPage(
        slug=row["slug"],
        name=row["name"],
        family=row["family"],
        digest=row["digest"],
        aliases=tuple(each["alias"] for each in fetch(_ALIASES, [row["id"]])),
        expression=spec["semantics"].get("expression") or as_json(row["metadata"]).get("description"),
        semantics=_semantics(spec),
        axes=tuple(_axes(spec["axes"])),
        arguments=(*_arguments(spec, "input"), *_arguments(spec, "output")),
        runs=int(row["runs"]),
        groups=sum(way.groups for way in known.ways),
        implementations=tuple(
            implementation_link(each["slug"], f"{each['title']} ({each['language']})")
            for each in fetch(_IMPLEMENTATIONS, [row["id"]])
        ),
        measured=tuple(Option(way.value, way.label, way.groups, way == known.measured) for way in known.ways),
        environments=tuple(
            Option(
                place.value,
                place.hardware.name if _alone(place.hardware.slug, known) else f"{place.hardware.name} · {place.title}",
                place.groups,
                place == known.environment,
            )
            for place in known.places
        ),
        along=_along(known, choice, figure),
        dtypes=_options((case.dtype for case in known.cases if case.dtype), choice.dtype),
        sizes=tuple(
            AxisChoice(
                name,
                _options((case.axes[name] for case in known.cases if name in case.axes), choice.held.get(name, "")),
            )
            for name in known.axes
        ),
        chosen=tuple(_chosen(known, choice)),
        coverage=coverage(row["id"], known, choice),
        scaling=figure,
        unmeasured=tuple(
            hardware_link(each["hardware"], " ".join(filter(None, (each["product"], each["form_factor"]))))
            for each in fetch(_UNMEASURED, [row["id"]])
        ),
    )


def operation_scaling(slug: str, choice: Choice) -> tuple[str, str, ScalingFigure] | None:
    """The operation's name, how was measured, and the figure to draw; None where there is nothing to draw.

    Raises UnknownChoice.
    """
    found = fetch("SELECT id, name FROM runs_operation WHERE slug = %s", [slug])
    if not found:
        return None
    known = ground(found[0]["id"], choice)
    figure = scaling(found[0]["id"], known, choice)
    return (found[0]["name"], known.measured.title, figure) if figure and known.measured else None


def _alone(hardware: str, known: Ground) -> bool:
    return sum(place.hardware.slug == hardware for place in known.places) == 1


def _along(known: Ground, choice: Choice, figure: ScalingFigure | None) -> tuple[Option, ...]:
    drawn = choice.along or (figure.axis if figure else "")
    counts = {name: len({case.axes[name] for case in known.cases if name in case.axes}) for name in known.axes}
    return tuple(Option(name, name, sizes, name == drawn) for name, sizes in counts.items() if sizes > 1)


def _options(values: Iterable[Any], chosen: Any) -> tuple[Option, ...]:
    """Each value once, with the number of workloads that have it."""
    counts: dict[Any, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    kept = sorted(counts)[:_MOST_OPTIONS]
    return tuple(Option(str(value), str(value), counts[value], value == chosen) for value in kept)


def _chosen(known: Ground, choice: Choice) -> Iterator[Fact]:
    if known.environment:
        yield Fact("environment", known.environment.title)
    if choice.dtype:
        yield Fact("dtype", choice.dtype)
    for name, size in choice.at:
        yield Fact(name, str(size))


def _semantics(spec: Mapping[str, Any]) -> tuple[Fact, ...]:
    semantics, reference = spec["semantics"], spec.get("reference")
    facts = [Fact(name, semantics[name]) for name in ("mutation", "determinism") if name in semantics]
    return (*facts, Fact("reference", reference["language"])) if reference else tuple(facts)


def _axes(axes: Mapping[str, Any]) -> Iterator[Axis]:
    for name in display_order(axes):
        axis = axes[name]
        said = {"value": "{}", "minimum": "at least {}", "maximum": "at most {}", "expression": "{}"}
        detail = ", ".join(text.format(axis[part]) for part, text in said.items() if part in axis)
        yield Axis(name, axis["role"], detail)


def _arguments(spec: Mapping[str, Any], direction: str) -> Iterator[Argument]:
    for each in spec[f"{direction}s"]:
        described = each.get("tensor") or each["scalar"]
        shape = tuple(map(str, described["shape"])) if "shape" in described else None
        yield Argument(each["name"], direction, described["dtype"], shape, described.get("layout"))
