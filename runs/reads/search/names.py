"""Operations and implementations that match a search by name, and what there is to search for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from runs.reads.links import implementation_link, operation_link
from runs.reads.rows import as_uuid, fetch
from runs.reads.search.links import search_url
from runs.reads.search.meaning import Meaning
from runs.reads.search.values import Known, NameHit, NameList, Suggestion
from runs.reads.search.vocabulary import Implementation, Operation, Vocabulary
from runs.reads.search.words import holds, squash

SHOWN: Final = 10  # names of each kind
_ANY_GROUP: Final = """
SELECT g.operation_id, g.environment_id, (SELECT w.dtype FROM runs_workload w WHERE w.id = g.workload_id) AS dtype
FROM runs_comparisongroup g ORDER BY g.key LIMIT 1
"""
_MOST_KNOWN: Final = 60  # names of each kind where nothing was asked


def matching_names(meaning: Meaning, known: Vocabulary) -> NameList:
    """Operations, those that were named first, and implementations whose names hold a word of the query."""
    said = [word for word in map(squash, meaning.operation_names) if word]
    wanted = [word for word in map(squash, meaning.names) if word]
    named = meaning.facets.operations or frozenset()
    families = {known.operations[id_].family for id_ in named}
    operations = [
        operation
        for operation in known.operations.values()
        if operation.id in named
        or operation.family in families
        or _any((*operation.names, operation.family), said or wanted)
    ]
    operations.sort(key=lambda operation: (operation.id not in meaning.preferred, operation.id not in named))
    implementations = [
        implementation
        for implementation in known.implementations.values()
        if (not named or implementation.operation in named)
        and (_any(known.names_of(implementation), wanted) or squash(implementation.slug) in wanted)
    ]
    return NameList(
        tuple(
            [_operation(operation) for operation in operations[:SHOWN]]
            + [_implementation(implementation, known) for implementation in implementations[:SHOWN]]
        ),
        len(operations) + len(implementations),
    )


def _any(names: Iterable[str], wanted: list[str]) -> bool:
    kept = tuple(names)
    return any(holds(kept, word) for word in wanted)


def _operation(operation: Operation) -> NameHit:
    aliases = ", ".join(operation.aliases)
    detail = f"{operation.family}; also {aliases}" if aliases else operation.family
    return NameHit("operation", operation_link(operation.slug, operation.name), detail)


def _implementation(implementation: Implementation, known: Vocabulary) -> NameHit:
    operation = known.operations[implementation.operation].name
    license_ = implementation.license or "licence unknown"
    link = implementation_link(implementation.slug, implementation.title)
    return NameHit("implementation", link, f"{operation}, {implementation.language}, {license_}")


def known_names(known: Vocabulary) -> Known:
    """What the index can be asked for, each as a search."""
    operations = [
        Suggestion(operation.name, search_url(f"op:{operation.slug}")) for operation in known.operations.values()
    ]
    hardware = [
        Suggestion(name, search_url(f"gpu:{slug}")) for slug, name in known.hardware(known.environments).items()
    ]
    return Known(
        tuple(operations[:_MOST_KNOWN]),
        tuple(hardware[:_MOST_KNOWN]),
        known.dtypes,
        known.languages,
        known.axes,
        _example(known),
    )


def _example(known: Vocabulary) -> Suggestion | None:
    """A search that finds something: the operation, hardware and dtype of one group."""
    group = fetch(_ANY_GROUP)
    if not group:
        return None
    operation = known.operations[as_uuid(group[0]["operation_id"])]
    environment = known.environments[as_uuid(group[0]["environment_id"])]
    name = min((*operation.aliases, operation.slug), key=len)
    text = " ".join(filter(None, (name, f"gpu:{environment.hardware}", group[0]["dtype"])))
    return Suggestion(text, search_url(text))
