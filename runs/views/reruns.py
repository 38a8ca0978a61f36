"""Controlled reruns: the list, one rerun with all that was signed, and the keys to check it with."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from kernelindex.meta import Meta
from kernelindex.methods import read_only
from kernelindex.negotiation import wants_json
from kernelindex.pages import Version, is_anonymous, personal, respond
from runs import charts, rerun_charts
from runs.charts import Width
from runs.reads.cursors import Cursor, InvalidCursor, parse_cursor
from runs.reads.reruns import drawings
from runs.reads.reruns.documents import MEDIA_TYPE, Stored, reunite
from runs.reads.reruns.listing import chosen, rerun_list, verdict_table
from runs.reads.reruns.page import State, changed_at, rerun_documents, rerun_page, rerun_state
from runs.reads.reruns.results import samples
from runs.reads.reruns.values import RerunPage
from runs.reruns.documents import bundle
from runs.reruns.documents.job import Job
from runs.reruns.documents.result import Result
from runs.reruns.keyring import key_set
from runs.views.json import JSON, dumps, json_response
from runs.views.tombstones import gone_when_removed

NO_SUCH_RERUN: Final = "There is no rerun with this id."
NOT_YET: Final = {
    "job": "The job of this rerun has not been signed yet.",
    "result": "This rerun has no result.",
}
SVG: Final = "image/svg+xml"
_CHARTS: Final[dict[str, Callable[[Job, Result], rerun_charts.RerunChart | None]]] = {
    "strip": drawings.strip,
    "telemetry": drawings.telemetry,
}


def cursor_of(request: HttpRequest) -> Cursor | None:
    """The cursor in the address, if there is one. Raises BadRequest."""
    token = request.GET.get("cursor", "")
    try:
        return parse_cursor(token) if token else None
    except InvalidCursor:
        raise BadRequest("The cursor belongs to no page of this list. Begin again without it.") from None


@read_only
def reruns(request: HttpRequest) -> HttpResponse:
    """All verdicts by operation and product, and the reruns, the latest first, narrowed by filters."""
    if wants_json(request):
        return reruns_json(request)
    filters, cursor = chosen(request.GET), cursor_of(request)
    page = _page(filters, cursor)
    json_url = _turned("reruns-json", filters, request.GET.get("cursor"))
    narrowed = " · ".join(f"{name} {value.replace('_', ' ')}" for name, value in filters.items())
    response = render(
        request,
        "runs/reruns.html",
        {
            "page": page,
            "table": verdict_table(),
            "filters": filters,
            "first": cursor is None,
            "without": {
                name: _turned("reruns", {key: value for key, value in filters.items() if key != name}, None)
                for name in filters
            },
            "next_url": _turned("reruns", filters, page.next) if page.next else None,
            "previous_url": _turned("reruns", filters, page.previous) if page.previous else None,
            "json_url": json_url,
            "meta": Meta(
                f"Controlled reruns · {narrowed}" if narrowed else "Controlled reruns",
                "Claims that KernelIndex measured again on hardware that it controls, failures included, with the "
                "verdict on each and all verdicts by operation and GPU.",
                settings.BASE_URL + _turned("reruns", filters, request.GET.get("cursor")),
                json_url,
            ),
        },
    )
    patch_vary_headers(response, ["Accept"])
    return response


@read_only
def reruns_json(request: HttpRequest) -> HttpResponse:
    """The same list for programs."""
    filters = chosen(request.GET)
    page = _page(filters, cursor_of(request))
    return json_response(
        {
            "filters": filters,
            "table": verdict_table(),
            "rows": page.rows,
            "next": _turned("reruns-json", filters, page.next) if page.next else None,
            "previous": _turned("reruns-json", filters, page.previous) if page.previous else None,
        }
    )


@read_only
@gone_when_removed
def rerun(request: HttpRequest, rerun_id: UUID) -> HttpResponse:
    """One rerun, whatever became of it."""
    if wants_json(request):
        return rerun_json(request, rerun_id)
    if is_anonymous(request):
        return _ready(request, rerun_id, "html", "text/html; charset=utf-8", _html)
    found = rerun_page(rerun_id)
    if found is None:
        raise Http404(NO_SUCH_RERUN)
    return personal(render(request, "runs/rerun.html", _context(found)))


@read_only
@gone_when_removed
def rerun_json(request: HttpRequest, rerun_id: UUID) -> HttpResponse:
    """The values of a rerun's page, field for field; asked again while it runs, with the ETag of the last answer."""
    return _ready(request, rerun_id, "json", JSON, dumps)


@read_only
@gone_when_removed
def job(request: HttpRequest, rerun_id: UUID) -> HttpResponse:
    """The signed job: a DSSE envelope."""
    return _envelope(request, rerun_id, 0)


@read_only
@gone_when_removed
def result(request: HttpRequest, rerun_id: UUID) -> HttpResponse:
    """The signed result: a DSSE envelope."""
    return _envelope(request, rerun_id, 1)


@read_only
@gone_when_removed
def samples_json(request: HttpRequest, rerun_id: UUID) -> HttpResponse:
    """Every sample of a rerun."""
    return _file(request, rerun_id, "samples.json", JSON, lambda asked, found: dumps(samples(*_read(asked, found))))


@read_only
@gone_when_removed
def samples_csv(request: HttpRequest, rerun_id: UUID) -> HttpResponse:
    """Every sample of event time, a row each, with what its process measured besides. Times are ns."""
    return _file(request, rerun_id, "samples.csv", "text/csv; charset=utf-8", _csv)


@read_only
@gone_when_removed
def signed_bundle(request: HttpRequest, rerun_id: UUID) -> HttpResponse:
    """All that is needed to check the rerun offline, but the keys."""

    def make(asked: Stored, found: Stored) -> bytes:
        return bundle.compose(asked.envelope, found.envelope, reunite(asked, found, key_set()))

    return _file(request, rerun_id, "bundle.json", JSON, make)


@read_only
@gone_when_removed
def chart(request: HttpRequest, rerun_id: UUID, name: str) -> HttpResponse:
    """The samples with the claim drawn in, or the telemetry, as SVG."""
    draw = _CHARTS.get(name)
    if draw is None:
        raise Http404(f"The charts of a rerun are {' and '.join(_CHARTS)}.")
    width: Width = "narrow" if request.GET.get("width") == "narrow" else "wide"

    def make(asked: Stored, found: Stored) -> bytes:
        drawn = draw(*_read(asked, found))
        if drawn is None:
            raise Http404("The result has nothing to draw.")
        return rerun_charts.svg(drawn, width)

    return _file(request, rerun_id, f"{name}-{width}.svg", SVG, make, drawing=rerun_charts.drawing())


@read_only
def keys(request: HttpRequest) -> HttpResponse:
    """The public keys of dispatchers and runners, revoked ones included: what a bundle is checked against."""
    response = json_response(key_set().plain())
    response.headers["Cache-Control"] = "public, no-cache"
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


def _page(filters: dict[str, str], cursor: Cursor | None) -> Any:
    try:
        return rerun_list(filters, cursor)
    except InvalidCursor:
        raise BadRequest("The cursor belongs to no page of this list. Begin again without it.") from None


def _turned(name: str, filters: dict[str, str], cursor: str | None) -> str:
    query = {**filters, **({"cursor": cursor} if cursor else {})}
    return reverse(name) + (f"?{urlencode(query)}" if query else "")


def _version(state: State) -> Version:
    return Version(tuple(map(str, state)), changed_at(state))


def _ready(
    request: HttpRequest, rerun_id: UUID, kind: str, content_type: str, make: Callable[[RerunPage], bytes]
) -> HttpResponse:
    state = rerun_state(rerun_id)
    if state is None:
        raise Http404(NO_SUCH_RERUN)
    version = _version(state)

    def made() -> tuple[Version, bytes]:
        found = rerun_page(rerun_id)
        if found is None:
            raise Http404(NO_SUCH_RERUN)
        # Something may have happened in between; then the page is newer than its tag, and is made again next time.
        return version, make(found)

    return respond(request, name=("rerun", kind, rerun_id), version=version, make=made, content_type=content_type)


def _html(found: RerunPage) -> bytes:
    # Without the request: nothing of who asked can get into a page that others will be given.
    return render_to_string("runs/rerun.html", _context(found)).encode()


def _context(found: RerunPage) -> dict[str, Any]:
    json_url = reverse("rerun-json", args=[found.row.id])
    outcome = found.row.finding.verdict_word if found.row.finding else found.row.state
    return {
        "page": found,
        "json_url": json_url,
        "has_telemetry": bool(found.measured and found.measured.watch and found.measured.watch.spans),
        "meta": Meta(
            f"Rerun · {outcome} · {found.title}",
            f"A controlled rerun on {found.row.product}: {outcome}. {found.title}, {found.row.workload}.",
            found.permalink,
            json_url,
            "article",
        ),
    }


def _envelope(request: HttpRequest, rerun_id: UUID, place: int) -> HttpResponse:
    name = ("job", "result")[place]
    documents = rerun_documents(rerun_id)
    if documents is None:
        raise Http404(NO_SUCH_RERUN)
    found = documents[place]
    if found is None:
        raise Http404(NOT_YET[name])
    version = Version((found.digest,), 0)
    response = respond(
        request,
        name=("rerun", name, rerun_id),
        version=version,
        make=lambda: (version, dumps(found.envelope)),
        content_type=MEDIA_TYPE,
    )
    return _attached(response, f"{name}-{rerun_id}.dsse.json")


def _file(
    request: HttpRequest,
    rerun_id: UUID,
    name: str,
    content_type: str,
    make: Callable[[Stored, Stored], bytes],
    *,
    drawing: str | None = None,
) -> HttpResponse:
    """What is made of a job and its result. Neither changes, so the result's digest is the version of all of it."""
    documents = rerun_documents(rerun_id)
    if documents is None:
        raise Http404(NO_SUCH_RERUN)
    asked, found = documents
    if asked is None or found is None:
        raise Http404(NOT_YET["result"])
    version = Version((found.digest, drawing), 0)
    response = respond(
        request,
        name=("rerun", name, rerun_id),
        version=version,
        make=lambda: (version, make(asked, found)),
        content_type=content_type,
    )
    return shown(response) if drawing else _attached(response, f"rerun-{rerun_id}-{name}")


def shown(response: HttpResponse) -> HttpResponse:
    """A picture: its own style is the one thing that it may use."""
    response.headers["Content-Security-Policy"] = charts.POLICY
    return response


def _attached(response: HttpResponse, name: str) -> HttpResponse:
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _read(asked: Stored, found: Stored) -> tuple[Job, Result]:
    return Job.read(asked.predicate), Result.read(found.predicate)


def _csv(asked: Stored, found: Stored) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(("process", "sample", "event_ns", "device_ns", "graph_ns", "host_ns", "void"))
    for process in _read(asked, found)[1].processes:
        rest = (process.device_ns, process.graph_ns, process.host_ns, int(bool(process.void)))
        writer.writerows((process.index, place, value, *rest) for place, value in enumerate(process.event_ns))
    return out.getvalue().encode()
