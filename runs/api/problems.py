"""Errors as RFC 9457 problem details. Every one has a code that programs can rely on; sentences may change."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpResponse
from rest_framework import exceptions

from runs.reads.cursors import InvalidCursor
from runs.reads.format import date
from runs.reads.references import Ambiguous
from runs.reads.tombstones import Removed

logger = logging.getLogger(__name__)

MEDIA_TYPE: Final = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: its status, what it is called, and the sentence for where nothing more is known."""

    status: int
    title: str
    sentence: str


KINDS: Final[dict[str, Kind]] = {
    "INVALID_PARAMETER": Kind(400, "Invalid parameter", "A parameter has a value that it cannot have."),
    "UNKNOWN_PARAMETER": Kind(400, "Unknown parameter", "This address does not take such a parameter."),
    "INVALID_CURSOR": Kind(
        400, "Invalid cursor", "The cursor belongs to no page of this list under these filters. Begin again without it."
    ),
    "INVALID_REQUEST": Kind(400, "Invalid request", "The request does not make sense here."),
    "INVALID_BODY": Kind(400, "Invalid body", "The body is not what this address takes."),
    "UNAUTHENTICATED": Kind(401, "Not authenticated", "The token is missing, unknown, expired or revoked."),
    "FORBIDDEN": Kind(403, "Forbidden", "The token does not have the scope that this needs."),
    "NOT_FOUND": Kind(404, "Not found", "There is nothing at this address."),
    "AMBIGUOUS": Kind(404, "Ambiguous", "More than one record begins so. Give more digits of it."),
    "METHOD_NOT_ALLOWED": Kind(405, "Method not allowed", "This address does not take such a request."),
    "REMOVED": Kind(410, "Removed", "The content of this record was removed by law. Its digest stays as a tombstone."),
    "TOO_LARGE": Kind(413, "Too large", "The body is larger than this address takes."),
    "UNSUPPORTED_MEDIA_TYPE": Kind(415, "Unsupported media type", "The body must be application/json."),
    "TOO_MANY_REQUESTS": Kind(429, "Too many requests", "There were too many requests. Wait a little, then go on."),
    "INTERNAL": Kind(500, "Internal error", "Something went wrong on our side. It was logged."),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: the parameter, or the place in the body, and a sentence."""

    place: str
    detail: str


@dataclass(frozen=True, slots=True)
class ProblemDetails:
    """RFC 9457. `type` is the address of what the reference says of `code`."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    instance: str
    errors: tuple[Fault, ...]


@dataclass(slots=True)
class Problem(Exception):
    """An answer other than the one asked for. `status` differs from the kind's where a service has codes of its own."""

    code: str
    detail: str = ""
    faults: Sequence[Fault] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 0


def handle(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """The answer to whatever a view raised; REST framework calls this."""
    problem = _problem(error)
    if problem is None:
        logger.error("a request to the API failed", exc_info=error)
        problem = Problem("INTERNAL")
    return respond(problem, context["request"].path)


def respond(problem: Problem, path: str) -> HttpResponse:
    """A problem as a response."""
    kind = KINDS.get(problem.code) or Kind(problem.status, problem.code.replace("_", " ").capitalize(), problem.detail)
    status = problem.status or kind.status
    body = ProblemDetails(
        # What a service refuses is said in its own words; only the API's own codes are in the reference.
        type=f"{settings.BASE_URL}/api/v1/reference#{problem.code}" if problem.code in KINDS else "about:blank",
        title=kind.title,
        status=status,
        code=problem.code,
        detail=problem.detail or kind.sentence,
        instance=path,
        errors=tuple(problem.faults),
    )
    headers = {"Cache-Control": "no-store", **problem.headers}
    return HttpResponse(orjson.dumps(body), status=status, content_type=MEDIA_TYPE, headers=headers)


def _problem(error: Exception) -> Problem | None:  # noqa: PLR0911 — a table of cases
    match error:
        case Problem():
            return error
        case InvalidCursor():
            return Problem("INVALID_CURSOR")
        case Ambiguous():
            return Problem("AMBIGUOUS")
        case Removed():
            return Problem("REMOVED", f"{error.digest} was removed by law on {date(error.at)}: {error.reason}")
        case Http404():
            return Problem("NOT_FOUND", str(error))
        case RequestDataTooBig():
            return Problem("TOO_LARGE")
        case BadRequest() | SuspiciousOperation():
            return Problem("INVALID_REQUEST", str(error) if type(error) is BadRequest else "")
        case exceptions.APIException():
            return _of_framework(error)
    return None


def _of_framework(error: exceptions.APIException) -> Problem | None:  # noqa: PLR0911 — likewise
    match error:
        case exceptions.ValidationError():
            return Problem("INVALID_BODY", faults=tuple(faults(error.detail)))
        case exceptions.ParseError():
            return Problem("INVALID_BODY", str(error.detail))
        case exceptions.UnsupportedMediaType():
            return Problem("UNSUPPORTED_MEDIA_TYPE")
        case exceptions.MethodNotAllowed():
            return Problem("METHOD_NOT_ALLOWED")
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return Problem("UNAUTHENTICATED", headers={"WWW-Authenticate": 'Bearer realm="kernelindex"'})
        case exceptions.PermissionDenied():
            return Problem("FORBIDDEN")
    return None


def faults(detail: Any, place: str = "") -> list[Fault]:
    """REST framework's nested errors as a flat list; places are written `workloads.3.axes`."""
    if isinstance(detail, Mapping):
        return [fault for name, inner in detail.items() for fault in faults(inner, _within(place, name))]
    if isinstance(detail, list):
        # A list of sentences is about this place; one of objects has an entry for each item.
        if all(isinstance(inner, str) for inner in detail):
            return [Fault(place, str(inner)) for inner in detail]
        return [fault for number, inner in enumerate(detail) for fault in faults(inner, _within(place, number))]
    return [Fault(place, str(detail))]


def _within(place: str, name: object) -> str:
    if name == "non_field_errors":
        return place
    return f"{place}.{name}" if place else str(name)
