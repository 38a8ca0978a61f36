"""A comparison as CSV and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.urls import reverse

from runs.policy.comparison import Ratio
from runs.reads.compare import ComparedRun, ComparePage, Field, Verdict
from runs.reads.format import date, figure, number
from runs.reads.links import compare_url
from runs.views.tables import csv_bytes, markdown_table, markdown_text


def as_csv(page: ComparePage) -> bytes:
    """A row a field, a column a run; `equal` says whether the runs agree in it."""
    header = ["section", "field", "equal", *(run.letter for run in page.runs)]
    return csv_bytes(header, _csv_rows(page))


def _csv_rows(page: ComparePage) -> Iterator[list[Any]]:
    for name, values in _facts(page):
        yield ["run", name, len(set(values)) == 1, *values]
    for section in page.sections:
        for fields, equal in ((section.differing, False), (section.equal, True)):
            for field in fields:
                yield [section.name, field.name, equal, *field.values]
    yield ["verdict", "outcome", "", page.verdict.outcome]
    yield ["verdict", "leaders", "", page.verdict.leaders]
    yield ["verdict", "mismatches", "", " ".join(mismatch.part for mismatch in page.verdict.mismatches)]


def _facts(page: ComparePage) -> Iterator[tuple[str, list[Any]]]:
    runs = page.runs
    yield "id", [str(run.id) for run in runs]
    yield "digest", [run.digest for run in runs]
    yield "url", [_url(run) for run in runs]
    yield "implementation", [run.implementation.name for run in runs]
    yield "status", [run.status for run in runs]
    yield "evidence_level", [run.level for run in runs]
    yield "disputed", [run.disputed for run in runs]
    yield "illustrative", [run.illustrative for run in runs]
    yield "events", [" ".join(event.kind for event in run.events) for run in runs]
    yield "value", [run.primary.value if run.primary else None for run in runs]
    yield "unit", [run.primary.unit if run.primary else None for run in runs]
    yield "ratio", [run.ratio.value if run.ratio else None for run in runs]
    yield "ratio_low", [run.ratio.low if run.ratio else None for run in runs]
    yield "ratio_high", [run.ratio.high if run.ratio else None for run in runs]
    yield "rank", [run.rank for run in runs]
    yield "reasons", [" ".join(reason.code for reason in run.reasons) for run in runs]
    yield "comparison_key", [run.comparison_key for run in runs]
    yield "observed_at", [run.observed_at for run in runs]


def as_markdown(page: ComparePage) -> bytes:
    """The verdict, the runs, and a table for each part in which they differ."""
    address = settings.BASE_URL + compare_url(*(run.id for run in page.runs))
    lines = [f"# {len(page.runs)} runs compared\n", f"{_sentence(page)}\n"]
    rows = [
        [
            run.letter,
            f"[{markdown_text(run.implementation.name)}]({_url(run)})",
            markdown_text(f"{figure(run.primary)} {run.primary.statistic}") if run.primary else "none",
            ratio_text(run.ratio) if run.ratio else "none",
            f"{run.rank} of {run.ranked}" if run.rank else "none",
            markdown_text(_state(run)),
            date(run.observed_at),
        ]
        for run in page.runs
    ]
    lines.append(markdown_table(["", "run", "value", "ratio", "rank", "state", "observed"], rows))
    for section in page.sections:
        lines.append(f"## {section.name.capitalize()}\n")
        equal = len(section.equal)
        if section.differing:
            header = ["field", *(run.letter for run in page.runs)]
            lines.append(markdown_table(header, [_markdown_row(field) for field in section.differing]))
            lines.append(f"{section.more} more fields differ.\n" if section.more else "")
            lines.append(f"Equal: {equal} {'field' if equal == 1 else 'fields'}.\n")
        else:
            lines.append("Nothing differs.\n")
    lines.append(f"Source: <{address}>\n")
    return "\n".join(line for line in lines if line).encode()


def _markdown_row(field: Field) -> list[str]:
    return [
        markdown_text(field.name),
        *("not stated" if value is None else markdown_text(value) for value in field.values),
    ]


def _state(run: ComparedRun) -> str:
    words = [run.status.replace("_", " "), run.level]
    words += ["disputed"] if run.disputed else []
    words += [event.kind.replace("_", " ") for event in run.events]
    words += ["illustrative, not a measurement"] if run.illustrative else []
    return ", ".join(words)


def ratio_text(ratio: Ratio) -> str:
    """`1.10 ×`, with the ends where there are any."""
    ends = f" ({number(ratio.low)} to {number(ratio.high)})" if ratio.low is not None and ratio.high is not None else ""
    return f"{number(ratio.value)} ×{ends}"


def _sentence(page: ComparePage) -> str:
    verdict = page.verdict
    if verdict.outcome == "ahead":
        return f"{verdict.leaders} is ahead of the others by the ranks of their comparison group."
    if verdict.outcome == "shared":
        return f"{', '.join(verdict.leaders)} share a rank of their comparison group: none of them is ahead."
    if verdict.outcome == "alone":
        return "No winner: fewer than two of these runs rank."
    return f"No winner: these runs are of different comparison groups. {_first_mismatch(verdict)}"


def _first_mismatch(verdict: Verdict) -> str:
    parts = ", ".join(mismatch.part for mismatch in verdict.mismatches)
    return f"The first material mismatch is the {verdict.mismatches[0].part}; what would have to match: {parts}."


def _url(run: ComparedRun) -> str:
    return str(settings.BASE_URL) + reverse("run", args=[run.id])
