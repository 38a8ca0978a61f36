"""Many workloads at once: which comparison groups match each, and what there is where none does.

Terms are read as the search box reads them, so that both find the same; but a workload is looked up by conditions on
ids and sizes, without a query that would have to be parsed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from runs.reads.search import differences, resolve as terms
from runs.reads.search.conditions import Conditions, distance, group_conditions, place, subject, workload
from runs.reads.search.facets import AxisRange, Facets
from runs.reads.search.groups import Candidate, best_runs, find_nearest, hit
from runs.reads.search.values import Difference, GroupHit
from runs.reads.search.vocabulary import StaleVocabulary, Vocabulary, forget, vocabulary
from runs.reads.values import Reason, RunRow

MOST: Final = 50  # workloads in one request
MOST_AXES: Final = 16
MOST_NEAR: Final = 5
_MOST_EXACT: Final = 10  # groups of one workload: it may have been measured on several GPUs, by several protocols

UNKNOWN: Final = {
    "UNKNOWN_OPERATION": "No operation of the index has this name.",
    "UNKNOWN_GPU": "Nothing in the index was measured on hardware of this name.",
    "UNKNOWN_DTYPE": "No workload of the index has this dtype.",
    "UNKNOWN_AXIS": "No workload of the index has this axis",
}


@dataclass(frozen=True, slots=True)
class Workload:
    """What is looked up; `dtype` and `gpu` are empty where any will do."""

    operation: str
    axes: Mapping[str, int]
    dtype: str = ""
    gpu: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What there is of one workload.

    `state`: "exact" where a group matches all that was asked, "near" where one differs in something, "nothing" where
    there is none, "unknown" where some name is not in the index (`reasons` says which).
    """

    state: str
    operations: tuple[str, ...]  # the names of those that the name means
    hardware: tuple[str, ...]  # likewise; empty where none was asked for
    exact: tuple[GroupHit, ...]
    exact_total: int
    near: tuple[GroupHit, ...]  # the same hardware, another size or dtype: the nearest first
    elsewhere: tuple[GroupHit, ...]  # the same workload, other hardware
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """The answers, in the order of the workloads."""

    workloads: tuple[Resolved, ...]


@dataclass(slots=True)
class _Found:
    facets: Facets
    operations: tuple[str, ...]
    hardware: tuple[str, ...]
    reasons: tuple[Reason, ...]
    exact: list[Candidate] = field(default_factory=list)
    total: int = 0
    near: list[Candidate] = field(default_factory=list)
    elsewhere: list[Candidate] = field(default_factory=list)


def resolve(workloads: Sequence[Workload], *, near: int) -> Resolution:
    """What there is of each, with at most `near` near misses of each kind.

    At most three statements for each different workload, and four for all of them.
    """
    try:
        return _resolve(workloads, near)
    except StaleVocabulary:
        forget()
        return _resolve(workloads, near)


def _resolve(workloads: Sequence[Workload], near: int) -> Resolution:
    known = vocabulary()
    found: dict[tuple[object, ...], _Found] = {}
    keys = []
    for asked in workloads:
        key = (asked.operation, asked.dtype, asked.gpu, *sorted(asked.axes.items()))
        keys.append(key)
        if key not in found:
            found[key] = _find(asked, near, known)
    groups = [group for each in found.values() for group in (*each.exact, *each.near, *each.elsewhere)]
    best = best_runs(groups, Facets(), known)
    axes = differences.axes_of({group.workload for each in found.values() for group in each.near})
    answers = {key: _answer(each, best, axes, known) for key, each in found.items()}
    return Resolution(tuple(answers[key] for key in keys))


def _find(asked: Workload, near: int, known: Vocabulary) -> _Found:
    operations = terms.operations(known, asked.operation)
    environments = terms.environments(known, asked.gpu) if asked.gpu else None
    dtypes = terms.dtypes(known, asked.dtype) if asked.dtype else None
    strangers = sorted(set(asked.axes) - set(known.axes))
    said = {
        "UNKNOWN_OPERATION": not operations.values,
        "UNKNOWN_GPU": environments is not None and not environments.values,
        "UNKNOWN_DTYPE": dtypes is not None and not dtypes.values,
    }
    reasons = [Reason(code, UNKNOWN[code]) for code, is_so in said.items() if is_so]
    reasons += [Reason("UNKNOWN_AXIS", f"{UNKNOWN['UNKNOWN_AXIS']}: {name}.") for name in strangers]
    facets = Facets(
        operations=operations.values,
        environments=environments.values if environments else None,
        dtypes=dtypes.values if dtypes else None,
        axes=tuple(AxisRange(name, ((size, size),)) for name, size in sorted(asked.axes.items())),
    )
    found = _Found(facets, operations.names, environments.names if environments else (), tuple(reasons))
    if operations.values and not strangers:
        _look(found, near, known)
    return found


def _look(found: _Found, near: int, known: Vocabulary) -> None:
    """Fill in the groups, as far as what was asked exists."""
    facets = found.facets
    always = Conditions()
    always.add("1 = 1")
    if not facets.is_void:
        where = group_conditions(facets, known)
        found.exact, found.total = find_nearest(where, ("0.0", []), always, known, frozenset(), most=_MOST_EXACT)
    if not near:
        return
    if facets.environments is None or facets.environments:
        where, beyond, same = Conditions(), Conditions(), Conditions()
        subject(where, facets, known)
        place(where, facets)
        beyond.add("distance IS NOT NULL")
        same.add("distance = 0")
        if facets.dtypes is not None:
            same.member("dtype", facets.dtypes)
        beyond.all(same, form="NOT ({})")
        found.near, _ = find_nearest(where, distance(facets), beyond, known, frozenset(), most=near)
    if facets.environments is not None and not facets.without_place().is_void:
        where, here = Conditions(), Conditions()
        subject(where, facets, known)
        workload(where, facets, known)
        place(here, facets)
        where.all(here, form="NOT ({})")
        found.elsewhere, _ = find_nearest(where, ("0.0", []), always, known, frozenset(), most=near)


def _answer(
    found: _Found, best: Mapping[str, RunRow], axes: Mapping[object, Mapping[str, list[int]]], known: Vocabulary
) -> Resolved:
    def hits(groups: Sequence[Candidate], differ: Mapping[str, Sequence[Difference]]) -> tuple[GroupHit, ...]:
        return tuple(hit(group, best.get(group.key), known, differ.get(group.key, ())) for group in groups)

    near = {
        group.key: differences.of_workload(group, found.facets, axes.get(group.workload, {})) for group in found.near
    }
    elsewhere = {group.key: differences.of_place(group, found.facets, known) for group in found.elsewhere}
    return Resolved(
        state=_state(found),
        operations=found.operations,
        hardware=found.hardware,
        exact=hits(found.exact, {}),
        exact_total=found.total,
        near=hits(found.near, near),
        elsewhere=hits(found.elsewhere, elsewhere),
        reasons=found.reasons,
    )


def _state(found: _Found) -> str:
    if found.exact:
        return "exact"
    if found.near or found.elsewhere:
        return "near"
    return "unknown" if found.reasons else "nothing"
