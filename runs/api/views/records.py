"""Records: the first of each comparison group, and how it came to be first."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from runs.api.endpoint import Read, narrowed
from runs.api.limits import READ
from runs.api.parameters import Filters, Takes, Text
from runs.api.schemas import Schema, chosen_of, components, field_names, list_of
from runs.reads.lookup import parse_digest
from runs.reads.records import RecordPage, RecordRow, record_list, record_page
from runs.views.shown import there

TAG: Final = "Records"
_UNKNOWN: Final = "There is no comparison group with this key."


class RecordFilters(Filters):
    """What a list of records can be narrowed to."""

    operation = Text("The slug of an operation.")
    hardware = Text("The slug of a GPU.")


class RecordAll(Read):
    """List records.

    The first run of each comparison group, those observed last first, with what it displaced.
    """

    tag = TAG
    name = "listRecords"
    takes = Takes(RecordFilters, fields=field_names(RecordRow), paged=True)
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return list_of("RecordListed", chosen_of(RecordRow))

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)

        def page() -> Any:
            found = record_list(asked.filters, asked.token)
            return {
                "rows": [narrowed(row, asked.fields) for row in found.rows],
                "next": asked.link(found.next),
                "previous": asked.link(found.previous),
            }

        return self.evidence(request, page)


class RecordOne(Read):
    """Get the history of a comparison group's first place.

    Oldest step first.
    """

    tag = TAG
    name = "getRecord"
    path_parameters = {"key": "A comparison key, or 12 or more of its hexadecimal digits from the first on."}
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return components.ref(RecordPage)

    def get(self, request: Request, key: str) -> HttpResponse:
        self.asked(request)
        digits = there(parse_digest(key), _UNKNOWN)
        return self.evidence(request, lambda: there(record_page(digits), _UNKNOWN))
