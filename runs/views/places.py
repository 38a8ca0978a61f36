"""Hardware, environments and protocols: where and how was measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import orjson
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from kernelindex.methods import read_only
from runs.reads.environments import environment_list, environment_page
from runs.reads.hardware import hardware_list, hardware_page
from runs.reads.protocols import protocol_list, protocol_page
from runs.reads.references import Ambiguous
from runs.views.shown import Shown, described, read, show, there


def _with(path: str, **parameters: str) -> str:
    query = urlencode({name: value for name, value in parameters.items() if value})
    return f"{path}?{query}" if query else path


def _listing(
    request: HttpRequest, name: str, make: Callable[[str], Any], description: str, as_json: bool
) -> HttpResponse:
    """A list that goes on where `next` says."""
    after = request.GET.get("after", "")

    def shown() -> Shown:
        page = read(lambda: make(after))
        path = reverse(name)
        meta = described(
            name.partition("-")[0].capitalize(),
            description,
            _with(path, after=after),
            _with(reverse(f"{name}-json"), after=after),
        )
        return Shown(
            page,
            f"runs/{name.replace('-', '_')}.html",
            meta,
            {"next_url": _with(path, after=page.next) if page.next else None},
        )

    return show(request, (name, after), shown, as_json=as_json)


@read_only
def hardware_all(request: HttpRequest, *, as_json: bool = False) -> HttpResponse:
    """Every product that was measured on."""
    description = "The GPUs that runs were measured on, with what their vendors state and how many runs there are."
    return _listing(request, "hardware-list", hardware_list, description, as_json)


@read_only
def hardware(request: HttpRequest, slug: str, *, as_json: bool = False) -> HttpResponse:
    """One product: its data sheet, and what is measured on it."""

    def make() -> Shown:
        page = there(hardware_page(slug), "No run was measured on hardware of this name.")
        meta = described(
            page.row.link.name,
            f"{page.row.runs:,} benchmark runs on {page.row.link.name} ({page.row.architecture}), by operation.",
            reverse("hardware", args=[slug]),
            reverse("hardware-json", args=[slug]),
        )
        return Shown(page, "runs/hardware.html", meta)

    return show(request, ("hardware", slug), make, as_json=as_json)


@read_only
def environments(request: HttpRequest, *, as_json: bool = False) -> HttpResponse:
    """Every execution environment."""
    description = "The execution environments that runs were measured in: hardware, driver, software and settings."
    return _listing(request, "environments", environment_list, description, as_json)


@read_only
def environment(request: HttpRequest, reference: str, *, as_json: bool = False) -> HttpResponse:
    """One execution environment, by the beginning of its digest."""
    return _referred(request, "environment", reference, environment_page, as_json)


@read_only
def protocols(request: HttpRequest, *, as_json: bool = False) -> HttpResponse:
    """Every benchmark protocol."""
    description = "The protocols that runs were measured by: what is timed, with which timer, how often."
    return _listing(request, "protocols", protocol_list, description, as_json)


@read_only
def protocol(request: HttpRequest, reference: str, *, as_json: bool = False) -> HttpResponse:
    """One benchmark protocol, by the beginning of its digest."""
    return _referred(request, "protocol", reference, protocol_page, as_json)


def _referred(
    request: HttpRequest, kind: str, reference: str, find: Callable[[str, str], Any], as_json: bool
) -> HttpResponse:
    cursor = request.GET.get("cursor", "")

    def make() -> Shown:
        try:
            page = there(read(lambda: find(reference, cursor)), f"There is no {kind} with this digest.")
        except Ambiguous:
            raise Http404(f"More than one {kind} has a digest that begins so. Give more digits of it.") from None
        path, json_path = page.link.url, reverse(f"{kind}-json", args=[page.link.slug])
        meta = described(
            page.link.name,
            f"The {kind} {page.link.name}: its manifest, and {page.run_count:,} benchmark runs.",
            _with(path, cursor=cursor),
            _with(json_path, cursor=cursor),
        )
        beside = {
            "manifest_text": orjson.dumps(page.manifest, option=orjson.OPT_INDENT_2).decode(),
            "next_url": _with(path, cursor=page.runs.next) if page.runs.next else None,
            "previous_url": _with(path, cursor=page.runs.previous) if page.runs.previous else None,
        }
        return Shown(page, f"runs/{kind}.html", meta, beside)

    return show(request, (kind, reference, cursor), make, as_json=as_json)
