"""Endpoints for programs that speak for a person: a token with a scope, and no cookie."""

from __future__ import annotations

from typing import Any, ClassVar, Final
from uuid import UUID

from django.core.exceptions import NON_FIELD_ERRORS
from django.forms import Form
from django.http import HttpResponse
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from attestations.accounts.models import User
from attestations.accounts.tokens import Scope, authenticate_token
from attestations.refusals import Refused
from attestations.views.common import STATUS, run_or_404
from runs.api.endpoint import Endpoint
from runs.api.problems import Fault, Problem
from runs.api.views.runs import run_of
from runs.models import Run
from runs.views.json import JSON, dumps

_RETRY: Final = {"DAILY_LIMIT": 24 * 3600, "TOO_MANY_REPORTS": 3600}  # seconds


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer kix_…`. A request without the field speaks for nobody."""

    def authenticate(self, request: Request) -> tuple[User, frozenset[Scope]] | None:
        """The person, and what the token may do."""
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        found = authenticate_token(header)
        if found is None:
            raise exceptions.AuthenticationFailed
        return found


class Speaking(Endpoint):
    """An address where a person says something: never from a script of another site."""

    authentication_classes = (TokenAuthentication,)
    scopes: ClassVar[tuple[Scope, ...]] = (Scope.ATTEST,)
    problems = (401, 403, 409, 410)
    success = 201
    cross_origin = False
    http_method_names = ["post", "options"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Count the request, then look at the token."""
        super().initial(request, *args, **kwargs)
        if request.method == "POST":
            scopes: Any = request.auth
            if scopes is None:
                raise exceptions.NotAuthenticated
            if not scopes.issuperset(self.scopes):
                raise Problem("FORBIDDEN")

    @staticmethod
    def person(request: Request) -> User:
        """Whom the token speaks for."""
        assert isinstance(request.user, User)
        return request.user

    @staticmethod
    def created(value: Any, address: str) -> HttpResponse:
        """What was made, for this person alone, and where it is."""
        headers = {"Location": address, "Cache-Control": "private, no-store"}
        return HttpResponse(dumps(value), status=201, content_type=JSON, headers=headers)


def run_named(reference: str) -> Run:
    """The run of an id or a digest. Raises Http404, and Problem where several begin so."""
    found: UUID = run_of(reference)
    return run_or_404(found)


def refused(error: Refused) -> Problem:
    """A service's refusal under its own code."""
    status = STATUS.get(error.code, 409)
    headers = {"Retry-After": str(_RETRY[error.code])} if error.code in _RETRY else {}
    return Problem(error.code, str(error), headers=headers, status=status)


def faults(form: Form) -> list[Fault]:
    """What a form says is wrong, by its fields."""
    return [
        Fault("" if name == NON_FIELD_ERRORS else name, str(sentence))
        for name, sentences in form.errors.items()
        for sentence in sentences
    ]
