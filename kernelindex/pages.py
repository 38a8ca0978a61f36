"""Pages answered from bytes that are known to be current.

A view states what its page depends on (`Version`) and how to make it. Equal versions mean equal bytes, so the version
makes the ETag: a client that has it is answered 304 without anything being rendered, also by a process that never made
the page. Bodies are kept by name, as they are and compressed, within a budget of bytes; the version decides whether
what is kept is still current.

Pages that differ for people who are signed in are kept for anonymous requests alone. A request that carries a session
or a message is rendered for itself and must not be stored by anybody. Anonymous answers are `no-cache`: whoever keeps
one has to ask again before using it, and the question then carries the cookie of a person who has signed in since.
"""

from __future__ import annotations

import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

import brotli
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.cache import get_conditional_response
from django.utils.http import http_date

from kernelindex.build import build
from kernelindex.negotiation import best_encoding

BUDGET: Final = 64 * 1024 * 1024  # bytes of bodies that one process keeps
LARGEST: Final = 1024 * 1024  # a body above this is not kept
_OVERHEAD: Final = 1024  # bytes that an entry takes beside its bodies, roughly
_PERSONAL_COOKIES: Final = (settings.SESSION_COOKIE_NAME, "messages")
_CONDITIONS: Final = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE")
_COMPRESS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "br": lambda body: brotli.compress(body, mode=brotli.MODE_TEXT, quality=5),
    "gzip": lambda body: gzip.compress(body, compresslevel=6, mtime=0),
}


@dataclass(frozen=True, slots=True)
class Version:
    """What a page depends on and when that last changed, in seconds since 1970."""

    parts: tuple[Any, ...]
    changed: float

    def tag(self, name: Hashable) -> str:
        """The part of the ETag that all encodings of one version of a page share."""
        return hashlib.sha256(repr((build()[0], name, self.parts)).encode()).hexdigest()[:32]


@dataclass(slots=True)
class _Kept:
    tag: str
    bodies: dict[str, bytes] = field(default_factory=dict)  # by encoding; "" for the bytes as they are

    def size(self) -> int:
        return _OVERHEAD + sum(map(len, self.bodies.values()))


class ReadyPage(HttpResponse):
    """A response whose encoding was chosen already; `CompressionMiddleware` leaves it alone."""


class Shelf:
    """The bodies that a process keeps: the least recently asked for go first. Safe for several threads."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def find(self, name: Hashable, tag: str, encoding: str) -> bytes | None:
        """The current body of a page in an encoding, if it is kept."""
        with self._lock:
            kept = self._kept.get(name)
            if kept is None or kept.tag != tag:
                return None
            self._kept.move_to_end(name)
            return kept.bodies.get(encoding)

    def put(self, name: Hashable, tag: str, encoding: str, body: bytes) -> None:
        """Keep a body; it replaces those of another version of the page."""
        if len(body) > LARGEST:
            return
        with self._lock:
            kept = self._kept.pop(name, None)
            if kept is not None:
                self._size -= kept.size()
            if kept is None or kept.tag != tag:
                kept = _Kept(tag)
            kept.bodies[encoding] = body
            self._kept[name] = kept
            self._size += kept.size()
            while self._size > self._budget:
                _, dropped = self._kept.popitem(last=False)
                self._size -= dropped.size()

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._kept.clear()
            self._size = 0

    @property
    def size(self) -> int:
        """Bytes kept, by their own reckoning."""
        return self._size


shelf = Shelf()


def is_anonymous(request: HttpRequest) -> bool:
    """Whether a request carries nothing that could make its page personal. Looks at cookies' names alone."""
    cookies = request.COOKIES
    return not cookies or not any(name in cookies for name in _PERSONAL_COOKIES)


def respond(
    request: HttpRequest,
    *,
    name: Hashable,
    version: Version,
    make: Callable[[], tuple[Version, bytes]],
    content_type: str,
) -> HttpResponse:
    """Answer a GET or HEAD with a page of this version.

    `make` renders the page and says which version it turned out to be: newer than `version` where something was
    published in between.
    """
    encoding = best_encoding(request.META.get("HTTP_ACCEPT_ENCODING", ""))
    tag = version.tag(name)
    meta = request.META
    if any(condition in meta for condition in _CONDITIONS):
        response = get_conditional_response(request, _etag(tag, encoding), int(version.changed))
        if response is not None:
            return _describe(response, tag, encoding, version)
    body = None if settings.DEBUG else shelf.find(name, tag, encoding)
    if body is None:
        plain = shelf.find(name, tag, "") if encoding and not settings.DEBUG else None
        if plain is None:
            version, plain = make()
            tag = version.tag(name)
            shelf.put(name, tag, "", plain)
        body = plain
        if encoding:
            body = _COMPRESS[encoding](plain)
            shelf.put(name, tag, encoding, body)
    response = ReadyPage(body, content_type=content_type)
    response.headers["Content-Length"] = str(len(body))
    return _describe(response, tag, encoding, version)


def _etag(tag: str, encoding: str) -> str:
    return f'"{tag}-{encoding}"' if encoding else f'"{tag}"'


def _describe(response: HttpResponse, tag: str, encoding: str, version: Version) -> HttpResponse:
    headers = response.headers
    headers["ETag"] = _etag(tag, encoding)
    headers["Last-Modified"] = http_date(int(version.changed))
    headers["Cache-Control"] = "public, no-cache"
    headers["Vary"] = "Accept-Encoding, Accept"
    if encoding and not isinstance(response, HttpResponseNotModified) and response.status_code == 200:
        headers["Content-Encoding"] = encoding
    return response


def personal(response: HttpResponse) -> HttpResponse:
    """Mark a page that was rendered for one person: nobody may keep it."""
    response.headers["Cache-Control"] = "private, no-store"
    return response
