"""The pages around the runs: home, sources, methodology."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from kernelindex.meta import Meta
from kernelindex.methods import read_only
from kernelindex.negotiation import wants_json
from runs.reads.methodology import methodology_page
from runs.reads.overview import home_page, source_rows
from runs.views.json import json_response


@read_only
def home(request: HttpRequest) -> HttpResponse:
    """What this is, a search box, counts, and the latest runs."""
    meta = Meta(
        "A public index of GPU kernel benchmark runs",
        "Benchmark runs of GPU kernels, each a permanent record with a digest that anyone can recompute, ranked only "
        "against runs of the same operation, workload, protocol and environment.",
        settings.BASE_URL + reverse("home"),
    )
    return render(request, "home.html", {"page": home_page(), "meta": meta})


@read_only
def sources(request: HttpRequest) -> HttpResponse:
    """Where the evidence came from, under which terms, and which files were read."""
    rows = source_rows()
    if wants_json(request):
        return json_response({"sources": rows})
    meta = Meta(
        "Sources",
        "Where the benchmark runs come from, under which licences, and the files that were read, each with its digest.",
        settings.BASE_URL + reverse("sources"),
    )
    response = render(request, "sources.html", {"sources": rows, "meta": meta})
    patch_vary_headers(response, ["Accept"])
    return response


@read_only
def methodology(request: HttpRequest) -> HttpResponse:
    """How digests, ranks and evidence levels work, from the constants that the code uses."""
    meta = Meta(
        "Methodology",
        "How runs are identified by digest, which may be compared, how they rank, and what an evidence level says.",
        settings.BASE_URL + reverse("methodology"),
    )
    return render(request, "methodology.html", {"page": methodology_page(), "meta": meta})
