"""Lists of runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from kernelindex.meta import Meta
from kernelindex.methods import read_only
from kernelindex.negotiation import wants_json
from runs.reads.cursors import Cursor, InvalidCursor, parse_cursor
from runs.reads.filters import LABELS, Selection, filters, selection
from runs.reads.run_list import group_size, run_list
from runs.reads.tallies import Tallies, tallies
from runs.reads.values import Page
from runs.views.json import json_response


@dataclass(frozen=True, slots=True)
class _Listing:
    """A page of a list with what surrounds it."""

    chosen: Selection
    page: Page
    total: int | None
    notes: tuple[str, ...]
    cursor: str
    counts: Tallies

    def url(self, name: str, cursor: str | None = None, without: str = "") -> str:
        query = {key: value for key, value in self.chosen.values.items() if key != without}
        if cursor:
            query["cursor"] = cursor
        return reverse(name) + (f"?{urlencode(query)}" if query else "")

    def turn(self, name: str, cursor: str | None) -> str | None:
        return self.url(name, cursor) if cursor else None


@read_only
def runs(request: HttpRequest) -> HttpResponse:
    """The runs, the latest first, narrowed by filters; those of one comparison group by rank."""
    if wants_json(request):
        return runs_json(request)
    listing = _listing(request)
    response = render(request, "runs/run_list.html", _context(listing))
    patch_vary_headers(response, ["Accept"])
    return response


@read_only
def runs_json(request: HttpRequest) -> HttpResponse:
    """The same list for programs."""
    listing = _listing(request)
    return json_response(
        {
            "filters": dict(listing.chosen.values),
            "notes": listing.notes,
            "total": listing.total,
            "rows": listing.page.rows,
            "next": listing.turn("runs-json", listing.page.next),
            "previous": listing.turn("runs-json", listing.page.previous),
        }
    )


def _listing(request: HttpRequest) -> _Listing:
    chosen = selection(request.GET)
    token = request.GET.get("cursor", "")
    try:
        cursor: Cursor | None = parse_cursor(token) if token else None
        page = run_list(chosen, cursor)
    except InvalidCursor:
        raise BadRequest("The cursor belongs to no page of this list. Begin again without it.") from None
    counts = tallies()
    total, notes = chosen.total(counts), chosen.notes(counts)
    if chosen.group:
        size = group_size(chosen.group)
        if size is None:
            notes = (*notes, "No published run has this comparison key.")
        if len(chosen.values) == 1:
            total = size or 0
    return _Listing(chosen, page, total, notes, token, counts)


def _context(listing: _Listing) -> dict[str, Any]:
    chosen = listing.chosen
    active = tuple(
        (LABELS[name], chosen.shown(name, listing.counts), listing.url("runs", without=name)) for name in chosen.values
    )
    narrowed = " · ".join(f"{label} {value}" for label, value, _ in active)
    json_url = listing.url("runs-json", listing.cursor)
    return {
        "page": listing.page,
        "total": listing.total,
        "notes": listing.notes,
        "filters": filters(chosen, listing.counts),
        "active": active,
        "query": chosen.values.get("q", ""),
        "next_url": listing.turn("runs", listing.page.next),
        "previous_url": listing.turn("runs", listing.page.previous),
        "json_url": json_url,
        "meta": Meta(
            f"Runs · {narrowed}" if narrowed else "Runs",
            f"Benchmark runs of GPU kernels{f': {narrowed}' if narrowed else ', the latest first'}.",
            settings.BASE_URL + listing.url("runs", listing.cursor),
            json_url,
        ),
    }
