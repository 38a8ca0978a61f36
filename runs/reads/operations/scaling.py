"""How a measurement grows along one axis of the workload, the others held, by implementation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from runs.charts import Scaling, Series
from runs.manifests.order import display_order
from runs.policy.ranking import extent
from runs.reads.format import common_unit, figure
from runs.reads.links import implementation_link
from runs.reads.operations.choice import Choice
from runs.reads.operations.ground import Case, Ground, Place
from runs.reads.operations.values import Line, Point, ScalingFigure
from runs.reads.rows import Row, as_number, as_uuid, fetch
from runs.reads.values import Fact, Figure

SIZES: Final = 64
LINES: Final = 12

_POINTS: Final = """
SELECT r.id, r.workload_id, r.metric, r.statistic, r.unit, r.value, r.samples, i.slug, i.title
FROM runs_comparisongroup g
JOIN runs_standing s ON s.group_id = g.key AND s.rank IS NOT NULL
JOIN runs_run r ON r.id = s.run_id
JOIN runs_implementation i ON i.id = r.implementation_id
WHERE g.operation_id = %s AND g.protocol_id = %s AND g.metric_key = %s AND g.environment_id = %s
    AND g.workload_id IN ({workloads})
ORDER BY r.id
"""


@dataclass(frozen=True, slots=True)
class _Cut:
    """A line through the measured workloads: one axis varies, all else is held."""

    axis: str
    held: tuple[tuple[str, int], ...]
    dtype: str
    place: Place
    cases: Mapping[int, Case]


def scaling(operation: Any, found: Ground, choice: Choice) -> ScalingFigure | None:
    """The chosen cut, else the one with most sizes; None where no two sizes can be put on a line. One statement."""
    cut = _longest(found, choice)
    by_case = {case.id: size for size, case in sorted(cut.cases.items())[:SIZES]} if cut else {}
    measured = found.measured
    key = [measured.id, measured.metric] if measured else [None, ""]
    ids = [*by_case] or [None]
    sql = _POINTS.format(workloads=", ".join(["%s"] * len(ids)))
    rows = fetch(sql, [operation, *key, cut.place.id if cut else None, *ids])
    if cut is None:
        return None
    lines = _lines(rows, by_case)
    sizes = sorted({point.size for line in lines for point in line.points})
    if len(sizes) < 2:
        return None
    held = (*(Fact(name, str(size)) for name, size in cut.held), *([Fact("dtype", cut.dtype)] if cut.dtype else []))
    return ScalingFigure(cut.axis, held, cut.place.hardware, cut.place.value, tuple(sizes), lines)


def _longest(found: Ground, choice: Choice) -> _Cut | None:
    """The cut with most sizes; of equals the environment with most evidence, the first axis, the smallest sizes."""
    held = {name: size for name, size in choice.at if name != choice.along}
    cases = [
        case
        for case in found.cases
        if choice.dtype in ("", case.dtype) and all(case.axes.get(name) == size for name, size in held.items())
    ]
    best: _Cut | None = None
    for place in [found.environment] if found.environment else found.places:
        there = [case for case in cases if case.id in found.pairs.get(place.id, ())]
        for axis in [choice.along] if choice.along else found.axes:
            if axis in held:
                continue
            for (others, dtype), along in _cuts(there, axis).items():
                if len(along) > (len(best.cases) if best else 1):
                    best = _Cut(axis, others, dtype, place, along)
    return best


def _cuts(cases: list[Case], axis: str) -> dict[tuple[tuple[tuple[str, int], ...], str], dict[int, Case]]:
    cuts: dict[tuple[tuple[tuple[str, int], ...], str], dict[int, Case]] = defaultdict(dict)
    for case in cases:
        if axis in case.axes:
            others = tuple((name, case.axes[name]) for name in display_order(case.axes) if name != axis)
            cuts[others, case.dtype].setdefault(case.axes[axis], case)
    return cuts


def _lines(rows: list[Row], sizes: Mapping[Any, int]) -> tuple[Line, ...]:
    """An implementation a line, each size with its best run; the best at the largest size comes first."""
    best: dict[str, dict[int, Point]] = defaultdict(dict)
    titles = {}
    for row in rows:
        titles[row["slug"]] = row["title"]
        primary = Figure(row["metric"], row["statistic"], row["unit"], as_number(row["value"]), row["samples"])
        size, known = sizes[row["workload_id"]], best[row["slug"]]
        if size not in known or _order(primary) < _order(known[size].primary):
            known[size] = Point(size, as_uuid(row["id"]), primary)
    times = Counter(titles.values())
    lines = [
        Line(
            implementation_link(slug, titles[slug]),
            titles[slug] if times[titles[slug]] == 1 else f"{titles[slug]} ({slug})",
            tuple(points[size] for size in sorted(points)),
        )
        for slug, points in best.items()
    ]
    lines.sort(key=lambda line: (-line.points[-1].size, _order(line.points[-1].primary), line.label))
    return tuple(lines[:LINES])


def _order(primary: Figure) -> tuple[float, float, float]:
    return extent(primary.metric, primary.value).order


def chart(name: str, measured: str, shown: ScalingFigure) -> Scaling:
    """The picture of it, in the unit that suits its values."""
    first = shown.lines[0].points[0].primary
    unit, factor = common_unit([point.primary.value for line in shown.lines for point in line.points], first.unit)
    held = ", ".join(f"{fact.name} = {fact.value}" for fact in shown.held)
    metric = first.metric.replace("_", " ")
    described = "; ".join(
        f"{line.label}: {figure(line.points[0].primary)} at {line.points[0].size}, "
        f"{figure(line.points[-1].primary)} at {line.points[-1].size}"
        for line in shown.lines
    )
    return Scaling(
        title=f"{name}: {first.statistic} {metric} along {shown.axis} on {shown.hardware.name}",
        description=f"{measured}{f'; {held}' if held else ''}. {described}.",
        axis=shown.axis,
        unit=f"{first.statistic} {metric}, {unit}",
        series=tuple(
            Series(line.label, tuple((point.size, point.primary.value * factor) for point in line.points))
            for line in shown.lines
        ),
    )
