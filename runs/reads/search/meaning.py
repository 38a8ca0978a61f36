"""What a query means in this index: its conditions, the chips that say what was understood, and what was not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runs.reads.search import resolve, words
from runs.reads.search.facets import AxisRange, Excluded, Facets, Ids, Range, Text
from runs.reads.search.links import search_url
from runs.reads.search.query import KEYS, LARGEST, SPELLINGS, NotANumber, Query, Term, parse_bounds, parse_shape
from runs.reads.search.values import Chip, Problem, Suggestion
from runs.reads.search.vocabulary import Vocabulary

_LONGEST_NAME: Final = 6  # words of a name that is typed without quotes
_MOST_SUGGESTED_FOR: Final = 4  # terms of one query that near names are looked for
_FIELDS: Final = {
    "op": "operations",
    "gpu": "environments",
    "arch": "environments",
    "dtype": "dtypes",
    "source": "sources",
    "evidence": "levels",
    "status": "statuses",
    "impl": "implementations",
    "project": "implementations",
    "lang": "implementations",
    "license": "implementations",
}
"""Which of the facets a key narrows."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A query as it was understood. `left_out` names the terms that could not be used, or that match nothing."""

    facets: Facets
    chips: tuple[Chip, ...]
    problems: tuple[Problem, ...]
    left_out: tuple[str, ...]
    unusable: bool
    """Whether some term could not be turned into a condition: then nothing matches all of the query."""
    operation_names: tuple[str, ...]
    """What was said of operations, to look for others that are called alike."""
    names: tuple[str, ...]
    """Words to look for in the names of operations and implementations."""
    preferred: Ids
    """Operations that were named exactly; they come first."""


@dataclass(slots=True)
class _Reader:
    """Reads a query term by term."""

    query: Query
    vocabulary: Vocabulary
    wanted: dict[str, set[Any]] = field(default_factory=lambda: defaultdict(set))
    excluded: dict[str, set[Any]] = field(default_factory=lambda: defaultdict(set))
    axes: dict[str, list[Range]] = field(default_factory=lambda: defaultdict(list))
    limits: dict[str, Range] = field(default_factory=dict)
    excluded_axes: list[AxisRange] = field(default_factory=list)
    shapes: dict[bool, list[tuple[int, ...]]] = field(default_factory=lambda: defaultdict(list))
    texts: list[Text] = field(default_factory=list)
    chips: list[Chip] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    operation_names: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    unusable: bool = False

    def read(self) -> Meaning:
        terms = self.query.terms
        place = 0
        while place < len(terms):
            term = terms[place]
            if term.kind == "word":
                place += self.word(place)
                continue
            if term.kind == "phrase":
                self.text((place,), term.value)
            elif term.key in KEYS and term.sign == ":":
                self.key(place, term)
            elif term.key in KEYS:
                self.refuse(
                    place,
                    "NOT_COMPARABLE",
                    f"{term.key} takes a value, not a comparison.",
                    [f"{term.key}:{term.value}"],
                )
            elif term.key in self.vocabulary.axes:
                self.axis(place, term)
            else:
                self.unknown_key(place, term)
            place += 1
        for name in dict.fromkeys((*self.axes, *self.limits)):
            if not self.ranges(name):
                self.problems.append(Problem("CONTRADICTION", f"No size meets all that is asked of {name}."))
                self.left_out += [str(term) for term in terms if term.key == name and not term.excluded]
        if self.query.cut:
            self.unusable = True
            self.problems.append(Problem("TOO_LONG", "The query is longer than a search may be; its end was not read."))
        return Meaning(
            self.facets(),
            tuple(self.chips),
            tuple(self.problems),
            tuple(dict.fromkeys(self.left_out)),
            self.unusable,
            tuple(dict.fromkeys(self.operation_names)),
            tuple(dict.fromkeys(self.names)),
            frozenset().union(
                *(self.vocabulary.operation_names.get(words.squash(name), ()) for name in self.operation_names)
            ),
        )

    # What is said of a term

    def chip(self, places: Sequence[int], label: str, value: str, note: str = "", *, used: bool = True) -> None:
        url = search_url(self.query.without(*places))
        self.chips.append(Chip(label, value, note, self.query.terms[places[0]].excluded, used, url))

    def suggestions(self, places: Sequence[int], texts: Iterable[str]) -> tuple[Suggestion, ...]:
        minus = "-" if self.query.terms[places[0]].excluded else ""
        return tuple(
            Suggestion(text, search_url(self.query.replaced(places, f"{minus}{text}"))) for text in dict.fromkeys(texts)
        )

    def problem(self, places: Sequence[int], code: str, sentence: str, near: Callable[[], Iterable[str]]) -> None:
        """Say what is wrong with some terms. Names near to them are looked for a bounded number of times."""
        texts = near() if len(self.problems) < _MOST_SUGGESTED_FOR else ()
        self.problems.append(Problem(code, sentence, self.suggestions(places, texts)))
        self.left_out.append(" ".join(str(self.query.terms[place]) for place in places))

    def refuse(self, place: int, code: str, sentence: str, near: Iterable[str] = ()) -> None:
        """A term that makes no condition: nothing can match all of the query."""
        term = self.query.terms[place]
        self.unusable = True
        self.chip((place,), KEYS.get(term.key, term.key), term.value, "not used", used=False)
        self.problem((place,), code, sentence, lambda: near)

    # Terms by kind

    def word(self, place: int) -> int:
        """Read the longest run of words that is a name; a word that is none is text. Says how many it took."""
        terms = self.query.terms
        run = [terms[place].value]
        for term in terms[place + 1 : place + _LONGEST_NAME]:
            if term.kind != "word" or term.excluded != terms[place].excluded:
                break
            run.append(term.value)
        for count in range(len(run), 0, -1):
            key = self.recognise(" ".join(run[:count]), whole=count == 1)
            if key:
                self.known(tuple(range(place, place + count)), key, " ".join(run[:count]))
                return count
        self.text((place,), run[0])
        return 1

    def recognise(self, text: str, *, whole: bool) -> str:
        """The key that a bare name belongs to, or nothing. Well-known shorthand counts as single words alone."""
        known, plain = self.vocabulary, words.squash(text)
        if plain in known.operation_names or plain in known.operation_families:
            return "op"
        if plain in known.hardware_names or (whole and words.is_gpu(text)):
            return "gpu"
        if whole and (words.is_dtype(text) or any(words.is_same_dtype(text, dtype) for dtype in known.dtypes)):
            return "dtype"
        if plain in map(words.squash, known.languages):
            return "lang"
        if plain in {words.squash(environment.architecture) for environment in known.environments.values()}:
            return "arch"
        return ""

    def text(self, places: tuple[int, ...], phrase: str) -> None:
        excluded = self.query.terms[places[0]].excluded
        text = resolve.text(self.vocabulary, phrase, excluded=excluded)
        self.texts.append(text)
        if text.found:
            self.chip(places, "text", phrase)
        else:
            self.chip(places, "text", phrase, "in no name", used=False)
            self.problem(
                places, "NO_SUCH_NAME", f"No name in the index holds “{phrase}”.", lambda: self.near_names(phrase)
            )
        if not excluded:
            self.names.append(phrase)

    def key(self, place: int, term: Term) -> None:
        if not term.value:
            self.refuse(place, "NO_VALUE", f"{term.key}: needs a value right behind the colon.")
        elif term.key == "shape":
            self.shape(place, term)
        else:
            self.known((place,), term.key, term.value)

    def known(self, places: tuple[int, ...], key: str, value: str) -> None:
        """A condition on something that has a name in the index, or might have one."""
        excluded = self.query.terms[places[0]].excluded
        bare = key == "op" and self.query.terms[places[0]].kind == "word"
        found = (resolve.bare_operations if bare else resolve.RESOLVERS[key])(self.vocabulary, value)
        (self.excluded if excluded else self.wanted)[key].update(found.values)
        label = KEYS[key]
        if not found.values:
            self.chip(places, label, value, "none in the index", used=False)
            candidates = resolve.values(self.vocabulary, key)
            self.problem(
                places,
                "UNKNOWN_VALUE",
                f"The index has no {label} “{value}”.",
                lambda: [_spelled(key, name) for name in words.near(value, candidates)],
            )
        elif len(found.names) == 1:
            self.chip(places, label, found.names[0])
        else:
            self.chip(places, label, value, _listed(found.names))
        if key in {"op", "impl", "project"} and not excluded:
            (self.operation_names if key == "op" else self.names).append(value)

    def shape(self, place: int, term: Term) -> None:
        try:
            sizes = parse_shape(term.value)
        except NotANumber:
            self.refuse(
                place,
                "NOT_A_SHAPE",
                f"“{term.value}” is no shape; a shape is sizes with an x between them.",
                ["shape:2048x4096"],
            )
            return
        self.shapes[term.excluded].append(sizes)
        self.chip((place,), "shape", " × ".join(map(str, sizes)), "axes of these sizes, in any order")

    def axis(self, place: int, term: Term) -> None:
        try:
            low, high = parse_bounds(term)
        except NotANumber:
            self.refuse(
                place,
                "NOT_A_NUMBER",
                f"“{term.value}” is no size of {term.key}: a size is a whole number, such as 4096 or 4k, or a range.",
                [f"{term.key}=4096", f"{term.key}=1024..8192"],
            )
            return
        if term.excluded:
            self.excluded_axes.append(AxisRange(term.key, ((low, high),)))
        elif term.sign in {"=", ":"}:
            self.axes[term.key].append((low, high))
        else:
            floor, ceiling = self.limits.get(term.key, (0, LARGEST))
            self.limits[term.key] = max(floor, low), min(ceiling, high)
        shown = _bounds(low, high)
        short = any(map(str.isalpha, term.value))
        self.chip((place,), term.key, shown, f"typed {term.value}" if short else "")

    def unknown_key(self, place: int, term: Term) -> None:
        known = [*KEYS, *SPELLINGS, *self.vocabulary.axes]
        near = words.near(term.key, known)
        texts = []
        for name in near:
            key = SPELLINGS.get(name, name)
            texts.append(
                str(Term("field", term.value, key, ":" if key in KEYS else "=" if term.sign == ":" else term.sign))
            )
        what = "key" if term.sign == ":" else "axis"
        self.refuse(place, "UNKNOWN_KEY", f"There is no {what} “{term.key}”, so “{term}” was not used.", texts)

    def near_names(self, phrase: str) -> list[str]:
        """Names that a word may have been meant for, written so that they are understood."""
        keys = ("op", "gpu", "dtype", "lang", "project", "impl")
        names: dict[str, str] = {}
        for key in keys:
            for name in resolve.values(self.vocabulary, key):
                names.setdefault(name, key)
        return [_spelled(names[name], name) for name in words.near(phrase, names)]

    # All of it together

    def facets(self) -> Facets:
        chosen: dict[str, frozenset[Any]] = {}
        excluded: dict[str, frozenset[Any]] = {}
        for key, name in _FIELDS.items():
            if key in self.wanted:
                values = frozenset(self.wanted[key])
                chosen[name] = chosen[name] & values if name in chosen else values
            if self.excluded.get(key):
                excluded[name] = excluded.get(name, frozenset()) | self.excluded[key]
        names = dict.fromkeys((*self.axes, *self.limits))
        return Facets(
            **chosen,
            axes=tuple(AxisRange(name, tuple(self.ranges(name))) for name in names),
            shapes=tuple(self.shapes[False]),
            texts=tuple(self.texts),
            excluded=Excluded(**excluded, axes=tuple(self.excluded_axes), shapes=tuple(self.shapes[True])),
        )

    def ranges(self, name: str) -> list[Range]:
        """Values of one axis are alternatives; comparisons all apply, to each of them."""
        floor, ceiling = self.limits.get(name, (0, LARGEST))
        cut = ((max(low, floor), min(high, ceiling)) for low, high in self.axes.get(name) or [(floor, ceiling)])
        return [(low, high) for low, high in cut if low <= high]


def understand(query: Query, vocabulary: Vocabulary) -> Meaning:
    """The meaning of a query in an index that has this vocabulary."""
    return _Reader(query, vocabulary).read()


def _spelled(key: str, name: str) -> str:
    """A name as a query writes it: bare where that is one word, else behind its key."""
    bare = key in {"op", "gpu", "dtype", "lang"} and len(name.split()) == 1
    return name if bare else str(Term("field", name, key, ":"))


def _listed(names: Sequence[str]) -> str:
    """`a, b and 3 more`."""
    if len(names) > 3:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join((", ".join(names[:-1]), names[-1]))


def _bounds(low: int, high: int) -> str:
    if low == high:
        return str(low)
    if high == LARGEST:
        return f"at least {low}"
    return f"at most {high}" if low == 0 else f"{low} to {high}"
