"""The site's own middleware."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from kernelindex.errors import error_response
from kernelindex.pages import ReadyPage


class CompressionMiddleware(GZipMiddleware):
    """Django's compression, for responses whose encoding was not chosen already."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if isinstance(response, ReadyPage):
            return response
        return super().process_response(request, response)


class ErrorPageMiddleware:
    """Gives a body to an error that has none, such as a 405: HTML for people, problem details for programs."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code < 400 or response.streaming or response.content:
            return response
        page = error_response(request, response.status_code)
        for name in ("Allow", "Retry-After"):
            if name in response.headers:
                page.headers[name] = response.headers[name]
        page.cookies = response.cookies
        return page
