"""What the community's views share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from attestations.accounts.models import User
from attestations.refusals import Refused
from kernelindex.errors import error_response
from kernelindex.meta import Meta
from kernelindex.pages import personal
from runs.models import Run

STATUS: Final = {"NOT_YOURS": 404, "DAILY_LIMIT": 429, "TOO_MANY_REPORTS": 429, "SUSPENDED": 403, "NOT_OWNER": 403}
_RETRY: Final = {"DAILY_LIMIT": 24 * 3600, "TOO_MANY_REPORTS": 3600}


def viewer(request: HttpRequest) -> User | None:
    """The person who is signed in, or None."""
    return request.user if isinstance(request.user, User) else None


def run_or_404(run_id: UUID) -> Run:
    """The run that something is said about."""
    run = Run.objects.select_related("implementation").filter(pk=run_id).exclude(canonical="").first()
    if run is None:
        raise Http404("There is no run with this id.")
    return run


def page(
    request: HttpRequest,
    template: str,
    title: str,
    context: Mapping[str, Any],
    *,
    description: str = "",
    status: int = 200,
) -> HttpResponse:
    """A page for one person: nobody may keep it."""
    meta = Meta(title, description or title, settings.BASE_URL + request.path)
    return personal(render(request, template, {**context, "meta": meta, "title": title}, status=status))


def refusal(request: HttpRequest, refused: Refused) -> HttpResponse:
    """A refusal as a page of its own, where there is no form to show it beside."""
    response = error_response(request, STATUS.get(refused.code, 409), str(refused))
    return with_retry(response, refused)


def with_retry(response: HttpResponse, refused: Refused) -> HttpResponse:
    """Say when it is worth trying again, where that is known."""
    if refused.code in _RETRY:
        response.headers["Retry-After"] = str(_RETRY[refused.code])
    return response
