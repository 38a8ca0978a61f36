"""The runners, and one of them with its key's history and its calibrations."""

from __future__ import annotations

from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from kernelindex.meta import Meta
from kernelindex.methods import read_only
from kernelindex.negotiation import wants_json
from kernelindex.pages import Version, respond
from runs import rerun_charts
from runs.charts import Width
from runs.reads.reruns.drawings import calibrations
from runs.reads.runners import RunnerPage, calibration_history, runner_page, runner_rows
from runs.views.json import json_response
from runs.views.reruns import SVG, cursor_of, shown

NO_SUCH_RUNNER = "There is no runner with this name."


@read_only
def runners(request: HttpRequest) -> HttpResponse:
    """Every runner: its hardware, who answers for it, and whether it is trusted."""
    rows = runner_rows()
    if wants_json(request):
        return json_response({"runners": rows})
    meta = Meta(
        "Runners",
        "The hosts that rerun claims for KernelIndex: hardware, operator, key, state and calibration of each.",
        settings.BASE_URL + reverse("runners"),
    )
    response = render(request, "runs/runners.html", {"runners": rows, "meta": meta})
    patch_vary_headers(response, ["Accept"])
    return response


@read_only
def runner(request: HttpRequest, name: str) -> HttpResponse:
    """One runner."""
    found = _found(request, name)
    if wants_json(request):
        return json_response({**_fields(found), "older": _older(name, found)})
    meta = Meta(
        f"Runner {name}",
        f"{name}, a runner with {found.row.product}, operated by {found.row.operator}: {found.row.state}.",
        found.permalink,
    )
    response = render(request, "runs/runner.html", {"page": found, "older_url": _older(name, found), "meta": meta})
    patch_vary_headers(response, ["Accept"])
    return response


@read_only
def calibration(request: HttpRequest, name: str) -> HttpResponse:
    """The latest calibrations of a runner as SVG."""
    history = calibration_history(name)
    if history is None:
        raise Http404(NO_SUCH_RUNNER)
    if not history:
        raise Http404("The runner has no calibration yet.")
    width: Width = "narrow" if request.GET.get("width") == "narrow" else "wide"
    drawn = calibrations(name, history)
    version = Version((rerun_charts.digest(drawn),), history[0].at.timestamp())
    response = respond(
        request,
        name=("calibration", name, width),
        version=version,
        make=lambda: (version, rerun_charts.svg(drawn, width)),
        content_type=SVG,
    )
    return shown(response)


def _found(request: HttpRequest, name: str) -> RunnerPage:
    found = runner_page(name, cursor_of(request))
    if found is None:
        raise Http404(NO_SUCH_RUNNER)
    return found


def _older(name: str, found: RunnerPage) -> str | None:
    return f"{reverse('runner', args=[name])}?{urlencode({'cursor': found.older})}" if found.older else None


def _fields(found: RunnerPage) -> dict[str, object]:
    return {field: getattr(found, field) for field in RunnerPage.__slots__}
