"""The software projects that implementations come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

from runs.reads.implementations import ImplementationList, implementation_list
from runs.reads.links import project_link
from runs.reads.places import read_place, write_place
from runs.reads.rows import fetch
from runs.reads.values import Fact, Link

PAGE: Final = 200

_LIST: Final = """
SELECT p.slug, p.name, p.url, count(DISTINCT i.id) AS found, count(DISTINCT i.operation_id) AS operations
FROM (SELECT * FROM runs_project WHERE {condition} ORDER BY name, slug LIMIT {limit}) p
LEFT JOIN runs_implementation i ON i.project_id = p.id
GROUP BY p.id, p.slug, p.name, p.url ORDER BY p.name, p.slug
"""


@dataclass(frozen=True, slots=True)
class ProjectRow:
    link: Link
    url: str
    implementations: int
    operations: int


@dataclass(frozen=True, slots=True)
class ProjectList:
    rows: tuple[ProjectRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """A project, and one page of its implementations."""

    link: Link
    digest: str
    url: str
    facts: tuple[Fact, ...]
    implementations: ImplementationList


def project_list(after: str = "") -> ProjectList:
    """One page of them. One statement. Raises InvalidCursor."""
    place = read_place(after, 2)
    condition = "(name, slug) > (%s, %s)" if place else "1 = 1"
    found = fetch(_LIST.format(condition=condition, limit=PAGE + 1), place or ())
    rows = tuple(
        ProjectRow(project_link(row["slug"], row["name"]), row["url"], row["found"], row["operations"])
        for row in found[:PAGE]
    )
    last = rows[-1].link if len(found) > PAGE else None
    return ProjectList(rows, write_place(last.name, last.slug) if last else None)


def project_page(slug: str, after: str = "") -> ProjectPage | None:
    """A project, or None where there is none. Two statements. Raises InvalidCursor."""
    found = fetch("SELECT id, slug, name, url, digest, canonical FROM runs_project WHERE slug = %s", [slug])
    if not found:
        return None
    row = found[0]
    spec = orjson.loads(row["canonical"])["spec"]
    return ProjectPage(
        project_link(row["slug"], row["name"]),
        row["digest"],
        row["url"],
        tuple(_facts(spec)),
        implementation_list(after, row["id"]),
    )


def _facts(spec: dict[str, Any]) -> list[Fact]:
    found = [Fact(name, spec[name]) for name in ("kind", "repository", "homepage") if name in spec]
    if "host" in spec:
        found.append(Fact("host", f"{spec['host']['kind']} · {spec['host']['id']}"))
    return [*found, *(Fact(f"package ({each['ecosystem']})", each["name"]) for each in spec.get("packages", ()))]
