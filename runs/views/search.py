"""The search: its page, its JSON, and the suggestions while a query is typed."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from kernelindex.meta import Meta
from kernelindex.negotiation import wants_json
from runs.reads.lookup import is_short, parse_digest, parse_id
from runs.reads.search.links import search_url
from runs.reads.search.query import MAX_LENGTH
from runs.reads.search.results import UnknownPlace
from runs.reads.search.results import search as find
from runs.reads.search.suggestions import suggest
from runs.reads.search.values import SearchPage
from runs.views.json import json_response


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """What matches a query, in four lists. An id or a digest leads to its run."""
    text = request.GET.get("q", "").strip()
    reference = _reference(text)
    if reference:
        return redirect("run-by-reference", reference=reference)
    if wants_json(request):
        return search_json(request)
    response = render(request, "search.html", _context(_results(request), request))
    patch_vary_headers(response, ["Accept"])
    return response


@require_safe
def search_json(request: HttpRequest) -> HttpResponse:
    """The same values for programs."""
    return json_response(_results(request))


@require_safe
def suggestions(request: HttpRequest) -> HttpResponse:
    """What the last word of a query may become."""
    response = json_response({"suggestions": suggest(request.GET.get("q", ""))})
    response.headers["Cache-Control"] = "public, max-age=60"
    return response


def _reference(text: str) -> str | None:
    """The run that somebody looks for by id or digest, however complete; None for a query."""
    digits = parse_digest(text)
    if digits:
        return f"sha256:{digits}"
    return text if parse_id(text) or is_short(text) else None


def _results(request: HttpRequest) -> SearchPage:
    parameters = request.GET
    try:
        return find(parameters.get("q", ""), only=parameters.get("list", ""), after=parameters.get("after", ""))
    except UnknownPlace as error:
        raise BadRequest(
            "This search has no such list, or no such place in it. Begin again with the words alone."
        ) from error


def _context(page: SearchPage, request: HttpRequest) -> dict[str, Any]:
    only = request.GET.get("list", "")
    place = {"list": only, "after": request.GET.get("after", "")}
    address = search_url(page.query, **place)
    json_url = address.replace(reverse("search"), reverse("search-json"), 1)
    return {
        "page": page,
        "only": only,
        "typed": request.GET.get("q", "").strip()[:MAX_LENGTH],
        "whole_url": search_url(page.query),
        "json_url": json_url,
        "meta": Meta(
            f"Search · {page.query}" if page.query else "Search",
            f"Comparison groups of GPU kernel benchmark runs: {page.query}"
            if page.query
            else "Search for comparison groups of GPU kernel benchmark runs by operation, GPU, dtype and size.",
            settings.BASE_URL + address,
            json_url,
        ),
    }
