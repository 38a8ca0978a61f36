"""What the index can be asked for: operations, hardware, dtypes, languages and the rest, as the database has them.

These tables are small beside the runs. A process keeps what it read and reads it anew when one of them has a new row,
or after half a minute: two importers may finish in another order than they began.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, TypeVar
from uuid import UUID

from runs.reads.rows import Row, as_uuid, fetch, fetch_tuple
from runs.reads.search.words import canonical_dtype, spans, squash, tokens

Record = TypeVar("Record")

_MAX_AGE: Final = 30.0  # seconds
_TABLES: Final = (
    "operation",
    "operationalias",
    "environment",
    "implementation",
    "project",
    "protocol",
    "source",
    "workload",
)
_NEWEST: Final = "SELECT " + ", ".join(f"(SELECT id FROM runs_{table} ORDER BY id DESC LIMIT 1)" for table in _TABLES)  # noqa: S608
# Each name is found with one probe of the index on (name, value), however many rows bear it.
_AXES: Final = """
WITH RECURSIVE names(name) AS (
    SELECT min(name) FROM runs_workloadaxis
    UNION ALL
    SELECT (SELECT min(a.name) FROM runs_workloadaxis a WHERE a.name > n.name) FROM names n WHERE n.name IS NOT NULL)
SELECT name FROM names WHERE name IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Operation:
    id: UUID
    slug: str
    name: str
    family: str
    aliases: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What people call it; the slug, which begins with its source's name, is matched only as a whole."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class Environment:
    id: UUID
    title: str
    hardware: str
    product: str  # with its form factor
    vendor: str
    architecture: str
    spans: frozenset[str]
    """Runs of words of its name that can stand for it: `h100`, `h100pcie`, `nvidiah100`."""


@dataclass(frozen=True, slots=True)
class Implementation:
    id: UUID
    slug: str
    name: str
    title: str
    language: str
    license: str
    project: UUID | None
    operation: UUID


@dataclass(frozen=True, slots=True)
class Named:
    """A project, a protocol or a source."""

    id: UUID
    slug: str
    name: str


class StaleVocabulary(LookupError):
    """A row refers to a record that was published after the vocabulary was read."""


class Records(dict[UUID, Record]):
    """Records by id. One that is missing was published since."""

    def __missing__(self, id_: UUID) -> Record:
        raise StaleVocabulary(id_)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Everything that a term can mean."""

    operations: Mapping[UUID, Operation]
    environments: Mapping[UUID, Environment]
    implementations: Mapping[UUID, Implementation]
    projects: Mapping[UUID, Named]
    protocols: Mapping[UUID, Named]
    sources: Mapping[UUID, Named]
    dtypes: tuple[str, ...]
    axes: tuple[str, ...]
    operation_names: Mapping[str, frozenset[UUID]] = field(init=False)
    """Operations by squashed name, alias or slug."""
    operation_families: Mapping[str, frozenset[UUID]] = field(init=False)
    """Operations by squashed family."""
    hardware_names: frozenset[str] = field(init=False)
    """What stands for hardware as a bare word: a name with a number in it, or a whole name or vendor."""
    languages: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        named: dict[str, set[UUID]] = defaultdict(set)
        families: dict[str, set[UUID]] = defaultdict(set)
        for operation in self.operations.values():
            families[squash(operation.family)].add(operation.id)
            for name in (*operation.names, operation.slug):
                named[squash(name)].add(operation.id)
        object.__setattr__(self, "operation_names", {name: frozenset(ids) for name, ids in named.items()})
        object.__setattr__(self, "operation_families", {name: frozenset(ids) for name, ids in families.items()})
        hardware: set[str] = set()
        for environment in self.environments.values():
            hardware.update(span for span in environment.spans if _is_distinct(span))
            hardware |= {squash(environment.product), squash(environment.vendor), squash(environment.hardware)}
        object.__setattr__(self, "hardware_names", frozenset(hardware))
        languages = {implementation.language for implementation in self.implementations.values()}
        object.__setattr__(self, "languages", tuple(sorted(languages)))

    def names_of(self, implementation: Implementation) -> tuple[str, ...]:
        """Title, project, and what its own name adds to that of its operation: sources name both alike."""
        own = implementation.name.removeprefix(self.operations[implementation.operation].slug)
        project = (self.projects[implementation.project].name,) if implementation.project else ()
        return (implementation.title, own, *project)

    def hardware(self, environments: Iterable[UUID]) -> dict[str, str]:
        """Slugs and names of the hardware of some environments, by name."""
        found = {self.environments[id_].hardware: self.environments[id_].product for id_ in environments}
        return dict(sorted(found.items(), key=lambda item: item[1].lower()))


def _is_distinct(span: str) -> bool:
    """Whether a part of a name is typed for nothing else: `h100` and `4090`, but not `pc` or `80`."""
    return any(map(str.isdigit, span)) and (len(span) > 3 if span.isdigit() else len(span) > 1)


_kept: dict[str, tuple[Any, float, Vocabulary]] = {}
_lock = Lock()


def vocabulary() -> Vocabulary:
    """The vocabulary as it is now: one statement where it is known."""
    newest = fetch_tuple(_NEWEST)
    now = time.monotonic()
    kept = _kept.get("vocabulary")
    if kept and kept[0] == newest and now - kept[1] < _MAX_AGE:
        return kept[2]
    read = _read()
    with _lock:
        _kept["vocabulary"] = (newest, now, read)
    return read


def forget() -> None:
    """Drop what was read, as a test does that begins with another database."""
    with _lock:
        _kept.clear()


def _read() -> Vocabulary:
    aliases: dict[UUID, list[str]] = defaultdict(list)
    for row in fetch("SELECT operation_id, alias FROM runs_operationalias ORDER BY alias"):
        aliases[as_uuid(row["operation_id"])].append(row["alias"])
    operations = [
        Operation(as_uuid(row["id"]), row["slug"], row["name"], row["family"], tuple(aliases[as_uuid(row["id"])]))
        for row in fetch("SELECT id, slug, name, family FROM runs_operation ORDER BY lower(name), slug")
    ]
    implementations = [
        Implementation(
            as_uuid(row["id"]),
            row["slug"],
            row["name"],
            row["title"],
            row["language"],
            row["license"],
            as_uuid(row["project_id"]) if row["project_id"] else None,
            as_uuid(row["operation_id"]),
        )
        for row in fetch(
            "SELECT id, slug, name, title, language, license, project_id, operation_id FROM runs_implementation "
            "ORDER BY lower(title), slug"
        )
    ]
    return Vocabulary(
        operations=Records((operation.id, operation) for operation in operations),
        environments=_environments(),
        implementations=Records((implementation.id, implementation) for implementation in implementations),
        projects=_named("SELECT id, slug, name FROM runs_project ORDER BY lower(name), slug"),
        protocols=_named("SELECT id, harness AS slug, title AS name FROM runs_protocol ORDER BY lower(title), id"),
        sources=_named("SELECT id, slug, name FROM runs_source ORDER BY lower(name), slug"),
        dtypes=tuple(
            sorted(
                (row["dtype"] for row in fetch("SELECT DISTINCT dtype FROM runs_workload WHERE dtype <> ''")),
                key=canonical_dtype,
            )
        ),
        axes=tuple(row["name"] for row in fetch(_AXES)),
    )


def _environments() -> Records[Environment]:
    rows = fetch(
        "SELECT id, title, hardware, vendor, product, form_factor, architecture FROM runs_environment "
        "ORDER BY lower(product), id"
    )
    return Records((environment.id, environment) for environment in map(_environment, rows))


def _environment(row: Row) -> Environment:
    product = " ".join(filter(None, (row["product"], row["form_factor"])))
    words = tokens(product)
    named = set(spans(words)) | {squash(row["hardware"]), squash(row["vendor"]), squash(f"{row['vendor']} {product}")}
    return Environment(
        as_uuid(row["id"]),
        row["title"],
        row["hardware"],
        product,
        row["vendor"],
        row["architecture"],
        frozenset(filter(None, named)),
    )


def _named(sql: str) -> Records[Named]:
    named = (Named(as_uuid(row["id"]), row["slug"], row["name"]) for row in fetch(sql))
    return Records((one.id, one) for one in named)
