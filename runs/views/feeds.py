"""The feeds: what is new, for programs that follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from kernelindex.methods import read_only
from runs import feeds
from runs.reads.records import latest_records
from runs.reads.run_list import run_rows
from runs.views.shown import answer

ENTRIES: Final = 50
_FORMS: Final[dict[str, tuple[Callable[[feeds.Feed], bytes], str]]] = {
    "atom": (feeds.atom, feeds.ATOM),
    "json": (feeds.json_feed, feeds.JSON_FEED),
}


@read_only
def records(request: HttpRequest, form: str) -> HttpResponse:
    """First places that were taken from another run, those published last first."""
    return _feed(
        request,
        "records",
        form,
        title="New records",
        description="Runs that took the first place of their comparison group from another run.",
        items=lambda: feeds.record_items(latest_records(), settings.BASE_URL),
    )


@read_only
def runs(request: HttpRequest, form: str) -> HttpResponse:
    """The runs that were published last. Made-up ones are no news."""
    return _feed(
        request,
        "runs",
        form,
        title="New runs",
        description="Benchmark runs of GPU kernels, the latest first.",
        items=lambda: feeds.run_items(run_rows("NOT r.illustrative", [], limit=ENTRIES), settings.BASE_URL),
    )


def _feed(
    request: HttpRequest,
    name: str,
    form: str,
    *,
    title: str,
    description: str,
    items: Callable[[], tuple[feeds.Item, ...]],
) -> HttpResponse:
    if form not in _FORMS:
        raise Http404(f"Feeds come as {', '.join(_FORMS)}.")
    write, content_type = _FORMS[form]

    def make() -> bytes:
        address = settings.BASE_URL + reverse(f"feed-{name}", args=[form])
        home = settings.BASE_URL + reverse(name)
        return write(feeds.Feed(f"KernelIndex: {title.lower()}", description, home, address, items()))

    return answer(request, ("feed", name, form), make, content_type)
