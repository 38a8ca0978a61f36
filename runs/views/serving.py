"""Serving runs: a list and a page each."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from urllib.parse import urlencode
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse

from kernelindex.methods import read_only
from kernelindex.negotiation import wants_json
from kernelindex.pages import Version, is_anonymous, personal, respond
from runs.reads.serving import serving_list, serving_page, serving_state, state_changed
from runs.views.json import JSON, dumps
from runs.views.shown import HTML, Shown, described, read, there


@read_only
def runs(request: HttpRequest, *, as_json: bool = False) -> HttpResponse:
    """The serving runs, the latest first."""
    after = request.GET.get("after", "")

    def at(name: str, place: str | None) -> str:
        return reverse(name) + (f"?{urlencode({'after': place})}" if place else "")

    def make() -> Shown:
        page = read(lambda: serving_list(after))
        meta = described(
            "Serving",
            "Models served end to end: which model, by which software, set up how, under which load. No kernels.",
            at("serving", after),
            at("serving-json", after),
        )
        return Shown(page, "runs/serving.html", meta, {"next_url": at("serving", page.next) if page.next else None})

    return _show(request, ("serving", after), make, as_json=as_json)


@read_only
def run(request: HttpRequest, run_id: UUID, *, as_json: bool = False) -> HttpResponse:
    """One serving run."""

    def make() -> Shown:
        page = there(serving_page(run_id), "There is no serving run with this id.")
        meta = described(
            page.title,
            f"{page.model.name} served by {page.stack.name}: {page.workload.name}.",
            reverse("serving-run", args=[run_id]),
            reverse("serving-run-json", args=[run_id]),
        )
        manifest_text = orjson.dumps(page.manifest, option=orjson.OPT_INDENT_2).decode()
        return Shown(page, "runs/serving_run.html", meta, {"manifest_text": manifest_text})

    return _show(request, ("serving", run_id), make, as_json=as_json)


def _show(request: HttpRequest, name: Hashable, make: Callable[[], Shown], *, as_json: bool) -> HttpResponse:
    """Answer with the page as it stands, for as long as no serving run and no withdrawal is published."""
    as_json = as_json or wants_json(request)
    if not as_json and not is_anonymous(request):
        shown = make()
        return personal(render(request, shown.template, shown.context))
    state = serving_state()
    version = Version(tuple(map(str, state)), state_changed(state))

    def made() -> tuple[Version, bytes]:
        shown = make()
        # Without the request: nothing of who asked, or how, can get into a page that others will be given.
        return version, dumps(shown.page) if as_json else render_to_string(shown.template, shown.context).encode()

    form, content_type = ("json", JSON) if as_json else ("html", HTML)
    return respond(request, name=(form, name), version=version, make=made, content_type=content_type)
