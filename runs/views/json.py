"""JSON of the values that pages show."""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.http import HttpResponse

JSON: Final = "application/json"


def dumps(value: Any) -> bytes:
    """JSON of typed values: field for field, times in UTC ending in Z, numbers exactly as they are."""
    return orjson.dumps(value, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)


def json_response(value: Any, status: int = 200) -> HttpResponse:
    """A response that varies with what the client asked for, where one address has a page and JSON."""
    response = HttpResponse(dumps(value), status=status, content_type=JSON)
    response.headers["Vary"] = "Accept"
    return response
