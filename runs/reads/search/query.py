"""The grammar of the search box. Pure: it knows no word of the index.

    query  = { term }, separated by white space, "·" or ","
    term   = ["-"] ( word | '"' phrase '"' | name ":" value | name comparison number )
    value  = word | '"' phrase '"'
    comparison = "=" | ">=" | "<=" | ">" | "<"         number = 4096 | 4k | 1024..8192

Any text parses. What makes no sense becomes a term whose reading fails later and says why, so that nothing which was
typed is dropped in silence. `format_query` writes terms so that they parse to themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

MAX_LENGTH: Final = 300  # characters
MAX_TERMS: Final = 24
LARGEST: Final = 2**53 - 1  # of an axis: integers beyond are no integers in JSON

KEYS: Final = {
    "op": "operation",
    "gpu": "GPU",
    "arch": "architecture",
    "dtype": "dtype",
    "shape": "shape",
    "impl": "implementation",
    "project": "project",
    "lang": "language",
    "license": "licence",
    "source": "source",
    "evidence": "evidence level",
    "status": "status",
}
"""What a key of the grammar asks for, in words."""
SPELLINGS: Final = {
    "operation": "op",
    "hardware": "gpu",
    "architecture": "arch",
    "implementation": "impl",
    "language": "lang",
    "licence": "license",
    "level": "evidence",
}

_JUNK: Final = "\\s,;·|:=<>≥≤"
_COMPARISON: Final = ">=|<=|==|=|>|<|≥|≤"
_NAME: Final = "(?P<name>[A-Za-z_][A-Za-z0-9_-]*)"
_SCANNER: Final = re.compile(
    rf"""
    [{_JUNK}]* (?P<minus>-*)
    (?:
        "(?P<phrase>[^"]*)(?:"|$)
      | {_NAME} \s*(?P<comparison>{_COMPARISON})\s* (?P<number>\d[^\s"·]*)
      | {_NAME.replace("name", "key")} (?P<sign>:|{_COMPARISON}) (?: "(?P<quoted>[^"]*)(?:"|$) | (?P<bare>[^\s"·]+) )?
      | (?P<word>[^{_JUNK}"-][^\s"·]*)
    )
    """,
    re.VERBOSE | re.ASCII,
)
_SIGNS: Final = {"==": "=", "≥": ">=", "≤": "<="}
_PLAIN: Final = re.compile(r'[^\s"·,;|:=<>≥≤][^\s"·]*(?<![,;|])')
_NUMBER: Final = re.compile(r"(\d{1,16}|\d{1,3}(?:,\d{3}){1,5})(?:\s?(k|ki|m|mi))?", re.IGNORECASE | re.ASCII)
_FACTORS: Final = {"": 1, "k": 1024, "ki": 1024, "m": 1024**2, "mi": 1024**2}
_SHAPE: Final = re.compile(r"\d+(?:[x×*]\d+)+", re.IGNORECASE | re.ASCII)

Kind = Literal["word", "phrase", "field"]


@dataclass(frozen=True, slots=True)
class Term:
    """One term as it was typed: a bare word, a phrase in quotes, or a named condition.

    `sign` is ":" or a comparison in a condition, and empty otherwise; `key` is lowercase, and one of KEYS if it can be.
    """

    kind: Kind
    value: str
    key: str = ""
    sign: str = ""
    excluded: bool = False

    def __str__(self) -> str:
        minus = "-" if self.excluded else ""
        if self.kind == "word":
            return f"{minus}{self.value}"
        if self.kind == "phrase":
            return f'{minus}"{self.value}"'
        value = self.value if _PLAIN.fullmatch(self.value) else f'"{self.value}"'
        return f"{minus}{self.key}{self.sign}{value}"


@dataclass(frozen=True, slots=True)
class Query:
    """The terms of a search; `cut` says that there was more than a search may hold."""

    terms: tuple[Term, ...]
    cut: bool = False

    def without(self, *places: int) -> str:
        """The text of this query less the terms at some places."""
        return format_query([term for place, term in enumerate(self.terms) if place not in places])

    def replaced(self, places: Sequence[int], text: str) -> str:
        """The text of this query with `text` where the terms at some places were."""
        parts = []
        for place, term in enumerate(self.terms):
            if place == places[0]:
                parts.append(text)
            elif place not in places:
                parts.append(str(term))
        return " ".join(parts)

    def __str__(self) -> str:
        return format_query(self.terms)


class NotANumber(ValueError):
    """A value that is no whole number, or no range of them, that an axis can have."""


def format_query(terms: Sequence[Term]) -> str:
    """Terms as text that parses to them."""
    return " ".join(map(str, terms))


def parse_query(text: str) -> Query:
    """The terms of any text. Control characters count as white space; what is beyond the bounds is cut off."""
    clean = "".join(character if character.isprintable() else " " for character in text[: MAX_LENGTH + 1])
    cut = len(clean) > MAX_LENGTH
    clean = clean[:MAX_LENGTH]
    terms: list[Term] = []
    place = 0
    while place < len(clean):
        match = _SCANNER.match(clean, place)
        if match is None:
            place += 1
            continue
        place = match.end()
        term = _term(match)
        if term is not None:
            terms.append(term)
    return Query(tuple(terms[:MAX_TERMS]), cut or len(terms) > MAX_TERMS)


def _term(match: re.Match[str]) -> Term | None:
    excluded = bool(match["minus"])
    if match["phrase"] is not None:
        phrase = " ".join(match["phrase"].split())
        return Term("phrase", phrase, excluded=excluded) if phrase else None
    if match["word"] is not None:
        return _word(match["word"], excluded)
    key = (match["name"] or match["key"]).lower()
    key = SPELLINGS.get(key, key)
    sign = match["comparison"] or match["sign"]
    sign = _SIGNS.get(sign, sign)
    if key in KEYS and sign == "=":
        sign = ":"
    bare = match["number"] or match["bare"]
    value = bare.rstrip(",;|") if bare else " ".join((match["quoted"] or "").split())
    return Term("field", value, key, sign, excluded)


def _word(text: str, excluded: bool) -> Term | None:
    word = text.rstrip(",;|:=<>≥≤")
    if _SHAPE.fullmatch(word):
        return Term("field", word, "shape", ":", excluded)
    return Term("word", word, excluded=excluded) if word else None


def parse_number(text: str) -> int:
    """`4096`, `4,096` or `4k` (1,024s, as sizes of tensors are meant). Raises NotANumber."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise NotANumber(text)
    number = int(match[1].replace(",", "")) * _FACTORS[(match[2] or "").lower()]
    if number > LARGEST:
        raise NotANumber(text)
    return number


def parse_bounds(term: Term) -> tuple[int, int]:
    """The least and the greatest value that a condition on an axis allows. Raises NotANumber."""
    if term.sign in {"=", ":"} and ".." in term.value:
        first, _, last = term.value.partition("..")
        low, high = parse_number(first) if first else 0, parse_number(last) if last else LARGEST
        if low > high or not (first or last):
            raise NotANumber(term.value)
        return low, high
    number = parse_number(term.value)
    return {
        ":": (number, number),
        "=": (number, number),
        ">=": (number, LARGEST),
        ">": (number + 1, LARGEST),
        "<=": (0, number),
        "<": (0, number - 1),
    }[term.sign]


def parse_shape(text: str) -> tuple[int, ...]:
    """`128x64x512`: at most eight sizes. Raises NotANumber."""
    sizes = tuple(parse_number(size) for size in re.split(r"[x×*]", text.lower()))
    if len(sizes) > 8:
        raise NotANumber(text)
    return sizes
