"""The API about itself: its description, the page that people read, and the answer where there is nothing."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import orjson
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from rest_framework.request import Request

from kernelindex.build import build
from kernelindex.meta import Meta
from kernelindex.methods import read_only
from kernelindex.pages import Version, respond
from runs.api.endpoint import Endpoint
from runs.api.limits import COSTLY, READ, WINDOW
from runs.api.openapi import document
from runs.api.problems import KINDS
from runs.api.reference import Reference, reference
from runs.views.json import JSON
from runs.views.shown import HTML

_TITLE: Final = "API reference"


@read_only
def openapi(request: HttpRequest) -> HttpResponse:
    """The description of the API as OpenAPI 3.1. Scripts of other sites may read it."""
    response = _of_build(request, "openapi", lambda: orjson.dumps(document(), option=orjson.OPT_INDENT_2), JSON)
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


@read_only
def reference_page(request: HttpRequest) -> HttpResponse:
    """The description for people. It is the same for everybody, signed in or not."""
    return _of_build(request, "reference", _reference_html, HTML)


def _of_build(request: HttpRequest, name: str, make: Any, content_type: str) -> HttpResponse:
    version = Version((), build()[1])
    return respond(
        request, name=("api", name), version=version, make=lambda: (version, make()), content_type=content_type
    )


def _reference_html() -> bytes:
    context = {
        "reference": _reference(),
        "problems": KINDS,
        "budgets": (READ, COSTLY),
        "window": WINDOW,
        "base": settings.BASE_URL,
        "openapi_url": reverse("api-openapi"),
        "meta": Meta(
            _TITLE,
            "The JSON API of KernelIndex: every address, parameter, answer and error code.",
            settings.BASE_URL + reverse("api-reference"),
            reverse("api-openapi"),
        ),
    }
    return render_to_string("api/reference.html", context).encode()


@cache
def _reference() -> Reference:
    return reference(document())


class Nothing(Endpoint):
    """Whatever address of the API there is not."""

    schema = None  # type: ignore[assignment]
    budget = READ

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Count the request, and answer that there is nothing, whatever its method."""
        self.charge(request)
        raise Http404("There is no such address in this API.")
