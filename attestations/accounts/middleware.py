"""What holds for every page that a person with a session is shown."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from kernelindex.pages import personal


class PersonalPagesMiddleware:
    """Every page has the person's name at its top, so nobody may keep one that was made for a session.

    A view that says how its answer may be kept, because it is the same for all, is left alone.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES and "Cache-Control" not in response.headers:
            return personal(response)
        return response
