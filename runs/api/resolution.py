"""Many workloads at once: which comparison groups match each, and what there is near to it.

Names are read as the search box reads them, so that both find the same. The workloads are found in memory
(`runs.api.workloads`); groups and their best runs are read anew, for all of them together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from runs.api.group_list import candidates_of
from runs.api.workloads import Axes, Case, Catalogue, shelf
from runs.reads.search import differences
from runs.reads.search import resolve as terms
from runs.reads.search.facets import AxisRange, Facets, Ids
from runs.reads.search.groups import Candidate, best_runs, hit
from runs.reads.search.values import Difference, GroupHit
from runs.reads.search.vocabulary import StaleVocabulary, Vocabulary, forget, vocabulary
from runs.reads.values import Reason, RunRow

MOST: Final = 50  # workloads in one request
MOST_AXES: Final = 16
MOST_NEAR: Final = 5
_MOST_EXACT: Final = 10  # groups of one workload: it may have been measured on several GPUs, by several protocols
_TIED: Final = 10  # workloads that are put in order where fewer are named: as many as may well be equally near

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

    `state` is "exact" where a group matches all that was asked, "near" where one differs in something, "nothing" where
    there is none, and "unknown" where there is none and `reasons` names what the index does not know. `operations` and
    `hardware` are what the names mean. `exact` are groups that match, each with its best run; `more`: there are others.
    `near` are on the same hardware with another size or dtype, the nearest first; `elsewhere` have the same workload on
    other hardware. Their `differences` say what differs.
    """

    state: str
    operations: tuple[str, ...]
    hardware: tuple[str, ...]
    exact: tuple[GroupHit, ...]
    more: bool
    near: tuple[GroupHit, ...]
    elsewhere: tuple[GroupHit, ...]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """The answers, in the order of the workloads."""

    workloads: tuple[Resolved, ...]


@dataclass(slots=True)
class _Found:
    """One workload as it was understood, and the workloads of the index that it leads to."""

    facets: Facets
    operations: tuple[str, ...]
    hardware: tuple[str, ...]
    reasons: tuple[Reason, ...]
    matching: list[Case] = field(default_factory=list)
    nearest: dict[UUID, tuple[float, Axes]] = field(default_factory=dict)
    exact: list[Candidate] = field(default_factory=list)
    near: list[Candidate] = field(default_factory=list)
    elsewhere: list[Candidate] = field(default_factory=list)
    more: bool = False


def resolve(workloads: Sequence[Workload], *, near: int) -> Resolution:
    """What there is of each, with at most `near` near misses of each kind.

    Five statements where the operations are in memory, ten where they are not, however many workloads.
    """
    try:
        return _resolve(workloads, near)
    except StaleVocabulary:
        forget()
        return _resolve(workloads, near)


def _resolve(workloads: Sequence[Workload], near: int) -> Resolution:
    known = vocabulary()
    keys = [(asked.operation, asked.dtype, asked.gpu, *sorted(asked.axes.items())) for asked in workloads]
    found = {key: _understand(asked, known) for key, asked in zip(keys, workloads, strict=True)}
    operations = {id_ for each in found.values() for id_ in each.facets.operations or ()}
    catalogues = shelf.catalogues(operations) if operations else {}
    for each in found.values():
        _look(each, near, catalogues)
    wanted = {case.id for each in found.values() for case in each.matching}
    by_workload: dict[UUID, list[Candidate]] = defaultdict(list)
    for group in candidates_of(wanted.union(*(each.nearest for each in found.values()))):
        by_workload[group.workload].append(group)
    for each in found.values():
        _choose(each, near, by_workload, known)
    best = best_runs({group for each in found.values() for group in _groups(each)}, Facets(), known)
    answers = {key: _answer(each, best, known) for key, each in found.items()}
    return Resolution(tuple(answers[key] for key in keys))


def _understand(asked: Workload, known: Vocabulary) -> _Found:
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
        # Nothing has an axis that the index does not know.
        operations=frozenset() if strangers else operations.values,
        environments=environments.values if environments else None,
        dtypes=dtypes.values if dtypes else None,
        axes=tuple(AxisRange(name, ((size, size),)) for name, size in sorted(asked.axes.items())),
    )
    return _Found(facets, operations.names, environments.names if environments else (), tuple(reasons))


def _look(found: _Found, near: int, catalogues: Mapping[UUID, Catalogue]) -> None:
    """Find the workloads that match, and those that are near."""
    facets = found.facets
    axes = {axis.name: axis.ranges[0][0] for axis in facets.axes}
    for id_ in sorted(facets.operations or ()):
        catalogue = catalogues[id_]
        found.matching += [
            case for case in catalogue.matching(axes) if facets.dtypes is None or case.dtype in facets.dtypes
        ]
        if near:
            but = {case.id for case in found.matching}
            nearest = catalogue.nearest(axes, facets.environments, but, most=near, tied=_TIED)
            found.nearest |= {case.id: (away, case.axes) for away, case in nearest}
    found.more = len(found.matching) > _MOST_EXACT
    found.matching = found.matching[:_MOST_EXACT]


def _choose(found: _Found, near: int, groups: Mapping[UUID, Sequence[Candidate]], known: Vocabulary) -> None:
    """The groups of these workloads, here and elsewhere, in order."""
    places = found.facets.environments

    def order(group: Candidate) -> tuple[object, ...]:
        away = found.nearest[group.workload][0] if group.workload in found.nearest else 0.0
        hardware = known.environments[group.environment].product
        return away, hardware, group.dtype, group.summary, known.protocols[group.protocol].name, group.key

    matching = [group for case in found.matching for group in groups[case.id]]
    here = sorted((group for group in matching if _is_in(group, places)), key=order)
    found.more = found.more or len(here) > _MOST_EXACT
    found.exact = here[:_MOST_EXACT]
    found.elsewhere = sorted((group for group in matching if not _is_in(group, places)), key=order)[:near]
    missed = (group for workload in found.nearest for group in groups[workload] if _is_in(group, places))
    found.near = sorted(missed, key=order)[:near]


def _is_in(group: Candidate, places: Ids | None) -> bool:
    return places is None or group.environment in places


def _groups(found: _Found) -> Iterable[Candidate]:
    return (*found.exact, *found.near, *found.elsewhere)


def _answer(found: _Found, best: Mapping[str, RunRow], known: Vocabulary) -> Resolved:
    def hits(groups: Collection[Candidate]) -> tuple[GroupHit, ...]:
        return tuple(hit(group, best.get(group.key), known, _differences(group, found, known)) for group in groups)

    return Resolved(
        state=_state(found),
        operations=found.operations,
        hardware=found.hardware,
        exact=hits(found.exact),
        more=found.more,
        near=hits(found.near),
        elsewhere=hits(found.elsewhere),
        reasons=found.reasons,
    )


def _differences(group: Candidate, found: _Found, known: Vocabulary) -> list[Difference]:
    if group.workload in found.nearest:
        return differences.of_workload(group, found.facets, found.nearest[group.workload][1])
    return differences.of_place(group, found.facets, known)


def _state(found: _Found) -> str:
    if found.exact:
        return "exact"
    if found.near or found.elsewhere:
        return "near"
    return "unknown" if found.reasons else "nothing"
