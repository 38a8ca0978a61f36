"""JSON Schemas of the record format."""

from __future__ import annotations

from functools import cache

import orjson
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from kernelindex.build import build
from kernelindex.methods import read_only
from kernelindex.pages import Version, respond
from runs.manifests.manifest import API_VERSION
from runs.manifests.schemas import KINDS, json_schema
from runs.views.json import json_response


@read_only
def index(request: HttpRequest) -> HttpResponse:
    """The kinds of record and where the schema of each is."""
    return json_response(
        {
            "apiVersion": API_VERSION,
            "schemas": {kind: settings.BASE_URL + reverse("schema", args=[kind]) for kind in KINDS},
        }
    )


@read_only
def schema(request: HttpRequest, kind: str) -> HttpResponse:
    """The JSON Schema of one kind."""
    if kind not in KINDS:
        raise Http404(f"There is no kind {kind}. The kinds are {', '.join(KINDS)}.")
    version = Version((), build()[1])
    return respond(
        request,
        name=("schema", kind),
        version=version,
        make=lambda: (version, _written(kind)),
        content_type="application/schema+json",
    )


@cache
def _written(kind: str) -> bytes:
    address = settings.BASE_URL + reverse("schema", args=[kind])
    return orjson.dumps({"$id": address, **json_schema(kind)}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
