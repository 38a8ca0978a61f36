"""What a site answers whatever it is about: is it alive, can it serve, what may be crawled."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache

from kernelindex.methods import read_only


@never_cache
@read_only
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers. Nothing else is asked, so that a slow database does not get it restarted."""
    return JsonResponse({"status": "ok"})


@never_cache
@read_only
def readyz(request: HttpRequest) -> HttpResponse:
    """The process can serve: the database answers and has its tables. 503 where not."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM runs_run LIMIT 1")
    except DatabaseError:
        return JsonResponse({"status": "unavailable", "database": "unavailable"}, status=503)
    return JsonResponse({"status": "ok", "database": "ok"})


@read_only
def robots(request: HttpRequest) -> HttpResponse:
    """Everything public may be crawled; a search leads nowhere new."""
    lines = ("User-agent: *", "Disallow: /admin/", f"# {settings.BASE_URL}/", "")
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")
