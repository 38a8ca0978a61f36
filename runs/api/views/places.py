"""Hardware, environments and protocols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Final

from django.http import HttpResponse
from rest_framework.request import Request

from runs.api.endpoint import Read, narrowed
from runs.api.limits import READ
from runs.api.parameters import Takes
from runs.api.schemas import Schema, chosen_of, field_names, list_of
from runs.reads.environments import EnvironmentPage, ListedEnvironment, environment_list, environment_page
from runs.reads.hardware import HardwarePage, HardwareRow, hardware_list, hardware_page
from runs.reads.protocols import ListedProtocol, ProtocolPage, protocol_list, protocol_page
from runs.views.shown import there

HARDWARE: Final = "Hardware"
HOW: Final = "Environments and protocols"
_REFERENCE: Final = "The id, the digest, or 12 or more of the hexadecimal digits that the digest begins with."


class _Listed(Read):
    """A list that is read by places."""

    budget = READ
    row: ClassVar[type]
    read: ClassVar[Callable[[str], Any]]
    component: ClassVar[str]

    @classmethod
    def response_schema(cls) -> Schema:
        return list_of(cls.component, chosen_of(cls.row), back=False)

    def get(self, request: Request) -> HttpResponse:
        asked = self.asked(request)

        def page() -> Any:
            found = type(self).read(asked.token)
            return {"rows": [narrowed(row, asked.fields) for row in found.rows], "next": asked.link(found.next)}

        return self.evidence(request, page)


class HardwareAll(_Listed):
    """List hardware.

    The GPUs that were measured on, with what their vendors state.
    """

    tag = HARDWARE
    name = "listHardware"
    takes = Takes(fields=field_names(HardwareRow), paged=True)
    row, component = HardwareRow, "HardwareListed"
    read = staticmethod(hardware_list)


class HardwareOne(Read):
    """Get a GPU.

    Its data sheet, its environments, and what was measured on it.
    """

    tag = HARDWARE
    name = "getHardware"
    takes = Takes(fields=field_names(HardwarePage))
    path_parameters = {"slug": "The slug of the GPU."}
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return chosen_of(HardwarePage)

    def get(self, request: Request, slug: str) -> HttpResponse:
        asked = self.asked(request)
        otherwise = "No run was measured on hardware of this name."
        return self.evidence(request, lambda: narrowed(there(hardware_page(slug), otherwise), asked.fields))


class EnvironmentAll(_Listed):
    """List execution environments.

    By title.
    """

    tag = HOW
    name = "listEnvironments"
    takes = Takes(fields=field_names(ListedEnvironment), paged=True)
    row, component = ListedEnvironment, "EnvironmentListed"
    read = staticmethod(environment_list)


class ProtocolAll(_Listed):
    """List benchmark protocols.

    By title.
    """

    tag = HOW
    name = "listProtocols"
    takes = Takes(fields=field_names(ListedProtocol), paged=True)
    row, component = ListedProtocol, "ProtocolListed"
    read = staticmethod(protocol_list)


class _Referred(Read):
    """A record that is addressed by its digest, with a page of its runs."""

    tag = HOW
    path_parameters = {"reference": _REFERENCE}
    budget = READ
    page: ClassVar[type]
    read: ClassVar[Callable[[str, str], Any]]

    @classmethod
    def response_schema(cls) -> Schema:
        return chosen_of(cls.page)

    def get(self, request: Request, reference: str) -> HttpResponse:
        asked = self.asked(request)

        def page() -> Any:
            found = there(type(self).read(reference, asked.token), "There is no such record with this digest.")
            runs = replace(found.runs, next=asked.link(found.runs.next), previous=asked.link(found.runs.previous))
            return narrowed(replace(found, runs=runs), asked.fields)

        return self.evidence(request, page)


class EnvironmentOne(_Referred):
    """Get an execution environment.

    Its manifest, and a page of its runs, the latest first; `runs.next` is the address of the next.
    """

    name = "getEnvironment"
    takes = Takes(fields=field_names(EnvironmentPage), paged=True)
    page = EnvironmentPage
    read = staticmethod(environment_page)


class ProtocolOne(_Referred):
    """Get a benchmark protocol.

    Its manifest, and a page of its runs, the latest first; `runs.next` is the address of the next.
    """

    name = "getProtocol"
    takes = Takes(fields=field_names(ProtocolPage), paged=True)
    page = ProtocolPage
    read = staticmethod(protocol_page)
