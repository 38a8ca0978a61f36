"""Exports: what there is to fetch, and the files, whole or a range of one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from io import BufferedReader
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import http_date, parse_http_date_safe
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from kernelindex.methods import read_only
from kernelindex.negotiation import wants_json
from runs.reads.exports import export_list, export_path
from runs.views.json import json_response
from runs.views.shown import described

TYPES: Final = {
    ".zst": "application/zstd",
    ".jsonl": "application/x-ndjson; charset=utf-8",
    ".sha256": "text/plain; charset=utf-8",
}
_CHUNK: Final = 64 * 1024
_RANGE: Final = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*", re.ASCII)


@read_only
def exports(request: HttpRequest, *, as_json: bool = False) -> HttpResponse:
    """The exports that can be fetched."""
    page = export_list()
    if as_json or wants_json(request):
        return json_response(page)
    description = "Everything that is published here in one file: each record as it was digested, one a line."
    meta = described("Exports", description, reverse("exports"), reverse("exports-json"))
    response = render(request, "runs/exports.html", {"page": page, "meta": meta, "json_url": meta.json_url})
    patch_vary_headers(response, ["Accept"])
    return response


@csrf_exempt
@require_safe
def export(request: HttpRequest, name: str) -> HttpResponseBase:
    """One file, or the range of it that the request asks for (RFC 9110, one range)."""
    path = export_path(name)
    if path is None:
        raise Http404("There is no export of this name.")
    # The bytes are compressed already, and a range of them must be a range of what lies here: no encoding on the way.
    request.META["HTTP_ACCEPT_ENCODING"] = "identity"
    file = path.open("rb")
    stat = os.fstat(file.fileno())
    etag, changed = f'"{stat.st_size:x}-{stat.st_mtime_ns:x}"', int(stat.st_mtime)
    response: HttpResponseBase | None = get_conditional_response(request, etag, changed)
    if response is None:
        response = _body(request, file, stat.st_size, etag, changed)
        response.headers["Content-Type"] = TYPES[path.suffix]
    else:
        file.close()
    response.headers["ETag"] = etag
    response.headers["Last-Modified"] = http_date(changed)
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Cache-Control"] = "public, no-cache"
    return response


def _body(request: HttpRequest, file: BufferedReader, size: int, etag: str, changed: int) -> HttpResponseBase:
    asked = _asked(request, size, etag, changed)
    if asked is not None and asked[0] >= asked[1]:
        file.close()
        refused = HttpResponse("The file ends before this range.\n", status=416)
        refused.headers["Content-Range"] = f"bytes */{size}"
        return refused
    start, stop = asked or (0, size)
    response = StreamingHttpResponse(_Slice(file, start, stop), status=206 if asked else 200)
    response.headers["Content-Length"] = str(stop - start)
    if asked:
        response.headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    return response


def _asked(request: HttpRequest, size: int, etag: str, changed: int) -> tuple[int, int] | None:
    """The range asked for, from the first byte until before the last; empty where the file has none of it.

    None, which means the whole file, also for several ranges, for what is no range, and where `If-Range` names another
    state of the file.
    """
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    condition = request.headers.get("If-Range")
    stale = condition is not None and condition != etag and parse_http_date_safe(condition) != changed
    if request.method != "GET" or found is None or found[0].strip() == "bytes=-" or stale:
        return None
    first, last = found[1], found[2]
    if not first:
        return (max(0, size - int(last)), size) if int(last) else (size, size)
    if last and int(last) < int(first):
        return None
    return int(first), min(int(last) + 1, size) if last else size


class _Slice:
    """The bytes of a file from `start` until before `stop`. Whoever answers with it closes it."""

    def __init__(self, file: BufferedReader, start: int, stop: int) -> None:
        self._file = file
        self._file.seek(start)
        self._left = stop - start

    def __iter__(self) -> Iterator[bytes]:
        while self._left > 0 and (chunk := self._file.read(min(_CHUNK, self._left))):
            self._left -= len(chunk)
            yield chunk

    def close(self) -> None:
        self._file.close()
