"""Charts as pictures of their own, each at an address that names its content and so holds for ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from kernelindex.build import build
from kernelindex.pages import Version, respond
from runs import charts

SVG: Final = "image/svg+xml"


class _Redrawn(Exception):
    """The address names another picture than the one that is drawn now."""

    def __init__(self, digest: str) -> None:
        self.digest = digest
        super().__init__(digest)


def drawn(request: HttpRequest, make: Callable[[], charts.Chart]) -> HttpResponse:
    """A chart as SVG, in the width that the request asks for: narrow for a telephone, else wide.

    `v` in the address is the chart's digest. Where that is another by now, or missing, the answer leads to the right
    one.
    """
    width: charts.Width = "narrow" if request.GET.get("width") == "narrow" else "wide"
    asked = request.GET.get("v", "")
    version = Version((), build()[1])

    def picture() -> tuple[Version, bytes]:
        chart = make()
        digest = charts.digest(chart)
        if digest != asked:
            raise _Redrawn(digest)
        return version, charts.svg(chart, width)

    try:
        response = respond(request, name=("svg", asked, width), version=version, make=picture, content_type=SVG)
    except _Redrawn as redrawn:
        query = request.GET.copy()
        query["v"] = redrawn.digest
        response = redirect(f"{request.path}?{query.urlencode()}")
        response.headers["Cache-Control"] = "no-cache"
        return response
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    response.headers["Content-Security-Policy"] = charts.POLICY
    return response
