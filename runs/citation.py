"""Citing one run: as text, BibTeX, RIS, CSL-JSON and CFF, and as schema.org metadata in its page.

Every form carries the digest, by which anyone can tell whether they read the same record; the permalink; the date of
access; and the rank as of that date, because a rank changes as others publish.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import yaml
from django.urls import reverse

from runs.reads import format as spelled
from runs.reads.values import RunPage

PUBLISHER: Final = "KernelIndex"

# Licences of sources that go by their SPDX identifier: CFF takes no other.
_SPDX: Final = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC-BY-4.0",
        "CC-BY-SA-4.0",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MPL-2.0",
    }
)
_LICENCE_PAGE: Final = "https://spdx.org/licenses/{}.html"


@dataclass(frozen=True, slots=True)
class Citation:
    """What all forms say of a run, in words."""

    key: str
    title: str
    author: str
    published: date
    accessed: date
    observed: date
    url: str
    digest: str
    license: str
    result: str  # "latency median 73.7 µs", or the status of a run without a result
    standing: str  # "rank 2 of 2 in its comparison group as of 2026-12-01"
    warnings: tuple[str, ...]  # retracted, superseded, illustrative

    @property
    def note(self) -> str:
        """What a form without fields for it says in its note."""
        parts = (
            *self.warnings,
            f"{self.result}, {self.standing}",
            f"observed {self.observed}",
            f"digest {self.digest}",
        )
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class CitationLink:
    """One form of the citation: its name, where it is, and for the plain text what it says."""

    label: str
    url: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """A form of citation: what it is called, its media type, and how it is written."""

    label: str
    media_type: str
    write: Callable[[Citation], str]


def citation(page: RunPage, today: date) -> Citation:
    """The citation of a run as it stands today."""
    if page.primary:
        result = f"{page.primary.metric} {page.primary.statistic} {spelled.figure(page.primary)}"
    else:
        result = f"status {page.status}"
    if page.rank:
        standing = f"rank {page.rank} of {page.ranked} in its comparison group as of {today}"
    else:
        standing = f"not ranked as of {today}"
    warnings = [f"{event.kind} on {spelled.date(event.at)}" for event in page.events]
    return Citation(
        key=f"kernelindex-{page.digest.removeprefix('sha256:')[:12]}",
        title=page.title,
        author=page.source.name,
        published=page.published_at.date(),
        accessed=today,
        observed=page.observed_at.date(),
        url=page.permalink,
        digest=page.digest,
        license=page.source.license,
        result=result,
        standing=standing,
        warnings=(*warnings, *(["illustrative, not measured"] if page.illustrative else [])),
    )


def text(cited: Citation) -> str:
    """One paragraph."""
    warnings = "".join(f" [{warning}]" for warning in cited.warnings)
    return (
        f"{cited.author}. {cited.title}{warnings}: {cited.result}. Benchmark run observed {cited.observed}. "
        f"{PUBLISHER}, {cited.published}. {cited.digest}. {cited.url} (accessed {cited.accessed}; {cited.standing}).\n"
    )


_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        # Not as \{ and \}: BibTeX counts those too, and an odd one would end the field.
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "$": r"\$",
        "&": r"\&",
        "%": r"\%",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)


def _line(value: str) -> str:
    """A value in one line: line breaks would end a field of RIS."""
    return " ".join(value.split())


def bibtex(cited: Citation) -> str:
    """An entry for BibTeX and biblatex, in UTF-8 with TeX's own characters escaped."""

    def escaped(value: str) -> str:
        return _line(value).translate(_LATEX)

    fields = {
        "author": f"{{{escaped(cited.author)}}}",  # in braces of its own: an organisation, not given and family name
        "title": f"{{{escaped(cited.title)}}}",
        "year": f"{cited.published.year}",
        "month": f"{cited.published.month}",
        "publisher": PUBLISHER,
        "howpublished": "Benchmark run",
        "url": cited.url,
        "urldate": f"{cited.accessed}",
        "note": escaped(cited.note),
    }
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{cited.key},\n{body}\n}}\n"


def ris(cited: Citation) -> str:
    """A reference in RIS, of the type DATA."""
    lines = (
        ("TY", "DATA"),
        ("ID", cited.key),
        ("AU", cited.author),
        ("TI", cited.title),
        ("PY", f"{cited.published.year}"),
        ("DA", f"{cited.published:%Y/%m/%d}"),
        ("PB", PUBLISHER),
        ("AN", cited.digest),
        ("UR", cited.url),
        ("Y2", f"{cited.accessed:%Y/%m/%d}"),
        ("N1", cited.note),
        ("ER", ""),
    )
    return "".join(f"{tag}  - {_line(value)}\r\n" for tag, value in lines)


def csl_json(cited: Citation) -> str:
    """An item of CSL-JSON 1.0, in a list as reference managers take it."""
    item = {
        "id": cited.key,
        "type": "dataset",
        "title": cited.title,
        "author": [{"literal": cited.author}],
        "publisher": PUBLISHER,
        "genre": "Benchmark run",
        "number": cited.digest,
        "URL": cited.url,
        "issued": {"date-parts": [_parts(cited.published)]},
        "accessed": {"date-parts": [_parts(cited.accessed)]},
        "note": cited.note,
    }
    return json.dumps([item], ensure_ascii=False, indent=2) + "\n"


def _parts(day: date) -> list[int]:
    return [day.year, day.month, day.day]


def cff(cited: Citation) -> str:
    """A citation file of the Citation File Format 1.2.0."""
    document: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": f"Cite this record as below; accessed {cited.accessed}, {cited.standing}.",
        "type": "dataset",
        "title": cited.title,
        "abstract": cited.note,
        "authors": [{"name": cited.author}],
        "date-released": cited.published,
        "url": cited.url,
        "identifiers": [
            {"type": "other", "value": cited.digest, "description": "SHA-256 of the record's canonical manifest"}
        ],
    }
    if cited.license in _SPDX:
        document["license"] = cited.license
    written: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000)
    return written


FORMS: Final[Mapping[str, Form]] = {
    "txt": Form("Plain text", "text/plain; charset=utf-8", text),
    "bib": Form("BibTeX", "application/x-bibtex; charset=utf-8", bibtex),
    "ris": Form("RIS", "application/x-research-info-systems; charset=utf-8", ris),
    "csl.json": Form("CSL-JSON", "application/vnd.citationstyles.csl+json", csl_json),
    "cff": Form("CFF", "application/yaml; charset=utf-8", cff),
}


def links(page: RunPage, cited: Citation) -> tuple[CitationLink, ...]:
    """All forms of a run's citation."""
    return tuple(
        CitationLink(
            form.label, reverse("run-cite", args=[page.id, name]), text(cited).strip() if form.write is text else None
        )
        for name, form in FORMS.items()
    )


def json_ld(page: RunPage, cited: Citation, *, json_url: str, manifest_url: str) -> dict[str, Any]:
    """schema.org's Dataset of a run. The URLs are absolute."""
    dataset: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "@id": cited.url,
        "url": cited.url,
        "name": cited.title,
        "description": f"Benchmark run of {page.implementation.name} for {page.operation.name} on "
        f"{page.hardware.name}: {cited.result}; {cited.standing}. {page.correctness_note}",
        "identifier": cited.digest,
        "creator": {
            "@type": "Organization",
            "name": cited.author,
            **({"url": page.source.url} if page.source.url else {}),
        },
        "publisher": _organization(PUBLISHER),
        "datePublished": f"{cited.published}",
        "temporalCoverage": page.observed,
        "isAccessibleForFree": True,
        "measurementTechnique": " · ".join(fact.value for fact in page.protocol if fact.name in {"harness", "timer"}),
        "variableMeasured": [
            {
                "@type": "PropertyValue",
                "name": f"{figure.metric} {figure.statistic}",
                "value": figure.value,
                "unitText": figure.unit,
            }
            for figure in page.measurements
        ],
        "distribution": [
            {"@type": "DataDownload", "encodingFormat": "application/json", "contentUrl": address}
            for address in (json_url, manifest_url)
        ],
    }
    if cited.license:
        dataset["license"] = _LICENCE_PAGE.format(cited.license) if cited.license in _SPDX else cited.license
    return dataset


def _organization(name: str, url: str = "") -> dict[str, str]:
    return {"@type": "Organization", "name": name, **({"url": url} if url else {})}
