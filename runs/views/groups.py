"""Comparison groups: the page of one, its JSON and CSV, its picture, and the ways to it by the beginning of its key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse

from kernelindex.meta import Meta
from kernelindex.methods import read_only
from kernelindex.negotiation import wants_json
from kernelindex.pages import Version, is_anonymous, personal, respond
from runs import charts
from runs.reads.format import figure
from runs.reads.groups import (
    GroupPage,
    GroupRow,
    State,
    bars,
    candidates,
    changed_at,
    group_keys,
    group_page,
    group_state,
)
from runs.reads.lookup import SHORTEST_PREFIX, is_short, parse_digest
from runs.reads.run_list import PAGE_SIZE
from runs.views.charts import drawn
from runs.views.json import JSON, dumps, json_response
from runs.views.shown import HTML, read
from runs.views.tables import CSV, csv_bytes

CSV_ROWS: Final = 10_000
_UNKNOWN: Final = "There is no comparison group with this key."
_KINDS: Final = {"html": HTML, "json": JSON, "csv": CSV}
_COLUMNS: Final = (
    "rank",
    "others_at_this_rank",
    "implementation",
    "project",
    "licence",
    "metric",
    "statistic",
    "unit",
    "value",
    "ratio_to_first",
    "spread",
    "spread_low",
    "spread_high",
    "samples",
    "status",
    "evidence_level",
    "disputed",
    "illustrative",
    "reasons",
    "observed_at",
    "published_at",
    "source",
    "run",
    "digest",
    "url",
)


@read_only
def group(request: HttpRequest, key: str, form: str = "html") -> HttpResponse:
    """A comparison group as a page (or JSON for a client that asks for it), as JSON, or as CSV."""
    found = _find(request, key, form)
    if isinstance(found, HttpResponse):
        return found
    if form == "html" and wants_json(request):
        form = "json"
    cursor = request.GET.get("cursor", "")
    if form == "html" and not is_anonymous(request):
        return personal(render(request, "runs/group.html", _context(_page(found, cursor, form), cursor)))
    state = group_state(found)
    if state is None:
        raise Http404(_UNKNOWN)

    def make() -> tuple[Version, bytes]:
        # The state is read before the page: what is published in between makes the page newer than its version says,
        # and the next request sees that the version has changed.
        before = group_state(found)
        if before is None:
            raise Http404(_UNKNOWN)
        return _version(before), _FORMS[form](_page(found, cursor, form), cursor)

    response = respond(
        request, name=("group", form, found, cursor), version=_version(state), make=make, content_type=_KINDS[form]
    )
    if form == "csv":
        response.headers["Content-Disposition"] = f'attachment; filename="group-{found[7:23]}.csv"'
    return response


@read_only
def bars_svg(request: HttpRequest, key: str) -> HttpResponse:
    """The first runs of a group as bars with their spread."""
    found = _find(request, key, "svg")
    if isinstance(found, HttpResponse):
        return found

    def make() -> charts.Chart:
        page = group_page(found)
        picture = bars(page) if page else None
        if picture is None:
            raise Http404("There is nothing to draw: fewer than two runs of the group rank.")
        return picture

    return drawn(request, make)


def _find(request: HttpRequest, reference: str, form: str) -> str | HttpResponse:
    """The key that is meant; or the answer that leads to it, or lists those that may be meant."""
    digits = parse_digest(reference)
    if digits is None:
        short = is_short(reference) or is_short(f"sha256:{reference}")
        raise Http404(
            f"The beginning of a comparison key needs at least {SHORTEST_PREFIX} hexadecimal digits."
            if short
            else "A comparison key is sha256: and 64 hexadecimal digits, or the beginning of them."
        )
    if reference == f"sha256:{digits}" and len(digits) == 64:
        return reference
    keys = group_keys(digits)
    if not keys:
        raise Http404(_UNKNOWN)
    if len(keys) == 1:
        query = request.META.get("QUERY_STRING", "")
        return redirect(_address(keys[0], form) + (f"?{query}" if query else ""))
    return _ambiguous(request, digits, form)


def _ambiguous(request: HttpRequest, digits: str, form: str) -> HttpResponse:
    rows = candidates(digits)
    prefix = f"sha256:{digits}"
    if form != "html" or wants_json(request):
        return json_response({"prefix": prefix, "candidates": rows}, status=300)
    meta = Meta(
        f"Several comparison keys begin with {prefix}",
        f"More than one comparison group has a key that begins with {prefix}.",
        settings.BASE_URL + reverse("group", args=[prefix]),
    )
    return render(
        request, "runs/group_candidates.html", {"candidates": rows, "prefix": prefix, "meta": meta}, status=300
    )


def _address(key: str, form: str, cursor: str = "") -> str:
    name = {"html": "group", "svg": "group-bars"}.get(form, f"group-{form}")
    return reverse(name, args=[key]) + (f"?{urlencode({'cursor': cursor})}" if cursor else "")


def _version(state: State) -> Version:
    return Version(tuple(map(str, state)), changed_at(state))


def _page(key: str, cursor: str, form: str) -> GroupPage:
    page = read(lambda: group_page(key, cursor, CSV_ROWS if form == "csv" else PAGE_SIZE))
    if page is None:
        raise Http404(_UNKNOWN)
    return page


def _html(page: GroupPage, cursor: str) -> bytes:
    # Without the request: nothing of who asked, or how, can get into a page that others will be given.
    return render_to_string("runs/group.html", _context(page, cursor)).encode()


def _csv(page: GroupPage, _: str) -> bytes:
    return csv_bytes(_COLUMNS, map(_cells, page.rows))


_FORMS: Final[dict[str, Callable[[GroupPage, str], bytes]]] = {
    "html": _html,
    "json": lambda page, _: dumps(page),
    "csv": _csv,
}


def _cells(row: GroupRow) -> tuple[Any, ...]:
    run, spread = row.run, row.spread
    primary = run.primary
    return (
        run.rank,
        row.shared if run.rank else None,
        row.implementation.name,
        row.project.name if row.project else None,
        row.licence,
        *((primary.metric, primary.statistic, primary.unit, primary.value) if primary else [None] * 4),
        row.ratio,
        *((spread.kind, spread.low, spread.high) if spread else [None] * 3),
        primary.samples if primary else None,
        run.status,
        run.level,
        run.disputed,
        run.illustrative,
        " ".join(reason.code for reason in row.reasons),
        run.observed_at,
        run.published_at,
        run.source.name,
        run.id,
        run.digest,
        settings.BASE_URL + reverse("run", args=[run.id]),
    )


def _context(page: GroupPage, cursor: str) -> dict[str, Any]:
    picture = None if cursor else bars(page)
    first = f"The first: {figure(page.first_value)}. " if page.first_value else ""
    json_url = _address(page.key, "json", cursor)
    return {
        "page": page,
        "ranked": [row for row in page.rows if row.run.rank],
        "unranked": [row for row in page.rows if not row.run.rank],
        "chart": {"picture": picture, "url": f"{_address(page.key, 'svg')}?v={charts.digest(picture)}"}
        if picture
        else None,
        "begins": not cursor,
        "json_url": json_url,
        "csv_url": _address(page.key, "csv"),
        "csv_rows": CSV_ROWS,
        "next_url": _address(page.key, "html", page.next) if page.next else None,
        "previous_url": _address(page.key, "html", page.previous) if page.previous else None,
        "meta": Meta(
            f"Comparison group · {page.operation.name} · {page.hardware.name}",
            f"{page.ranked_count:,} ranked of {page.run_count:,} runs of {page.operation.name}, {page.workload}, on "
            f"{page.hardware.name}. {first}{page.protocol.name}.",
            settings.BASE_URL + _address(page.key, "html", cursor),
            json_url,
        ),
    }
