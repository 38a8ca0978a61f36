"""Chosen runs side by side, as a page, as JSON, CSV and Markdown. What is chosen stands in the address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from kernelindex.errors import error_response
from kernelindex.methods import read_only
from kernelindex.negotiation import wants_json
from runs.policy.comparison import FEWEST, MOST
from runs.reads.chosen import Choice, choices, split
from runs.reads.compare import ComparePage
from runs.reads.compare import compare as compared
from runs.reads.links import compare_url
from runs.views.compare_files import as_csv, as_markdown
from runs.views.shown import Shown, answer, described, show, there
from runs.views.tables import CSV, MARKDOWN

_FILES: Final = {"csv": (CSV, as_csv), "md": (MARKDOWN, as_markdown)}
_GONE: Final = "One of these runs is no longer published."
_DESCRIPTION: Final = (
    "Put two to eight benchmark runs side by side: what differs between them, and which is ahead where they may be "
    "compared."
)


@read_only
def compare(request: HttpRequest, form: str = "html") -> HttpResponse:
    """The comparison of the runs in the address; without any, the form to choose them."""
    if form not in ("html", "json", *_FILES):
        raise Http404("Comparisons come as json, csv, md.")
    if form == "html" and wants_json(request):
        form = "json"
    typed = split(request.GET.getlist("run"))
    chosen = choices(typed) if len(typed) <= MOST else ()
    message, status = _wrong(typed, chosen)
    if status or len(chosen) < FEWEST:
        return _refused(request, form, [*chosen] or [Choice(each) for each in typed], message, status)
    ids = tuple(each.run for each in chosen if each.run)
    if form in _FILES:
        media_type, write = _FILES[form]
        return answer(request, ("compare", form, ids), lambda: write(there(compared(ids), _GONE)), media_type)
    return show(request, ("compare", ids), lambda: _shown(ids), as_json=form == "json")


def _wrong(typed: Sequence[str], chosen: Sequence[Choice]) -> tuple[str, int]:
    """What is wrong with what was typed, and the status that says so: 0 where nothing is."""
    if len(typed) > MOST:
        return f"At most {MOST} runs can be compared at once; these are {len(typed)}.", 400
    problems = [each for each in chosen if each.problem]
    if problems:
        said = " ".join(f"{each.typed}: {each.problem}" for each in problems)
        statuses = {each.status for each in problems}
        return said, 404 if 404 in statuses else max(statuses)
    return "", 0


def _refused(request: HttpRequest, form: str, typed: Sequence[Choice], message: str, status: int) -> HttpResponse:
    """The form, with what was typed in it and what is wrong beside it; programs get problem details."""
    if form != "html":
        return error_response(request, status or 400, message or f"A comparison needs at least {FEWEST} runs.")
    meta = described("Compare runs", _DESCRIPTION, reverse("compare"), "")
    context = {
        "chosen": typed,
        "message": message if len(typed) > MOST else "",
        "one": not status and len(typed) == 1,
        "wrong": any(each.problem for each in typed),
        "meta": meta,
        "most": MOST,
    }
    response = render(request, "runs/compare_form.html", context, status=status or 200)
    response.headers["Cache-Control"] = "no-store"
    patch_vary_headers(response, ["Accept"])
    return response


def _shown(ids: Sequence[UUID]) -> Shown:
    page = there(compared(ids), _GONE)
    query = compare_url(*ids).partition("?")[2]
    names = " against ".join(dict.fromkeys(run.implementation.name for run in page.runs))
    operations = " and ".join(dict.fromkeys(run.operation.name for run in page.runs))
    meta = described(
        f"Compare {names} · {operations}",
        f"{len(page.runs)} benchmark runs side by side. {_verdict(page)}",
        compare_url(*ids),
        f"{reverse('compare-as', args=['json'])}?{query}",
    )
    beside = {
        "query": query,
        "csv_url": f"{reverse('compare-as', args=['csv'])}?{query}",
        "md_url": f"{reverse('compare-as', args=['md'])}?{query}",
        "without": {run.letter: _without(ids, run.id) for run in page.runs},
        "most": MOST,
    }
    return Shown(page, "runs/compare.html", meta, beside)


def _without(ids: Sequence[UUID], run: UUID) -> str:
    rest = [("run", str(each)) for each in ids if each != run]
    return f"{reverse('compare')}?{urlencode(rest)}"


def _verdict(page: ComparePage) -> str:
    verdict = page.verdict
    if verdict.outcome == "no_group":
        return f"No winner: they differ in {', '.join(mismatch.part for mismatch in verdict.mismatches)}."
    names = {run.letter: run.implementation.name for run in page.runs}
    if verdict.outcome == "ahead":
        return f"{names[verdict.leaders]} is ahead in their comparison group."
    return "They share a rank." if verdict.outcome == "shared" else "No winner: fewer than two of them rank."
