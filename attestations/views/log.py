"""The public log of moderation."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from attestations.reads.submissions import public_log
from kernelindex.meta import Meta
from kernelindex.methods import read_only
from kernelindex.negotiation import wants_json
from runs.views.json import json_response


@read_only
def log(request: HttpRequest) -> HttpResponse:
    """What moderators did, newest first: acts and runs, no persons."""
    below = request.GET.get("below")
    if below is not None and not (below.isascii() and below.isdigit() and len(below) < 19):
        raise Http404("below is the number of an entry.")
    found = public_log(int(below) if below else None)
    if wants_json(request):
        return json_response(found)
    meta = Meta(
        "Moderation log",
        "What moderators of KernelIndex decided, and when. It names acts and runs, never persons.",
        settings.BASE_URL + request.path,
    )
    return render(request, "attestations/log.html", {"log": found, "meta": meta})
