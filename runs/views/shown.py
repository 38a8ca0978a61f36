"""Pages of the evidence that stand until something is published: one way to answer them, as HTML and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from kernelindex.meta import Meta
from kernelindex.negotiation import wants_json
from kernelindex.pages import Version, is_anonymous, personal, respond
from runs.reads.cursors import InvalidCursor
from runs.reads.edition import Edition, edition
from runs.views.json import JSON, dumps

HTML: Final = "text/html; charset=utf-8"
_TRIES: Final = 3

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Shown:
    """A page's values, which are its JSON, and what its template needs beside them."""

    page: Any
    template: str
    meta: Meta
    beside: Mapping[str, Any] = field(default_factory=dict)

    @property
    def context(self) -> dict[str, Any]:
        return {"page": self.page, "meta": self.meta, "json_url": self.meta.json_url, **self.beside}


def show(request: HttpRequest, name: Hashable, make: Callable[[], Shown], *, as_json: bool = False) -> HttpResponse:
    """Answer with the page as it stands; it is made anew only where something was published since it was kept.

    `name` tells this page from every other, with all that the request chose. `make` raises Http404 where there is none.
    """
    as_json = as_json or wants_json(request)
    if not as_json and not is_anonymous(request):
        shown = make()
        return personal(render(request, shown.template, shown.context))
    if as_json:
        return answer(request, ("json", name), lambda: dumps(make().page), JSON)
    return answer(request, ("html", name), lambda: _html(make()), HTML)


def answer(request: HttpRequest, name: Hashable, make: Callable[[], bytes], content_type: str) -> HttpResponse:
    """The bytes that `make` makes of the evidence as it stands."""
    stands = edition()

    def made() -> tuple[Version, bytes]:
        before = stands
        for _ in range(_TRIES):
            body = make()
            after = edition()
            if after == before:
                break
            before = after  # something was published while it was made, and may be in one half of it
        return _version(before), body

    return respond(request, name=name, version=_version(stands), make=made, content_type=content_type)


def there(found: Value | None, otherwise: str) -> Value:
    """What was found, else a 404 that says so."""
    if found is None:
        raise Http404(otherwise)
    return found


def read(make: Callable[[], Value]) -> Value:
    """What a read gives; a place that no page of its list has is the request's fault."""
    try:
        return make()
    except InvalidCursor:
        raise BadRequest("The place in the address belongs to no page of this list. Begin again without it.") from None


def described(title: str, description: str, path: str, json_path: str) -> Meta:
    """What the head says of a page at this path of the site."""
    return Meta(title, description, settings.BASE_URL + path, json_path)


def _version(stands: Edition) -> Version:
    return Version(stands.parts, stands.changed)


def _html(shown: Shown) -> bytes:
    # Without the request: nothing of who asked, or how, can get into a page that others will be given.
    return render_to_string(shown.template, shown.context).encode()
