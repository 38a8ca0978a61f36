"""The answer to whoever asks for what was removed by law."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

from kernelindex.errors import error_response
from runs.reads.format import date
from runs.reads.tombstones import Removed


def gone_when_removed(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """410 with the digest, the day and the ground, in place of a view that found a tombstone."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Removed as removed:
            said = f"The run {removed.digest} was removed by law on {date(removed.at)}: {removed.reason}"
            return error_response(request, 410, said)

    return answer
