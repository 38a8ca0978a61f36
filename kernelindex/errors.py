"""Error answers: a page for people, RFC 9457 problem details for programs. Nothing here touches the database."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any, Final

import orjson
from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.html import escape

from kernelindex.meta import Meta
from kernelindex.negotiation import wants_json

logger = logging.getLogger(__name__)

MESSAGES: Final = {
    400: "The address or what was sent with it does not make sense here.",
    403: "This is not open to you.",
    404: "There is nothing at this address.",
    405: "This address does not take such a request.",
    410: "What was here was removed. Its digest stays as a tombstone.",
    429: "There were too many requests. Wait a little, then go on.",
    500: "Something went wrong on our side. It was logged.",
}

_PLAIN: Final = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title} · KernelIndex</title>
<h1>{title}</h1><p>{message}</p><p><a href="/">KernelIndex</a></p></html>
"""


def error_response(request: HttpRequest, status: int, message: str | None = None) -> HttpResponse:
    """An answer with this status and a sentence that says what is wrong; the status has one where none is given."""
    title = HTTPStatus(status).phrase
    message = message or MESSAGES.get(status) or MESSAGES[400 if status < 500 else 500]
    if wants_json(request) or request.path.endswith(".json"):
        problem = {"type": "about:blank", "title": title, "status": status, "detail": message, "instance": request.path}
        response = HttpResponse(orjson.dumps(problem), status=status, content_type="application/problem+json")
    else:
        response = HttpResponse(_page(request, status, title, message), status=status)
    response.headers["Cache-Control"] = "no-store"
    patch_vary_headers(response, ["Accept"])
    return response


def _page(request: HttpRequest, status: int, title: str, message: str) -> str:
    context: dict[str, Any] = {
        "status": status,
        "title": title,
        "message": message,
        "meta": Meta(title, message, settings.BASE_URL + request.path),
    }
    try:
        return render_to_string("error.html", context)
    except Exception:
        # The page that says that something broke must not break itself.
        logger.exception("the error page could not be rendered")
        return _PLAIN.format(title=title, message=escape(message))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handles 400. Only sentences written for readers are shown; Django's own say more than a stranger needs."""
    return error_response(request, 400, _sentence(exception) if type(exception) is BadRequest else None)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handles 403."""
    return error_response(request, 403, _sentence(exception))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handles 404, with the sentence of the view that found nothing."""
    return error_response(request, 404, _sentence(exception) if type(exception) is Http404 else None)


def server_error(request: HttpRequest) -> HttpResponse:
    """Handles 500."""
    return error_response(request, 500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Handles a form that was sent without its token."""
    return error_response(request, 403, "The form was too old, or came from another site. Load its page again.")


def _sentence(exception: Exception) -> str | None:
    return str(exception) or None
