"""Operations, implementations, projects and sources."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from django.http import Http404, HttpResponse
from rest_framework.request import Request

from runs.api.endpoint import Read, narrowed, with_included
from runs.api.limits import READ
from runs.api.parameters import Asked, Filters, Takes, Text
from runs.api.problems import Fault, Problem
from runs.api.schemas import Schema, chosen_of, components, field_names, list_of
from runs.reads.implementations import ImplementationPage, ImplementationRow, implementation_list, implementation_page
from runs.reads.operations.choice import Choice, UnknownChoice
from runs.reads.operations.listing import operation_list
from runs.reads.operations.page import operation_page
from runs.reads.operations.values import OperationList, OperationPage
from runs.reads.overview import source_rows
from runs.reads.projects import ProjectPage, ProjectRow, project_list, project_page
from runs.reads.sources import SourcePage, source_page
from runs.reads.values import SourceRow
from runs.views.shown import there

OPERATIONS: Final = "Operations"
IMPLEMENTATIONS: Final = "Implementations and projects"
SOURCES: Final = "Sources"
_AT: Final = re.compile(r"[a-z][a-z0-9_]{0,99}=\d{1,18}(,[a-z][a-z0-9_]{0,99}=\d{1,18}){0,15}")


class OperationAll(Read):
    """List operations.

    By family, with how many runs, comparison groups, workloads and environments there are of each.
    """

    tag = OPERATIONS
    name = "listOperations"
    takes = Takes(paged=True)
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return components.ref(OperationList)

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)

        def page() -> OperationList:
            found = operation_list(asked.token)
            return replace(found, next=asked.link(found.next))

        return self.evidence(request, page)


class OperationFilters(Filters):
    """What the page of an operation can be narrowed to. Its own answer lists the values that there are."""

    measured = Text("A way of measuring: the value of one of `measured` in the answer.")
    environment = Text("An environment: the value of one of `environments` in the answer.")
    along = Text("The axis of the scaling figure.")
    dtype = Text("A dtype.")
    at = Text("Axes that are held at a size: `hidden=4096,batch=8`.", max_length=2_000)


class OperationOne(Read):
    """Get an operation.

    What it computes, the first of each comparison group by workload and GPU, how it scales, and what nobody measured.
    `coverage.next` is the address of the table's next page.
    """

    tag = OPERATIONS
    name = "getOperation"
    takes = Takes(OperationFilters, fields=field_names(OperationPage), paged=True)
    path_parameters = {"slug": "The slug of the operation."}
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return chosen_of(OperationPage)

    def get(self, request: Request, slug: str) -> HttpResponse:
        asked = self.asked(request)
        choice = _choice(asked)
        return self.evidence(request, lambda: narrowed(self.page(slug, choice, asked), asked.fields))

    def page(self, slug: str, choice: Choice, asked: Asked) -> OperationPage:
        """The operation with the cursor that the API gives out."""
        try:
            page = there(operation_page(slug, choice), "There is no operation of this name.")
        except UnknownChoice:
            raise Http404("Nothing of this operation was measured so.") from None
        return replace(page, coverage=replace(page.coverage, next=asked.link(page.coverage.next)))


def _choice(asked: Asked) -> Choice:
    values = dict(asked.filters)
    at = values.pop("at", "")
    if at and not _AT.fullmatch(at):
        raise Problem("INVALID_PARAMETER", faults=[Fault("at", "Write axes and sizes as hidden=4096,batch=8.")])
    pairs = (pair.split("=") for pair in at.split(",") if pair)
    return Choice(**values, after=asked.token, at=tuple(sorted((name, int(size)) for name, size in pairs)))


class ImplementationAll(Read):
    """List implementations.

    By name.
    """

    tag = IMPLEMENTATIONS
    name = "listImplementations"
    takes = Takes(fields=field_names(ImplementationRow), paged=True)
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return list_of("ImplementationListed", chosen_of(ImplementationRow), back=False)

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)

        def page() -> Any:
            found = implementation_list(asked.token)
            return {"rows": [narrowed(row, asked.fields) for row in found.rows], "next": asked.link(found.next)}

        return self.evidence(request, page)


class ImplementationFilters(Filters):
    """What the results of an implementation can be narrowed to."""

    hardware = Text("The slug of a GPU.")


class ImplementationOne(Read):
    """Get an implementation.

    Where it comes from, and its best run in each comparison group. `next` is the address of the next page of these.
    """

    tag = IMPLEMENTATIONS
    name = "getImplementation"
    takes = Takes(ImplementationFilters, fields=field_names(ImplementationPage), include=("project",), paged=True)
    path_parameters = {"slug": "The slug of the implementation."}
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        project = {"anyOf": [components.ref(ProjectPage), {"type": "null"}]}
        return chosen_of(ImplementationPage, include={"project": project})

    def get(self, request: Request, slug: str) -> HttpResponse:
        asked = self.asked(request)

        def page() -> Any:
            found = implementation_page(slug, asked.filters.get("hardware", ""), asked.token)
            shown = there(found, "There is no implementation of this name.")
            shown = replace(shown, next=asked.link(shown.next))
            included = {"project": _project(shown)} if "project" in asked.include else {}
            return with_included(shown, asked.fields, included)

        return self.evidence(request, page)


def _project(page: ImplementationPage) -> ProjectPage | None:
    found = project_page(page.project.slug) if page.project else None
    # The list goes on at the project's own address.
    return replace(found, implementations=replace(found.implementations, next=None)) if found else None


class ProjectAll(Read):
    """List projects.

    The software projects that implementations come from, by name.
    """

    tag = IMPLEMENTATIONS
    name = "listProjects"
    takes = Takes(fields=field_names(ProjectRow), paged=True)
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return list_of("ProjectListed", chosen_of(ProjectRow), back=False)

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)

        def page() -> Any:
            found = project_list(asked.token)
            return {"rows": [narrowed(row, asked.fields) for row in found.rows], "next": asked.link(found.next)}

        return self.evidence(request, page)


class ProjectOne(Read):
    """Get a project.

    With a page of its implementations; `implementations.next` is the address of the next.
    """

    tag = IMPLEMENTATIONS
    name = "getProject"
    takes = Takes(fields=field_names(ProjectPage), paged=True)
    path_parameters = {"slug": "The slug of the project."}
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return chosen_of(ProjectPage)

    def get(self, request: Request, slug: str) -> HttpResponse:
        asked = self.asked(request)

        def page() -> Any:
            found = there(project_page(slug, asked.token), "There is no project of this name.")
            listed = replace(found.implementations, next=asked.link(found.implementations.next))
            return narrowed(replace(found, implementations=listed), asked.fields)

        return self.evidence(request, page)


class SourceAll(Read):
    """List sources.

    All of them, with their terms and the files that were read.
    """

    tag = SOURCES
    name = "listSources"
    takes = Takes(fields=field_names(SourceRow))
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return list_of("SourceList", chosen_of(SourceRow), back=False)

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)
        return self.evidence(
            request, lambda: {"rows": [narrowed(row, asked.fields) for row in source_rows()], "next": None}
        )


class SourceOne(Read):
    """Get a source.

    What came from it, how fresh it is, and under which terms.
    """

    tag = SOURCES
    name = "getSource"
    takes = Takes(fields=field_names(SourcePage))
    path_parameters = {"slug": "The slug of the source."}
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return chosen_of(SourcePage)

    def get(self, request: Request, slug: str) -> HttpResponse:
        asked = self.asked(request)
        return self.evidence(
            request, lambda: narrowed(there(source_page(slug), "There is no source of this name."), asked.fields)
        )
