"""What the word that is being typed may become. Read from the vocabulary alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from runs.reads.search import resolve
from runs.reads.search.query import KEYS, Term, format_query, parse_query
from runs.reads.search.vocabulary import Operation, Vocabulary, vocabulary
from runs.reads.search.words import squash

MOST: Final = 8


@dataclass(frozen=True, slots=True)
class Completion:
    """The whole query as it would be, and what its last word would mean."""

    text: str
    label: str
    kind: str


def suggest(text: str) -> tuple[Completion, ...]:
    """At most eight completions of the last word of a query: names that begin with it, then names that hold it."""
    query = parse_query(text)
    if not query.terms or query.cut or text[-1:].isspace():
        return ()
    *before, last = query.terms
    known = vocabulary()
    offered = _values(last, known) if last.kind == "field" else _words(known)
    wanted = squash(last.value)
    if not wanted or (last.kind == "field" and last.sign != ":"):
        return ()
    ranked: list[tuple[bool, int, Completion]] = []
    for place, (name, written, kind) in enumerate(offered):
        plain = squash(name)
        begins = plain.startswith(wanted) or squash(written).startswith(wanted)
        if begins or (len(wanted) > 1 and wanted in plain):
            term = f"-{written}" if last.excluded else written
            whole = " ".join(filter(None, (format_query(before), term)))
            ranked.append((not begins, place, Completion(whole, name, kind)))
    ranked.sort(key=lambda entry: entry[:2])
    found: dict[str, Completion] = {}
    for _, _, completion in ranked:
        found.setdefault(completion.text, completion)
    found.pop(format_query(query.terms), None)
    return tuple(found.values())[:MOST]


def _words(known: Vocabulary) -> Iterator[tuple[str, str, str]]:
    """Name, how a query writes it, and its kind, for everything that a bare word may begin."""
    for operation in known.operations.values():
        written = _written(operation, known)
        for name in operation.names:
            yield name, written, KEYS["op"]
    for slug, product in known.hardware(known.environments).items():
        yield product, f"gpu:{slug}", KEYS["gpu"]
    for dtype in known.dtypes:
        yield dtype, dtype, KEYS["dtype"]
    for language in known.languages:
        yield language, language, KEYS["lang"]
    for axis in known.axes:
        yield axis, f"{axis}=", "axis"
    for key in ("project", "impl"):
        yield from _keyed(key, resolve.values(known, key))
    for key, label in KEYS.items():
        yield f"{key}:", f"{key}:", label


def _values(term: Term, known: Vocabulary) -> Iterator[tuple[str, str, str]]:
    """The same for the values of one key."""
    if term.key == "op":
        for operation in known.operations.values():
            for name in operation.names:
                yield name, f"op:{operation.slug}", KEYS["op"]
    elif term.key == "gpu":
        for slug, product in known.hardware(known.environments).items():
            yield product, f"gpu:{slug}", KEYS["gpu"]
    elif term.key in resolve.RESOLVERS:
        yield from _keyed(term.key, resolve.values(known, term.key))


def _keyed(key: str, names: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    for name in names:
        yield name, str(Term("field", name, key, ":")), KEYS[key]


def _written(operation: Operation, known: Vocabulary) -> str:
    """The shortest single word that means this operation and no other."""
    names = [
        name
        for name in operation.names
        if len(name.split()) == 1 and known.operation_names[squash(name)] == frozenset({operation.id})
    ]
    return min(names, key=len) if names else f"op:{operation.slug}"
