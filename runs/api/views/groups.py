"""Comparison groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from django.http import Http404, HttpResponse
from rest_framework.request import Request

from kernelindex.pages import Version, respond
from runs.api.endpoint import Read, narrowed, plain_request, with_included
from runs.api.group_list import group_list
from runs.api.limits import READ
from runs.api.parameters import Asked, Filters, Takes, Text
from runs.api.problems import Problem
from runs.api.schemas import Schema, chosen_of, components, field_names, list_of
from runs.reads.groups import GroupPage, changed_at, group_keys, group_page, group_state
from runs.reads.lookup import parse_digest
from runs.reads.records import RecordPage, record_page
from runs.reads.search.values import GroupHit
from runs.views.json import JSON, dumps

TAG: Final = "Comparison groups"
_UNKNOWN: Final = "There is no comparison group with this key."


class GroupFilters(Filters):
    """What a list of groups can be narrowed to."""

    operation = Text("The slug of an operation.")
    hardware = Text("The slug of a GPU.")
    dtype = Text("The dtype of the workload, as the index has it.")


class GroupList(Read):
    """List comparison groups.

    In the order of their keys, each with its first run.
    """

    tag = TAG
    name = "listGroups"
    takes = Takes(GroupFilters, fields=field_names(GroupHit), paged=True, sized=True)
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return list_of("GroupList", chosen_of(GroupHit), back=False)

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)
        return self.evidence(request, lambda: self.page(asked))

    def page(self, asked: Asked) -> Any:
        """One page."""
        rows, after = group_list(asked.filters, asked.token, asked.limit)
        return {"rows": [narrowed(row, asked.fields) for row in rows], "next": asked.link(after)}


class GroupOne(Read):
    """Get a comparison group.

    What it holds constant, and a page of its runs: by rank, then those that do not rank, with the reasons why.
    """

    tag = TAG
    name = "getGroup"
    takes = Takes(fields=field_names(GroupPage), include=("record",), paged=True, sized=True)
    path_parameters = {"key": "A comparison key, or 12 or more of its hexadecimal digits from the first on."}
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return chosen_of(GroupPage, include={"record": components.ref(RecordPage)})

    def get(self, request: Request, key: str) -> HttpResponse:
        asked = self.asked(request)
        found = _key(key)
        if asked.include:
            return self.evidence(request, lambda: self.whole(found, asked))
        state = group_state(found)
        if state is None:
            raise Http404(_UNKNOWN)

        def make() -> tuple[Version, bytes]:
            # Read before the page: what is published in between makes the page newer than its version says.
            before = group_state(found)
            if before is None:
                raise Http404(_UNKNOWN)
            return _version(before), dumps(narrowed(self.page(found, asked), asked.fields))

        plain = plain_request(request)
        name = ("api", "group", plain.get_full_path())
        return respond(plain, name=name, version=_version(state), make=make, content_type=JSON)

    def page(self, key: str, asked: Asked) -> GroupPage:
        """The group with the cursors that the API gives out."""
        page = group_page(key, asked.token, asked.limit)
        if page is None:
            raise Http404(_UNKNOWN)
        return replace(page, next=asked.link(page.next), previous=asked.link(page.previous))

    def whole(self, key: str, asked: Asked) -> Any:
        """The group with the history of its first place."""
        return with_included(self.page(key, asked), asked.fields, {"record": record_page(key.removeprefix("sha256:"))})


def _version(state: tuple[Any, ...]) -> Version:
    return Version(tuple(map(str, state)), changed_at(state))


def _key(reference: str) -> str:
    digits = parse_digest(reference)
    keys = group_keys(digits) if digits else ()
    if not keys:
        raise Http404(_UNKNOWN)
    if len(keys) > 1:
        raise Problem("AMBIGUOUS")
    return keys[0]
