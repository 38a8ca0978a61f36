"""Operations: the list, the page of one, and its chart."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from kernelindex.methods import read_only
from runs import charts
from runs.reads.operations.choice import Choice, UnknownChoice, parse_choice
from runs.reads.operations.listing import operation_list
from runs.reads.operations.page import operation_page, operation_scaling
from runs.reads.operations.scaling import chart
from runs.reads.operations.values import OperationPage
from runs.views.charts import drawn
from runs.views.shown import Shown, described, read, show, there

_UNKNOWN = "There is no operation of this name."
_UNCHOSEN = "Nothing of this operation was measured so. Begin again without the choices in the address."


@read_only
def operations(request: HttpRequest, *, as_json: bool = False) -> HttpResponse:
    """Every operation, by family."""
    after = request.GET.get("after", "")

    def make() -> Shown:
        page = read(lambda: operation_list(after))
        path, json_path = reverse("operations"), reverse("operations-json")
        query = f"?{urlencode({'after': after})}" if after else ""
        meta = described(
            "Operations",
            "The operations that GPU kernels are benchmarked on, by family, with how many runs there are of each.",
            path + query,
            json_path + query,
        )
        next_url = f"{path}?{urlencode({'after': page.next})}" if page.next else None
        return Shown(page, "runs/operations.html", meta, {"next_url": next_url})

    return show(request, ("operations", after), make, as_json=as_json)


@read_only
def operation(request: HttpRequest, slug: str, *, as_json: bool = False) -> HttpResponse:
    """One operation: what it computes, who is first where, how it scales, and what nobody measured."""
    choice = _choice(request)
    return show(request, ("operation", slug, choice), lambda: _operation(slug, choice), as_json=as_json)


@read_only
def scaling_svg(request: HttpRequest, slug: str) -> HttpResponse:
    """The chart of an operation's page."""
    choice = _choice(request)

    def make() -> charts.Chart:
        try:
            found = operation_scaling(slug, choice)
        except UnknownChoice:
            raise Http404(_UNCHOSEN) from None
        name, measured, figure = there(found, "There is nothing to draw: fewer than two sizes were measured.")
        return chart(name, measured, figure)

    return drawn(request, make)


def _choice(request: HttpRequest) -> Choice:
    try:
        return parse_choice(request.GET)
    except UnknownChoice:
        raise Http404(_UNCHOSEN) from None


def _operation(slug: str, choice: Choice) -> Shown:
    try:
        page = there(operation_page(slug, choice), _UNKNOWN)
    except UnknownChoice:
        raise Http404(_UNCHOSEN) from None
    path, query = reverse("operation", args=[slug]), choice.query()
    suffix = f"?{query}" if query else ""
    meta = described(
        " · ".join([page.name, *(fact.value for fact in page.chosen)]),
        f"{page.name}: {page.runs:,} benchmark runs in {page.groups:,} comparison groups, "
        f"the first of each by workload and GPU.",
        path + suffix,
        reverse("operation-json", args=[slug]) + suffix,
    )
    beside = {
        "next_url": f"{path}?{choice.query(after=page.coverage.next)}" if page.coverage.next else None,
        "chart": _chart(page, choice),
        "environment_urls": {
            column.environment: f"{path}?{choice.query(environment=column.environment, after='')}"
            for column in page.coverage.columns
        },
    }
    return Shown(page, "runs/operation.html", meta, beside)


def _chart(page: OperationPage, choice: Choice) -> dict[str, object] | None:
    """The picture's addresses and its size, for a page that has one."""
    if page.scaling is None:
        return None
    way = next(option for option in page.measured if option.chosen)
    picture = chart(page.name, way.label.rpartition(" · ")[0], page.scaling)
    address = reverse("operation-scaling", args=[page.slug])
    query = choice.query(after="")
    address = f"{address}?{query}&" if query else f"{address}?"
    return {"picture": picture, "url": f"{address}v={charts.digest(picture)}"}
