"""Controlled reruns, and the runners that measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from runs.api.endpoint import Read, narrowed
from runs.api.limits import READ
from runs.api.parameters import Filters, Takes, Text
from runs.api.schemas import Schema, chosen_of, components, field_names, list_of
from runs.reads.cursors import parse_cursor
from runs.reads.lookup import parse_id
from runs.reads.reruns.listing import rerun_list, verdict_table
from runs.reads.reruns.page import rerun_page
from runs.reads.reruns.values import RerunPage, RerunRow, VerdictTable
from runs.reads.reruns.words import STATES, VERDICTS
from runs.reads.runners import RunnerPage, RunnerRow, runner_page, runner_rows
from runs.views.shown import there

TAG: Final = "Controlled reruns"
_NO_RERUN: Final = "There is no rerun with this id."


class RerunFilters(Filters):
    """What a list of reruns can be narrowed to."""

    state = serializers.ChoiceField(choices=STATES, required=False, help_text="How far the rerun has come.")
    verdict = serializers.ChoiceField(choices=VERDICTS, required=False, help_text="What it says about the claim.")
    product = Text("The GPU that it ran on, by its product name.", max_length=100)
    runner = Text("The name of a runner.", max_length=100)


class RerunAll(Read):
    """List controlled reruns.

    The latest first, failures included. `include=table` adds all verdicts by operation and GPU.
    """

    tag = TAG
    name = "listReruns"
    takes = Takes(RerunFilters, fields=field_names(RerunRow), include=("table",), paged=True, sized=True)
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        listed = list_of("RerunListed", chosen_of(RerunRow))
        table = {"type": "object", "properties": {"table": components.ref(VerdictTable)}, "additionalProperties": False}
        components.schemas["RerunListed"]["properties"]["included"] = table
        return listed

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)
        found = rerun_list(asked.filters, parse_cursor(asked.token) if asked.token else None, asked.limit)
        listed: dict[str, Any] = {
            "rows": [narrowed(row, asked.fields) for row in found.rows],
            "next": asked.link(found.next),
            "previous": asked.link(found.previous),
        }
        if "table" in asked.include:
            listed["included"] = {"table": verdict_table()}
        return self.fresh(request, listed)


class RerunOne(Read):
    """Get a controlled rerun.

    Verdict, figures, checks, telemetry and signatures. Ask again while `open` is true, with If-None-Match.
    """

    tag = TAG
    name = "getRerun"
    takes = Takes(fields=field_names(RerunPage))
    path_parameters = {"id": "The id of the rerun."}
    problems = (410,)
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return chosen_of(RerunPage)

    def get(self, request: Request, id: str) -> HttpResponse:
        asked = self.asked(request)
        rerun_id: UUID = there(parse_id(id), _NO_RERUN)
        return self.fresh(request, narrowed(there(rerun_page(rerun_id), _NO_RERUN), asked.fields))


class RunnerAll(Read):
    """List runners.

    By name, revoked ones included.
    """

    tag = TAG
    name = "listRunners"
    takes = Takes(fields=field_names(RunnerRow))
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return list_of("RunnerListed", chosen_of(RunnerRow), back=False)

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)
        return self.fresh(request, {"rows": [narrowed(row, asked.fields) for row in runner_rows()], "next": None})


class RunnerOne(Read):
    """Get a runner.

    Its key with the decisions about it, and a page of its calibrations; `older` is the address of the next.
    """

    tag = TAG
    name = "getRunner"
    takes = Takes(fields=field_names(RunnerPage), paged=True)
    path_parameters = {"name": "The name of the runner."}
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return chosen_of(RunnerPage)

    def get(self, request: Request, name: str) -> HttpResponse:
        asked = self.asked(request)
        found: Any = runner_page(name.replace("\x00", ""), parse_cursor(asked.token) if asked.token else None)
        page = there(found, "There is no runner with this name.")
        return self.fresh(request, narrowed(replace(page, older=asked.link(page.older)), asked.fields))
