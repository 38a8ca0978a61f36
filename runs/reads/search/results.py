"""The results of a search, in four lists, and the nearest that exists where they are empty.

Every list takes a fixed number of statements, however many rows there are. Two groups in one list are alternatives to
look at: only the runs inside a group are ranked against one another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from runs.reads.search import differences
from runs.reads.search.conditions import Conditions, distance, group_conditions, of_runs, place, subject, workload
from runs.reads.search.facets import Facets
from runs.reads.search.groups import BOUND, Candidate, best_runs, find, find_nearest, hit
from runs.reads.search.links import search_url
from runs.reads.search.meaning import Meaning, understand
from runs.reads.search.names import known_names, matching_names
from runs.reads.search.query import Query, parse_query
from runs.reads.search.values import Bracket, Difference, GroupList, Nearest, SearchPage
from runs.reads.search.vocabulary import StaleVocabulary, Vocabulary, forget, vocabulary

SHOWN: Final = 10  # groups of each list beside the others
PAGE_SIZE: Final = 50  # groups of one list by itself
_TIED: Final = 50  # groups that are put in order where ten are shown: as many as may well be equally near
LISTS: Final = ("exact", "compatible", "elsewhere")


class UnknownPlace(ValueError):
    """A list, or a place in a list, that this search does not have."""


@dataclass(frozen=True, slots=True)
class _Found:
    """One list as found: candidates in order, what differs in each, and the facets that its runs must meet."""

    name: str
    groups: Sequence[Candidate] = ()
    total: int = 0
    more: bool = False  # others lie beyond what was counted
    ordered: bool = False  # then too, those that were read are the first of them
    differ: Callable[[Candidate], list[Difference]] = lambda _: []


def search(text: str, *, only: str = "", after: str = "") -> SearchPage:
    """The results of a search; of one list alone where `only` names it, `after` the group with that key.

    Raises UnknownPlace.
    """
    if (only and only not in LISTS) or (after and not only):
        raise UnknownPlace(only or after)
    try:
        return _search(text, only, after)
    except StaleVocabulary:
        # Something was published while this was read, or by an importer that began earlier than another that finished.
        forget()
        return _search(text, only, after)


def _search(text: str, only: str, after: str) -> SearchPage:
    query, known = parse_query(text), vocabulary()
    if not query.terms:
        if only:
            raise UnknownPlace(only)
        return SearchPage("", known=known_names(known))
    return _Search(query, understand(query, known), known, only, after).page()


class _Search:
    """One search. What its lists have in common is read once for all of them."""

    def __init__(self, query: Query, meaning: Meaning, known: Vocabulary, only: str, after: str) -> None:
        self.query, self.meaning, self.known, self.only, self.after = query, meaning, known, only, after
        self.facets = meaning.facets

    def page(self) -> SearchPage:
        exact = self.exact()
        compatible, elsewhere = self.compatible(), self.elsewhere(exact.groups[:SHOWN])
        lists = [found for found in (exact, compatible, elsewhere) if self.only in {"", found.name}]
        shown = self.shown(lists, self.facets)
        page = SearchPage(
            query=str(self.query),
            chips=self.meaning.chips,
            problems=self.meaning.problems,
            exact=shown.get("exact", GroupList()),
            compatible=shown.get("compatible", GroupList()),
            elsewhere=shown.get("elsewhere", GroupList()),
        )
        if self.only:
            return page
        empty = not (exact.groups or compatible.groups or elsewhere.groups)
        nearest = self.nearest() if empty or (self.meaning.left_out and not exact.groups) else None
        return replace(
            page,
            brackets=self.brackets(exact),
            names=matching_names(self.meaning, self.known),
            nearest=nearest,
            known=known_names(self.known) if empty and nearest is None else None,
        )

    # The lists

    def exact(self) -> _Found:
        """Groups that match all of the query."""
        if self.meaning.unusable or self.facets.is_void or not self.facets.asks:
            return _Found("exact")
        return self.found("exact", group_conditions(self.facets, self.known))

    def compatible(self) -> _Found:
        """The same operation and hardware with other axes or another dtype, the nearest first."""
        facets = self.facets
        if (
            self.only == "elsewhere"
            or not (facets.operations and facets.has_workload)
            or facets.without_workload().is_void
            or not all(axis.ranges for axis in facets.axes)
        ):
            return _Found("compatible")
        where, beyond = Conditions(), Conditions()
        subject(where, facets, self.known)
        place(where, facets)
        of_runs(where, facets)
        beyond.add("distance IS NOT NULL")
        same = Conditions()
        same.add("distance = 0")
        if facets.dtypes is not None:
            same.member("dtype", facets.dtypes)
        beyond.all(same, form="NOT ({})")
        most = BOUND if self.only else _TIED
        found, total = find_nearest(where, distance(facets), beyond, self.known, self.meaning.preferred, most=most)
        axes = differences.axes_of(group.workload for group in self.cut(found, "compatible"))
        return _Found(
            "compatible",
            found,
            total=min(total, BOUND),
            more=total > BOUND,
            ordered=True,
            differ=lambda group: differences.of_workload(group, facets, axes.get(group.workload, {})),
        )

    def elsewhere(self, exact: Sequence[Candidate]) -> _Found:
        """The workloads asked for, else those found, on other hardware or under other protocols."""
        facets = self.facets
        if self.only in {"exact", "compatible"} or not (facets.operations and facets.has_place):
            return _Found("elsewhere")
        general = facets.without_place()
        if general.is_void or not (exact or facets.has_workload):
            return _Found("elsewhere")
        where, here = Conditions(), Conditions()
        subject(where, general, self.known)
        workload(where, general, self.known)
        if exact and not (facets.axes or facets.shapes):
            where.member("g.workload_id", {group.workload for group in exact})
        of_runs(where, general)
        place(here, facets)
        place(where, general)
        where.all(here, form="NOT ({})")
        return replace(
            self.found("elsewhere", where),
            differ=lambda group: differences.of_place(group, facets, self.known),
        )

    def found(self, name: str, where: Conditions) -> _Found:
        """The groups under some conditions as a list."""
        groups, more = find(where, self.known, self.meaning.preferred)
        return _Found(name, groups, total=len(groups), more=more)

    def brackets(self, exact: _Found) -> tuple[Bracket, ...]:
        """The sizes measured next to those asked for, where these were not measured."""
        general = self.facets.without_workload()
        if exact.groups or not self.facets.axes or not self.facets.operations or general.is_void:
            return ()
        return differences.brackets(self.query, self.facets, self.known)

    def nearest(self) -> Nearest | None:
        """Less and less of what was asked, until something is there: a bounded number of statements."""
        usable = self.facets.without_void()
        general = usable.without_runs()
        steps = (
            (self.meaning.left_out, usable),
            (("what was asked of the runs",), general),
            (("the workload",), general.without_workload()),
            (("the workload", "the hardware", "the protocol"), general.without_workload().without_place()),
            (("all but the hardware",), Facets(environments=usable.environments, excluded=usable.excluded)),
        )
        tried = [self.facets] if not self.meaning.left_out else []
        for left_out, facets in steps:
            if facets in tried or not facets.asks_for:
                continue
            tried.append(facets)
            found = self.found("nearest", group_conditions(facets, self.known))
            if found.groups:
                named = tuple(dict.fromkeys((*self.meaning.left_out, *left_out)))
                [groups] = self.shown([found], facets).values()
                return Nearest(named, groups)
        return None

    # From what was found to what is shown

    def cut(self, groups: Sequence[Candidate], name: str) -> Sequence[Candidate]:
        """The part of a list that is shown. Raises UnknownPlace for a place that is not in it."""
        if self.only != name:
            return groups[:SHOWN]
        first = 0
        if self.after:
            first = next((place + 1 for place, group in enumerate(groups) if group.key == self.after), -1)
            if first < 0:
                raise UnknownPlace(self.after)
        return groups[first : first + PAGE_SIZE]

    def shown(self, lists: Sequence[_Found], facets: Facets) -> dict[str, GroupList]:
        """Lists with the best runs of what is shown of them."""
        parts = {found.name: self.cut(found.groups, found.name) for found in lists}
        best = best_runs((group for part in parts.values() for group in part), facets, self.known)
        return {
            found.name: GroupList(
                hits=tuple(
                    hit(group, best.get(group.key), self.known, found.differ(group)) for group in parts[found.name]
                ),
                total=found.total,
                more=found.more,
                next_url=self.next_url(found, parts[found.name]),
            )
            for found in lists
        }

    def next_url(self, found: _Found, part: Sequence[Candidate]) -> str | None:
        """Where the rest of a list is, if there is any."""
        if found.name not in LISTS or not part:
            return None
        if part[-1] is found.groups[-1] and found.total == len(found.groups):
            return None
        if found.more and not found.ordered:
            return None
        after = part[-1].key if self.only else ""
        return search_url(str(self.query), list=found.name, after=after)
