"""Search, comparison, and the batch look-up of workloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from runs.api.endpoint import Endpoint, Read
from runs.api.limits import COSTLY
from runs.api.parameters import Asked, Body, Filters, Takes, Text
from runs.api.problems import Fault, Problem
from runs.api.resolution import MOST, MOST_AXES, MOST_NEAR, Resolution, Workload, resolve
from runs.api.schemas import Schema, components
from runs.policy.comparison import FEWEST
from runs.policy.comparison import MOST as MOST_COMPARED
from runs.reads.chosen import choices
from runs.reads.compare import ComparePage, compare
from runs.reads.search.query import LARGEST, MAX_LENGTH
from runs.reads.search.results import LISTS, UnknownPlace, search
from runs.reads.search.values import GroupList, SearchPage
from runs.views.json import dumps
from runs.views.shown import there

TAG: Final = "Finding"
_WORKLOADS_A_UNIT: Final = 10  # that one unit of the costly budget pays for


class SearchFilters(Filters):
    """A search."""

    q = Text(
        f"What to look for, in the grammar of the search box; at most {MAX_LENGTH} characters of it are read.",
        max_length=1_000,
    )
    list = serializers.ChoiceField(choices=LISTS, required=False, help_text="One list alone, page by page.")


class Search(Read):
    """Search comparison groups.

    What was understood, and four lists: groups that match, those of another size or dtype, those elsewhere, and names.
    `next_url` of a list is the address where it goes on; other addresses lead to pages for people.
    """

    tag = TAG
    name = "search"
    takes = Takes(SearchFilters, paged=True)
    budget = COSTLY

    @classmethod
    def response_schema(cls) -> Schema:
        return components.ref(SearchPage)

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)
        try:
            page = search(asked.filters.get("q", ""), only=asked.filters.get("list", ""), after=asked.token)
        except UnknownPlace:
            raise Problem("INVALID_PARAMETER", faults=[Fault("list", "This search has no such list.")]) from None
        lists: dict[str, Any] = {name: _linked(asked, name, getattr(page, name)) for name in LISTS}
        return self.fresh(request, replace(page, **lists))


def _linked(asked: Asked, name: str, found: GroupList) -> GroupList:
    """A list that goes on at the API's address."""
    if not found.next_url:
        return found
    alone = replace(asked, query={**asked.query, "list": [name]}, values={**asked.values, "list": name})
    if asked.filters.get("list"):
        return replace(found, next_url=alone.link(found.hits[-1].key))
    # Beside the others a list shows fewer than by itself, so by itself it begins anew.
    return replace(found, next_url=alone.beginning())


class CompareFilters(Filters):
    """The runs to compare."""

    run = serializers.ListField(
        child=serializers.CharField(max_length=300),
        min_length=FEWEST,
        max_length=MOST_COMPARED,
        help_text="A run, by id, digest, or the beginning of one; give it two to eight times.",
    )


class Compare(Read):
    """Compare runs.

    Two to eight of them, side by side: what differs, and which is ahead where they may be compared.
    """

    tag = TAG
    name = "compareRuns"
    takes = Takes(CompareFilters)
    problems = (410,)
    budget = COSTLY

    @classmethod
    def response_schema(cls) -> Schema:
        return components.ref(ComparePage)

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)
        ids = _chosen(asked.values["run"])
        return self.evidence(request, lambda: there(compare(ids), "One of these runs is no longer published."))


def _chosen(references: Sequence[str]) -> tuple[UUID, ...]:
    found = choices(references)
    wrong = [each for each in found if each.problem]
    if not wrong:
        return tuple(each.run for each in found if each.run)
    faults = [Fault(f"run.{place}", each.problem) for place, each in enumerate(found) if each.problem]
    status = max(each.status for each in wrong)
    if status == 404:
        raise Http404(" ".join(fault.detail for fault in faults))
    raise Problem("REMOVED" if status == 410 else "INVALID_PARAMETER", faults=faults)


class WorkloadBody(Body):
    """A workload to look up."""

    operation = serializers.CharField(max_length=200, help_text="The name, alias or slug of an operation.")
    axes = serializers.DictField(
        child=serializers.IntegerField(min_value=0, max_value=LARGEST),
        allow_empty=False,
        help_text="Sizes by the names of axes.",
    )
    dtype = serializers.CharField(max_length=100, required=False, help_text="A dtype; any, without it.")
    gpu = serializers.CharField(
        max_length=200, required=False, help_text="A GPU, as people call it: `h100`. Any, without it."
    )

    def validate_axes(self, axes: dict[str, int]) -> dict[str, int]:
        if len(axes) > MOST_AXES or any(not name or len(name) > 100 or "\x00" in name for name in axes):
            raise serializers.ValidationError(f"At most {MOST_AXES} axes, with names of at most 100 characters.")
        return axes


class ResolveBody(Body):
    """The workloads to look up."""

    workloads = serializers.ListField(
        child=WorkloadBody(), min_length=1, max_length=MOST, help_text=f"At most {MOST} of them."
    )
    near = serializers.IntegerField(
        min_value=0, max_value=MOST_NEAR, default=3, help_text="How many near misses of each kind to name."
    )


class Resolve(Endpoint):
    """Look up workloads.

    For each of up to 50 workloads: the comparison groups that match it exactly, each with its best run and that run's
    evidence level, and near misses with what differs. Groups are not ranked against one another. Ten workloads count
    as one request of the costly budget.
    """

    tag = TAG
    name = "resolveWorkloads"
    body = ResolveBody
    budget = COSTLY
    http_method_names = ["post", "options"]

    @classmethod
    def response_schema(cls) -> Schema:
        return components.ref(Resolution)

    def post(self, request: Request) -> HttpResponse:
        self.asked(request)
        given = ResolveBody(data=request.data)
        given.is_valid(raise_exception=True)
        asked = given.validated_data
        more = (len(asked["workloads"]) - 1) // _WORKLOADS_A_UNIT
        if more:
            self.charge(request, more)
        workloads = [Workload(**each) for each in asked["workloads"]]
        body = dumps(resolve(workloads, near=asked["near"]))
        return HttpResponse(body, content_type="application/json", headers={"Cache-Control": "no-store"})
