"""Runs."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpResponse
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request

from kernelindex.pages import Version, respond
from runs import citation
from runs.api.endpoint import Read, narrowed, plain_request, with_included
from runs.api.limits import READ
from runs.api.parameters import Asked, Filters, Takes, Text
from runs.api.problems import Problem
from runs.api.schemas import Schema, chosen_of, components, field_names, list_of
from runs.manifests.kinds.run import STATUSES
from runs.reads.cursors import parse_cursor
from runs.reads.filters import LEVELS, Selection
from runs.reads.groups import GroupPage, group_page
from runs.reads.lookup import parse_digest, parse_id, runs_with_digest
from runs.reads.run_list import group_size, run_list
from runs.reads.run_page import changed_at, run_page, run_state
from runs.reads.tallies import tallies
from runs.reads.values import RunPage, RunRow
from runs.views.json import JSON, dumps

TAG: Final = "Runs"
REFERENCE: Final = "The id of a run, its digest, or 12 or more of the hexadecimal digits that the digest begins with."


class RunFilters(Filters):
    """What a list of runs can be narrowed to."""

    operation = Text("The slug of an operation.")
    family = Text("A family of operations, such as `rmsnorm`.")
    hardware = Text("The slug of a GPU, such as `nvidia-h100-pcie`.")
    source = Text("The slug of a source.")  # type: ignore[assignment] # a field of the serializer, not its argument
    status = serializers.ChoiceField(choices=STATUSES, required=False, help_text="Whether the run passed, or how not.")
    level = serializers.ChoiceField(choices=LEVELS, required=False, help_text="The evidence level.")
    group = Text("A comparison key, in full. The runs then come by rank.")
    q = Text("Words in names of the operation or the implementation.")


class RunList(Read):
    """List runs.

    The latest first; with `group`, those of one comparison group by rank. `total` is null where counting would mean
    reading all of them.
    """

    tag = TAG
    name = "listRuns"
    takes = Takes(RunFilters, fields=field_names(RunRow), paged=True, sized=True)
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        more: dict[str, Schema] = {
            "total": {"type": ["integer", "null"]},
            "notes": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Sentences on filters that nothing meets.",
            },
        }
        return list_of("RunList", chosen_of(RunRow), more=more)

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)
        return self.evidence(request, lambda: self.page(asked))

    def page(self, asked: Asked) -> Any:
        """One page, from the read of the page that people see."""
        chosen = Selection(asked.filters)
        page = run_list(chosen, parse_cursor(asked.token) if asked.token else None, asked.limit)
        counts = tallies()
        total = chosen.total(counts)
        if chosen.group and len(chosen.values) == 1:
            total = group_size(chosen.group) or 0
        return {
            "total": total,
            "notes": chosen.notes(counts),
            "rows": [narrowed(row, asked.fields) for row in page.rows],
            "next": asked.link(page.next),
            "previous": asked.link(page.previous),
        }


class RunOne(Read):
    """Get a run.

    All that its page shows: measurement, standing, identity, workload, protocol, environment, reruns, manifest.
    """

    tag = TAG
    name = "getRun"
    takes = Takes(fields=field_names(RunPage), include=("group", "citation"))
    path_parameters = {"reference": REFERENCE}
    problems = (410,)
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        forms = {form: {"type": "string"} for form in citation.FORMS}
        cited = {"type": "object", "properties": forms, "required": list(forms), "additionalProperties": False}
        return chosen_of(RunPage, include={"group": components.ref(GroupPage), "citation": cited})

    def get(self, request: Request, reference: str) -> HttpResponse:
        asked = self.asked(request)
        run_id = run_of(reference)
        if "citation" in asked.include:  # names the day of access
            return self.fresh(request, self.whole(run_id, asked))
        if asked.include:
            return self.evidence(request, lambda: self.whole(run_id, asked))
        state = run_state(run_id)
        if state is None:
            raise Http404("There is no run with this id.")
        version = Version(tuple(map(str, state)), changed_at(state))

        def make() -> tuple[Version, bytes]:
            found = run_page(run_id)
            if found is None:
                raise Http404("There is no run with this id.")
            page, current = found
            return Version(tuple(map(str, current)), changed_at(current)), dumps(narrowed(page, asked.fields))

        name = ("api", "run", run_id, asked.fields)
        return respond(plain_request(request), name=name, version=version, make=make, content_type=JSON)

    def whole(self, run_id: UUID, asked: Asked) -> Any:
        """The run with what was asked to come along."""
        found = run_page(run_id)
        if found is None:
            raise Http404("There is no run with this id.")
        page = found[0]
        included: dict[str, Any] = {}
        if "group" in asked.include:
            included["group"] = _group(page.comparison_key)
        if "citation" in asked.include:
            cited = citation.citation(page, timezone.now().date())
            included["citation"] = {form: written.write(cited) for form, written in citation.FORMS.items()}
        return with_included(page, asked.fields, included)


def _group(key: str) -> GroupPage | None:
    """The first page of a group. It goes on at the group's own address."""
    page = group_page(key)
    return without_pages(page) if page else None


def without_pages(page: GroupPage) -> GroupPage:
    """A group without cursors, which belong to the group's own address alone."""
    return GroupPage(**{**{name: getattr(page, name) for name in field_names(GroupPage)}, "next": None})


def run_of(reference: str) -> UUID:
    """The run that is meant. Raises Http404, and Problem where several begin so."""
    run_id = parse_id(reference)
    if run_id:
        return run_id
    digits = parse_digest(reference)
    found = runs_with_digest(digits) if digits else ()
    if not found:
        raise Http404("There is no run with this id or digest.")
    if len(found) > 1:
        raise Problem("AMBIGUOUS")
    return found[0]
