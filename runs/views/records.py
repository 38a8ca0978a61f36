"""Records: who is first now, what was displaced, the history of one group, and its chart."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from kernelindex.methods import read_only
from runs import charts
from runs.reads.lookup import parse_digest
from runs.reads.records import RecordPage, chart, record_list, record_page
from runs.reads.tallies import tallies
from runs.views.charts import drawn
from runs.views.shown import Shown, described, read, show, there

_UNKNOWN = "There is no comparison group with this key."
_FILTERS = ("operation", "hardware")


@read_only
def records(request: HttpRequest, *, as_json: bool = False) -> HttpResponse:
    """The first of every comparison group, those observed last first."""
    filters = {name: value for name in _FILTERS if (value := request.GET.get(name, "")[:200].replace("\x00", ""))}
    cursor = request.GET.get("cursor", "")

    def address(name: str, at: str | None) -> str:
        query = urlencode({**filters, **({"cursor": at} if at else {})})
        return reverse(name) + (f"?{query}" if query else "")

    def make() -> Shown:
        page = read(lambda: record_list(filters, cursor))
        counts = tallies()
        options = {name: counts.of[name] for name in _FILTERS}
        shown = [
            next((count.name for count in options[name] if count.slug == value), value)
            for name, value in filters.items()
        ]
        meta = described(
            " · ".join(["Records", *shown]),
            "The first run of each comparison group: since when it is first, what it displaced, and by how much.",
            address("records", cursor),
            address("records-json", cursor),
        )
        beside = {
            "filters": filters,
            "options": options,
            "next_url": address("records", page.next) if page.next else None,
            "previous_url": address("records", page.previous) if page.previous else None,
        }
        return Shown(page, "runs/records.html", meta, beside)

    return show(request, ("records", *sorted(filters.items()), cursor), make, as_json=as_json)


@read_only
def record(request: HttpRequest, key: str, *, as_json: bool = False) -> HttpResponse:
    """The history of one comparison group's first place."""

    def make() -> Shown:
        page = _page(key)
        meta = described(
            f"Record · {page.row.operation.name} · {page.row.hardware.name}",
            f"Who was first when in the comparison group of {page.row.operation.name}, {page.row.workload}, on "
            f"{page.row.hardware.name}.",
            page.row.url,
            reverse("record-json", args=[page.row.key[7:23]]),
        )
        picture = chart(page)
        address = reverse("record-steps", args=[page.row.key[7:23]])
        drawing = {"picture": picture, "url": f"{address}?v={charts.digest(picture)}"} if picture else None
        return Shown(page, "runs/record.html", meta, {"chart": drawing})

    return show(request, ("record", key), make, as_json=as_json)


@read_only
def steps_svg(request: HttpRequest, key: str) -> HttpResponse:
    """The chart of a group's history."""
    return drawn(request, lambda: there(chart(_page(key)), "There is nothing to draw: the first place never changed."))


def _page(key: str) -> RecordPage:
    digits = parse_digest(key)
    if digits is None:
        raise Http404(_UNKNOWN)
    return there(record_page(digits), _UNKNOWN)
