"""One run: its page, its JSON, its manifest, its citations, and the ways to it by digest."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any, Final
from uuid import UUID

import orjson
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from kernelindex.meta import Meta
from kernelindex.methods import read_only
from kernelindex.negotiation import wants_json
from kernelindex.pages import Version, is_anonymous, personal, respond
from runs import citation
from runs.reads import format as spelled
from runs.reads.lookup import SHORTEST_PREFIX, candidates, is_short, parse_digest, parse_id, runs_with_digest
from runs.reads.run_page import State, canonical_manifest, changed_at, run_page, run_state
from runs.reads.values import RunPage
from runs.views.json import JSON, dumps, json_response
from runs.views.tombstones import gone_when_removed

NO_SUCH_RUN: Final = "There is no run with this id."


@read_only
@gone_when_removed
def page(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The page of a run, or its JSON for a client that asks for it."""
    if wants_json(request):
        return _ready(request, run_id, "json", JSON, lambda found, _: dumps(found))
    if is_anonymous(request):
        return _ready(request, run_id, "html", "text/html; charset=utf-8", _html, dated=True)
    found = run_page(run_id)
    if found is None:
        raise Http404(NO_SUCH_RUN)
    return personal(render(request, "runs/run.html", _context(found[0], _today())))


@read_only
@gone_when_removed
def page_json(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The values of a run's page, field for field."""
    return _ready(request, run_id, "json", JSON, lambda found, _: dumps(found))


@read_only
@gone_when_removed
def cite(request: HttpRequest, run_id: UUID, form: str) -> HttpResponse:
    """The citation of a run in one form."""
    written = citation.FORMS.get(form)
    if written is None:
        raise Http404(f"Citations come as {', '.join(citation.FORMS)}.")

    def make(found: RunPage, today: date) -> bytes:
        return written.write(citation.citation(found, today)).encode()

    return _ready(request, run_id, f"cite.{form}", written.media_type, make, dated=True)


@read_only
@gone_when_removed
def manifest(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The canonical manifest of a run: the bytes whose SHA-256 is its digest."""
    found = canonical_manifest(run_id)
    if found is None:
        raise Http404(NO_SUCH_RUN)
    digest, canonical, published_at = found
    version = Version((digest,), published_at.timestamp())
    response = respond(
        request,
        name=("manifest", run_id),
        version=version,
        make=lambda: (version, canonical.encode()),
        content_type=JSON,
    )
    response.headers["Content-Disposition"] = f'attachment; filename="{digest.replace(":", "-")}.json"'
    return response


@read_only
def by_reference(request: HttpRequest, reference: str) -> HttpResponse:
    """To the run that a digest, the beginning of one, or an id in another spelling means."""
    run_id = parse_id(reference)
    if run_id:
        return redirect("run", run_id=run_id)
    digits = parse_digest(reference) if reference.lower().startswith("sha256:") else None
    if digits is None:
        raise Http404(
            f"The beginning of a digest needs at least {SHORTEST_PREFIX} hexadecimal digits."
            if is_short(reference)
            else "This is neither the id of a run nor a digest: a digest is sha256: and 64 hexadecimal digits."
        )
    found = runs_with_digest(digits)
    if not found:
        raise Http404("There is no run with this digest.")
    if len(found) == 1:
        return redirect("run", run_id=found[0])
    return _ambiguous(request, f"sha256:{digits}")


def _ambiguous(request: HttpRequest, prefix: str) -> HttpResponse:
    rows = candidates(prefix.removeprefix("sha256:"))
    if wants_json(request):
        return json_response({"prefix": prefix, "candidates": rows}, status=300)
    meta = Meta(
        f"Several runs begin with {prefix}",
        f"More than one run has a digest that begins with {prefix}.",
        settings.BASE_URL + reverse("run-by-reference", args=[prefix]),
    )
    return render(request, "runs/candidates.html", {"candidates": rows, "prefix": prefix, "meta": meta}, status=300)


def _today() -> date:
    return timezone.now().date()


def _version(state: State, day: date | None) -> Version:
    """What a run's pages depend on; those that name the date of access change with the day as well."""
    changed = changed_at(state)
    if day:
        changed = max(changed, datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    return Version((*map(str, state), str(day)), changed)


def _ready(
    request: HttpRequest,
    run_id: UUID,
    kind: str,
    content_type: str,
    make: Callable[[RunPage, date], bytes],
    *,
    dated: bool = False,
) -> HttpResponse:
    """One of the forms of a run's page, made anew only where it is not known to be current."""
    state = run_state(run_id)
    if state is None:
        raise Http404(NO_SUCH_RUN)
    today = _today()
    day = today if dated else None

    def made() -> tuple[Version, bytes]:
        found = run_page(run_id)
        if found is None:
            raise Http404(NO_SUCH_RUN)
        shown, current = found
        return _version(current, day), make(shown, today)

    return respond(request, name=(kind, run_id), version=_version(state, day), make=made, content_type=content_type)


def _html(found: RunPage, today: date) -> bytes:
    # Without the request: nothing of who asked, or how, can get into a page that others will be given.
    return render_to_string("runs/run.html", _context(found, today)).encode()


def _context(found: RunPage, today: date) -> dict[str, Any]:
    cited = citation.citation(found, today)
    json_url = reverse("run-json", args=[found.id])
    manifest_url = reverse("run-manifest", args=[found.id])
    result = f"{spelled.figure(found.primary)} {found.primary.statistic}" if found.primary else found.status
    return {
        "page": found,
        "citations": citation.links(found, cited),
        "json_url": json_url,
        "manifest_url": manifest_url,
        "manifest_text": orjson.dumps(found.manifest, option=orjson.OPT_INDENT_2).decode(),
        "jsonld": citation.json_ld(
            found,
            cited,
            json_url=settings.BASE_URL + json_url,
            manifest_url=settings.BASE_URL + manifest_url,
        ),
        "canonical_url": found.permalink,
        "meta": Meta(
            f"{found.implementation.name} · {found.operation.name} · Run {str(found.id)[:8]}",
            f"{result} on {found.hardware.name}, {found.workload}. {found.correctness_note}",
            found.permalink,
            json_url,
            "article",
        ),
    }
