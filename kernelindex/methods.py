"""Which methods a view takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

from django.http import HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

Parameters = ParamSpec("Parameters")


def read_only(view: Callable[Parameters, HttpResponse]) -> Callable[Parameters, HttpResponse]:
    """GET and HEAD alone; everything else is answered 405.

    Without the exemption a POST would be told that its form token is missing, as if it could succeed with one. A view
    that refuses every method that changes something has nothing for a foreign form to abuse.
    """
    return csrf_exempt(require_safe(view))
