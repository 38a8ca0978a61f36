"""The answer to too many sign-ins, sign-ups and mails. django-allauth counts and gives it."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse

from kernelindex.errors import error_response

WAIT: Final = 60  # seconds: the limits are by the minute


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """429 with the time after which it is worth trying again."""
    response = error_response(request, 429)
    response.headers["Retry-After"] = str(WAIT)
    return response
