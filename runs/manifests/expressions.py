"""Derived axes: expressions such as `hidden // heads`, over integers and axis names.

    sum     = product (("+" | "-") product)*
    product = factor (("*" | "//" | "%") factor)*
    factor  = integer | axis | "(" sum ")" | "-" factor

Integers are exact; `//` and `%` round toward minus infinity as Python's do.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from runs.manifests.canonical import MAX_INTEGER
from runs.manifests.errors import ManifestError

MAX_LENGTH = 500
_MAX_NESTING = 32
_TOKEN = re.compile(r" *(?:([0-9]+)|([a-z][a-z0-9_]*)|(//|[-+*%()])|$)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression: the axes that it names and its value once they are known."""

    text: str
    axes: frozenset[str]

    def evaluate(self, axes: Mapping[str, int]) -> int:
        """The value for the axes given.

        Raises `ManifestError` for an axis that is not among them, a division by zero, and a value (also on the way)
        beyond ±(2^53 − 1).
        """

        def known(name: str) -> int:
            if name not in axes:
                raise ManifestError.of("", "expression", f"{self.text!r} needs the axis {name!r}, which is not known")
            return axes[name]

        return _Reader(self.text, known).value()


def parse_expression(text: str) -> Expression:
    """Read an expression; the axes it names need not be declared by the operation.

    Raises `ManifestError` saying at which character it goes wrong; texts over 500 characters are refused unread.
    """
    names: set[str] = set()

    def note(name: str) -> int:
        names.add(name)
        return 1

    _Reader(text, note, syntax_only=True).value()
    return Expression(text, frozenset(names))


class _Reader:
    """Recursive descent that evaluates as it reads; with `syntax_only` values do not matter and cannot fail."""

    def __init__(self, text: str, axis: Callable[[str], int], *, syntax_only: bool = False) -> None:
        if len(text) > MAX_LENGTH:
            raise ManifestError.of("", "expression", f"an expression has at most {MAX_LENGTH} characters")
        self._text = text
        self._axis = axis
        self._syntax_only = syntax_only
        self._nesting = 0
        self._at = 0
        self._next()

    def value(self) -> int:
        result = self._sum()
        if self._symbol:
            raise self._wrong("an operator or the end")
        return result

    def _next(self) -> None:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            self._symbol = self._text[self._at :].lstrip(" ")[0]
            self._start = self._text.index(self._symbol, self._at)
            raise self._wrong("an integer, an axis name, + - * // % or a parenthesis")
        self._integer, self._name = match[1], match[2]
        self._symbol = match[1] or match[2] or match[3] or ""
        self._start = match.end() - len(self._symbol)
        self._at = match.end()

    def _sum(self) -> int:
        result = self._product()
        while self._symbol in ("+", "-"):
            operator = self._take()
            right = self._product()
            result = self._checked(result + right if operator == "+" else result - right)
        return result

    def _product(self) -> int:
        result = self._factor()
        while self._symbol in ("*", "//", "%"):
            operator = self._take()
            right = self._factor()
            if operator == "*":
                result = self._checked(result * right)
            elif self._syntax_only:
                result = 1
            elif right == 0:
                raise ManifestError.of("", "expression", f"{self._text!r} divides by zero")
            else:
                result = result // right if operator == "//" else result % right
        return result

    def _factor(self) -> int:
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise ManifestError.of("", "expression", f"an expression is nested at most {_MAX_NESTING} deep")
        if self._integer:
            result = self._literal()
        elif self._name:
            result = self._axis(self._take())
        elif self._symbol == "-":
            self._take()
            result = -self._factor()
        elif self._symbol == "(":
            self._take()
            result = self._sum()
            if self._symbol != ")":
                raise self._wrong("a closing parenthesis")
            self._take()
        else:
            raise self._wrong("an integer, an axis name or an opening parenthesis")
        self._nesting -= 1
        return result

    def _literal(self) -> int:
        value = int(self._take())
        if value > MAX_INTEGER:
            raise ManifestError.of("", "expression", f"an integer of {self._text!r} is beyond 2^53 − 1")
        return value

    def _take(self) -> str:
        token = self._symbol
        self._next()
        return token

    def _checked(self, value: int) -> int:
        if self._syntax_only:
            return 1
        if abs(value) > MAX_INTEGER:
            raise ManifestError.of("", "expression", f"{self._text!r} leaves the range of ±(2^53 − 1)")
        return value

    def _wrong(self, expected: str) -> ManifestError:
        found = repr(self._symbol) if self._symbol else "the end"
        return ManifestError.of(
            "", "expression", f"at character {self._start + 1} of {self._text!r}: expected {expected}, found {found}"
        )
