"""From the value of a key to the records that it names. Pure: functions of a vocabulary and a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from runs.manifests.kinds.run import STATUSES
from runs.policy.level import EvidenceLevel
from runs.reads.search.facets import Ids, Text
from runs.reads.search.vocabulary import Environment, Implementation, Named, Operation, Vocabulary
from runs.reads.search.words import holds, is_same_dtype, squash

LEVELS: Final = tuple(level.slug for level in EvidenceLevel)


@dataclass(frozen=True, slots=True)
class Found:
    """The values that a text names, and what they are called; empty where it names none."""

    values: frozenset[Any]
    names: tuple[str, ...]


def _first(*choices: Iterable[Any]) -> list[Any]:
    """The first of some selections that selects anything: whole names go before parts of names."""
    return next((chosen for choice in choices if (chosen := list(choice))), [])


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _operations(chosen: Iterable[Operation]) -> Found:
    kept = list(chosen)
    return Found(frozenset(operation.id for operation in kept), _distinct(operation.name for operation in kept))


def operations(words: Vocabulary, text: str) -> Found:
    """The operation of that name; else those of the family; else those whose names hold the text."""
    wanted = squash(text)
    return _operations(
        _first(
            (words.operations[id_] for id_ in words.operation_names.get(wanted, ())),
            (words.operations[id_] for id_ in words.operation_families.get(wanted, ())),
            (operation for operation in words.operations.values() if wanted and holds(operation.names, wanted)),
        )
    )


def bare_operations(words: Vocabulary, text: str) -> Found:
    """Operations by a bare word: the one of that name, and with it the family that is called so."""
    wanted = squash(text)
    named, family = words.operation_names.get(wanted, frozenset()), words.operation_families.get(wanted, frozenset())
    chosen = sorted(named | family, key=lambda id_: (id_ not in named, words.operations[id_].name.lower()))
    return _operations(words.operations[id_] for id_ in chosen)


def environments(words: Vocabulary, text: str) -> Found:
    wanted = squash(text)
    everything = words.environments.values()
    chosen: list[Environment] = _first(
        (environment for environment in everything if wanted in environment.spans),
        (environment for environment in everything if len(wanted) > 1 and wanted in squash(environment.product)),
    )
    return Found(frozenset(one.id for one in chosen), _distinct(one.product for one in chosen))


def architectures(words: Vocabulary, text: str) -> Found:
    chosen = [one for one in words.environments.values() if squash(one.architecture) == squash(text)]
    return Found(frozenset(one.id for one in chosen), _distinct(one.architecture for one in chosen))


def dtypes(words: Vocabulary, text: str) -> Found:
    chosen = tuple(dtype for dtype in words.dtypes if is_same_dtype(text, dtype))
    return Found(frozenset(chosen), chosen)


def _implementations(chosen: Iterable[Implementation], name: Callable[[Implementation], str]) -> Found:
    kept = list(chosen)
    return Found(frozenset(one.id for one in kept), _distinct(map(name, kept)))


def implementations(words: Vocabulary, text: str) -> Found:
    wanted = squash(text)
    everything = words.implementations.values()
    chosen = _first(
        (one for one in everything if wanted in {squash(one.title), squash(one.name), squash(one.slug)}),
        (one for one in everything if wanted and holds((one.title, one.name), wanted)),
    )
    return _implementations(chosen, lambda one: one.title)


def _named(records: Mapping[UUID, Named], text: str) -> list[Named]:
    wanted = squash(text)
    return _first(
        (one for one in records.values() if wanted in {squash(one.name), squash(one.slug)}),
        (one for one in records.values() if wanted and holds((one.name, one.slug), wanted)),
    )


def projects(words: Vocabulary, text: str) -> Found:
    chosen = _named(words.projects, text)
    ids = {one.id for one in chosen}
    found = frozenset(one.id for one in words.implementations.values() if one.project in ids)
    return Found(found, tuple(one.name for one in chosen) if found else ())


def languages(words: Vocabulary, text: str) -> Found:
    wanted = squash(text)
    chosen = (one for one in words.implementations.values() if wanted and squash(one.language) == wanted)
    return _implementations(chosen, lambda one: one.language)


def licenses(words: Vocabulary, text: str) -> Found:
    wanted = squash(text)
    everything = words.implementations.values()
    chosen = _first(
        (one for one in everything if squash(one.license) == ("" if wanted == "unknown" else wanted)),
        (one for one in everything if wanted and wanted in squash(one.license)),
    )
    return _implementations(chosen, lambda one: one.license or "unknown")


def sources(words: Vocabulary, text: str) -> Found:
    chosen = _named(words.sources, text)
    return Found(frozenset(one.id for one in chosen), tuple(one.name for one in chosen))


def _constant(values: tuple[str, ...]) -> Callable[[Vocabulary, str], Found]:
    def resolve(words: Vocabulary, text: str) -> Found:
        chosen = tuple(value for value in values if squash(value) == squash(text))
        return Found(frozenset(chosen), chosen)

    return resolve


RESOLVERS: Final[Mapping[str, Callable[[Vocabulary, str], Found]]] = {
    "op": operations,
    "gpu": environments,
    "arch": architectures,
    "dtype": dtypes,
    "impl": implementations,
    "project": projects,
    "lang": languages,
    "license": licenses,
    "source": sources,
    "evidence": _constant(LEVELS),
    "status": _constant(STATUSES),
}
"""How each key but `shape` reads its value."""


_NAMES: Final[Mapping[str, Callable[[Vocabulary], Iterable[str]]]] = {
    "op": lambda words: (name for one in words.operations.values() for name in one.names),
    "gpu": lambda words: (name for one in words.environments.values() for name in (one.product, *sorted(one.spans))),
    "arch": lambda words: (one.architecture for one in words.environments.values()),
    "dtype": lambda words: words.dtypes,
    "impl": lambda words: (one.title for one in words.implementations.values()),
    "project": lambda words: (one.name for one in words.projects.values()),
    "lang": lambda words: words.languages,
    "license": lambda words: (one.license for one in words.implementations.values() if one.license),
    "source": lambda words: (one.slug for one in words.sources.values()),
    "evidence": lambda _: LEVELS,
    "status": lambda _: STATUSES,
}


def values(words: Vocabulary, key: str) -> list[str]:
    """What may stand behind a key, by name."""
    return list(dict.fromkeys(_NAMES[key](words)))


def text(words: Vocabulary, phrase: str, *, excluded: bool) -> Text:
    """The records whose names hold a word or phrase."""
    wanted = squash(phrase)

    def ids(records: Iterable[Any], names: Callable[[Any], tuple[str, ...]]) -> Ids:
        return frozenset(record.id for record in records if wanted and holds(names(record), wanted))

    return Text(
        phrase,
        excluded,
        operations=ids(words.operations.values(), lambda one: (*one.names, one.family)),
        environments=ids(words.environments.values(), lambda one: (one.product, one.vendor)),
        protocols=ids(words.protocols.values(), lambda one: (one.name,)),
        implementations=ids(words.implementations.values(), words.names_of),
        sources=ids(words.sources.values(), lambda one: (one.name,)),
    )
