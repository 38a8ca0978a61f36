"""What all endpoints share: who may ask how often, what they take, how they answer, and how they are documented."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_vary_headers
from rest_framework.authentication import BaseAuthentication
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.views import APIView

from runs.api import problems
from runs.api.limits import COSTLY, Budget, Taken, client_of, counter
from runs.api.openapi import Operation
from runs.api.parameters import Asked, Takes, asked
from runs.api.problems import Problem
from runs.api.schemas import Schema
from runs.views.json import JSON, dumps
from runs.views.shown import answer

_EXPOSED: Final = "ETag, Last-Modified, RateLimit, RateLimit-Policy, Retry-After, Location"


class Endpoint(APIView):
    """An address of the API.

    Its docstring is its description, the first line of which is its summary. Costly unless it says otherwise.
    """

    tag: ClassVar[str]
    name: ClassVar[str]
    """Its operationId."""
    takes: ClassVar[Takes] = Takes()
    path_parameters: ClassVar[Mapping[str, str]] = {}
    """What each parameter in the path is."""
    body: ClassVar[Any] = None
    """The serializer of the body that it takes."""
    problems: ClassVar[tuple[int, ...]] = ()
    """Statuses of problems that it answers with, besides those that all do."""
    success: ClassVar[int] = 200
    budget: ClassVar[Budget] = COSTLY
    cross_origin: ClassVar[bool] = True
    """Whether scripts of other sites may read it."""
    schema = Operation()
    authentication_classes: Sequence[type[BaseAuthentication]] = ()
    permission_classes = ()
    throttle_classes = ()
    parser_classes = (JSONParser,)
    taken: Taken | None = None

    @classmethod
    def response_schema(cls) -> Schema:
        """The JSON Schema of a successful answer."""
        raise NotImplementedError

    # Before and after

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Count the request before anything is done for it. There is one media type, so nothing is negotiated."""
        self.charge(request)
        if any("\x00" in value for value in kwargs.values()):
            raise Http404("No name has a NUL in it.")
        self.perform_authentication(request)

    def charge(self, request: Request, cost: int = 1) -> None:
        """Take a cost from the client's budget. Raises Problem where it is spent."""
        self.taken = counter.take(self.budget, client_of(_address(request)), cost)
        if not self.taken.granted:
            raise Problem("TOO_MANY_REQUESTS", headers={"Retry-After": str(self.taken.reset)})

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Say what is left of the budget, and that scripts of other sites may read this."""
        if self.taken:
            response.headers["RateLimit-Policy"] = self.taken.budget.policy
            response.headers["RateLimit"] = self.taken.field
        if response.status_code == 405:
            response.headers["Allow"] = ", ".join(self.allowed_methods)
        if self.cross_origin:
            response.headers["Access-Control-Allow-Origin"] = "*"
            response.headers["Access-Control-Expose-Headers"] = _EXPOSED
        return response

    def options(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        """The answer to a browser that asks beforehand what a script of another site may do."""
        response = HttpResponse(status=204)
        response.headers["Allow"] = ", ".join(self.allowed_methods)
        if self.cross_origin:
            response.headers["Access-Control-Allow-Methods"] = ", ".join(self.allowed_methods)
            response.headers["Access-Control-Allow-Headers"] = "Accept, Content-Type, If-None-Match, If-Modified-Since"
            response.headers["Access-Control-Max-Age"] = "86400"
        return response

    def get_exception_handler(self) -> Callable[..., HttpResponse]:
        """Problem details."""
        return problems.handle

    # What views use

    def asked(self, request: Request) -> Asked:
        """The query string, checked."""
        return asked(request.query_params, request.path, self.takes)

    def evidence(self, request: Request, make: Callable[[], Any]) -> HttpResponse:
        """The value that `make` reads, as JSON that holds until something is published; 304 to who has it."""
        plain = plain_request(request)
        return answer(plain, ("api", plain.get_full_path()), lambda: dumps(make()), JSON)

    def fresh(self, request: Request, value: Any) -> HttpResponse:
        """A value that may change without a publication, as JSON; 304 to who has just this."""
        body = dumps(value)
        etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        response = HttpResponse(body, content_type=JSON, headers={"ETag": etag, "Cache-Control": "public, no-cache"})
        patch_vary_headers(response, ["Accept"])
        return get_conditional_response(plain_request(request), etag=etag, response=response) or response


class Read(Endpoint):
    """An address that is read."""

    http_method_names = ["get", "head", "options"]


def plain_request(request: Request) -> HttpRequest:
    """Django's request inside REST framework's."""
    plain: HttpRequest = request._request
    return plain


def _address(request: Request) -> str:
    """The client's address; behind the one proxy that the settings may name, the last one that it saw."""
    proxies: int = getattr(settings, "ALLAUTH_TRUSTED_PROXY_COUNT", 0)
    forwarded = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    if proxies and forwarded:
        return str(forwarded[-min(proxies, len(forwarded))])
    return str(request.META.get("REMOTE_ADDR", ""))


def narrowed(value: Any, fields: tuple[str, ...]) -> Any:
    """The chosen fields of a value; all of it where none were chosen."""
    return {name: getattr(value, name) for name in fields} if fields else value


def with_included(value: Any, fields: tuple[str, ...], included: Mapping[str, Any]) -> Any:
    """The chosen fields of a value, and beside them what was asked to come along."""
    if not included:
        return narrowed(value, fields)
    chosen = fields or tuple(type(value).__dataclass_fields__)
    return {**narrowed(value, chosen), "included": dict(included)}
