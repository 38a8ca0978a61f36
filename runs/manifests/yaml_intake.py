"""YAML as people write manifests: the JSON data model of YAML 1.2, without tags, bounded in every direction.

Values are built from the parser's events, not by PyYAML's constructors: those follow YAML 1.1, where `1e-06` is text,
`no` is false and an instant becomes a date object, and they expand aliases without bound.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

import yaml

from runs.manifests.errors import ManifestError

MAX_ALIASES = 100
"""The most aliases that a document may use."""

_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", re.ASCII)
_WORDS: dict[str, bool | None] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet; `weight` counts its values and the length of their texts."""

    value: dict[str, Any] | list[Any]
    anchor: str | None
    weight: int = 1
    key: str | None = None


def load_yaml(text: str, *, max_weight: int, max_depth: int) -> Any:
    """The data of one YAML document.

    `max_weight` bounds what it amounts to with its aliases written out. Raises `ManifestError` with line and column.
    """
    builder = _Builder(max_weight, max_depth)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        reason = " ".join(part for part in (error.context, error.problem) if part)
        raise ManifestError.of(_place(error.problem_mark), "syntax", f"this is no YAML: {reason}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ManifestError.of(f"line {line}", "syntax", f"this is no YAML: {error.reason}") from error
    return builder.result


class _Builder:
    """Takes the events of a document one by one and holds its value in the end."""

    def __init__(self, max_weight: int, max_depth: int) -> None:
        self.result: Any = None
        self._max_weight = max_weight
        self._max_depth = max_depth
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._aliases = 0
        self._documents = 0

    def take(self, event: Any) -> None:
        """Take the next event of the parser."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise _fault(event, "syntax", "a second document begins here; give one at a time")
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = self._open.pop()
            self._place(event, closed.value, closed.anchor, closed.weight)
        elif isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            if event.tag is not None:
                raise _fault(event, "tag", f"the tag {event.tag} has no meaning here; remove it, and quote text")
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            else:
                self._start(event)

    def _start(self, event: Any) -> None:
        if len(self._open) >= self._max_depth:
            raise _fault(event, "depth", f"the text is nested more than {self._max_depth} deep; flatten it")
        if self._awaits_key():
            raise _fault(event, "key", "a key must be text, not a list or a mapping")
        self._anchors.pop(event.anchor, None)
        empty: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._open.append(_Open(empty, event.anchor))

    def _scalar(self, event: Any) -> None:
        value = _resolved(event) if event.implicit[0] else event.value
        self._place(event, value, event.anchor, len(event.value) + 1)

    def _alias(self, event: Any) -> None:
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise _fault(event, "aliases", f"more than {MAX_ALIASES} aliases; write the values out")
        if event.anchor not in self._anchors:
            raise _fault(event, "aliases", f"the alias *{event.anchor} refers to nothing that is complete before it")
        value, weight = self._anchors[event.anchor]
        self._place(event, value, None, weight)

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _place(self, event: Any, value: Any, anchor: str | None, weight: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, weight)
        if not self._open:
            self.result = value
            return
        parent = self._open[-1]
        parent.weight += weight
        if parent.weight > self._max_weight:
            raise _fault(event, "size", "with its aliases written out the text is too long; shorten it")
        if isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.key is None:
            if not isinstance(value, str):
                raise _fault(event, "key", f"the key {value!r} is no text; put it in quotes")
            if value in parent.value:
                raise _fault(event, "duplicate_key", f"the key {value[:80]!r} stands twice; keep one of them")
            parent.key = value
        else:
            parent.value[parent.key] = value
            parent.key = None


def _resolved(event: Any) -> Any:
    """The value of a plain scalar by the core schema of YAML 1.2."""
    text: str = event.value
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        if len(text) > 400:
            raise _fault(event, "integer", "the integer must lie within ±(2^53 − 1)")
        return int(text)
    if _FLOAT.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
        raise _fault(event, "number", f"{text[:40]} is larger than any JSON number")
    if _NOT_FINITE.fullmatch(text):
        raise _fault(event, "number", f"{text} is no JSON number; leave the field out or give a finite number")
    return text


def _fault(event: Any, code: str, message: str) -> ManifestError:
    return ManifestError.of(_place(event.start_mark), code, message)


def _place(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
