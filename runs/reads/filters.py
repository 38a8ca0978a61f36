"""What a list of runs can be narrowed to. A filter is a condition in SQL and the values that a reader may choose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from runs.policy.level import EvidenceLevel
from runs.reads.tallies import Tallies
from runs.reads.values import Count

REPORTED: Final = EvidenceLevel.REPORTED.slug
LEVELS: Final = tuple(level.slug for level in EvidenceLevel)
_MAX_WORDS: Final = 8
_MAX_LENGTH: Final = 200

LABELS: Final = {
    "operation": "operation",
    "family": "family",
    "hardware": "hardware",
    "source": "source",
    "status": "status",
    "level": "evidence level",
    "group": "comparison group",
    "q": "words",
}
_CHOICES: Final = ("operation", "family", "hardware", "source", "status", "level")

_CONDITIONS: Final = {
    "operation": "r.operation_id = (SELECT id FROM runs_operation WHERE slug = %s)",
    "family": "r.operation_id IN (SELECT id FROM runs_operation WHERE family = %s)",
    "hardware": "r.hardware = %s",
    "source": "r.source_id = (SELECT id FROM runs_source WHERE slug = %s)",
    "status": "r.status = %s",
    "level": "r.id IN (SELECT run_id FROM runs_evidencelevel WHERE level = %s)",
    "group": "s.group_id = %s",
}
_NO_LEVEL: Final = "NOT EXISTS (SELECT 1 FROM runs_evidencelevel l WHERE l.run_id = r.id)"
# One word of a search: in a name of the operation, or of the implementation.
_WORD: Final = r"""(
r.operation_id IN (
    SELECT o.id FROM runs_operation o WHERE lower(o.name) LIKE %s ESCAPE '\' OR o.slug LIKE %s ESCAPE '\'
    UNION SELECT a.operation_id FROM runs_operationalias a WHERE lower(a.alias) LIKE %s ESCAPE '\')
OR r.implementation_id IN (
    SELECT i.id FROM runs_implementation i WHERE lower(i.title) LIKE %s ESCAPE '\' OR lower(i.name) LIKE %s ESCAPE '\')
)"""


_NOTHING: Final = "1 = 0"


@dataclass(frozen=True, slots=True)
class Filter:
    """One thing to narrow a list by: its parameter's name, its value now ("" for all), and what there is to choose."""

    name: str
    label: str
    value: str
    options: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The filters of one list, by name; only those that are set."""

    values: Mapping[str, str]

    @property
    def group(self) -> str | None:
        """The comparison key, where the list is one comparison group."""
        return self.values.get("group")

    def conditions(self) -> tuple[list[str], list[Any]]:
        """Conditions on runs `r` and their standings `s`, to be joined by AND, with their parameters."""
        clauses: list[str] = []
        params: list[Any] = []
        for name, value in self.values.items():
            if name == "q":
                words = search_words(value)
                clauses += [_WORD] * len(words) or [_NOTHING]
                params += [_pattern(word) for word in words for _ in range(_WORD.count("%s"))]
            elif name == "level" and value == REPORTED:
                clauses.append(_NO_LEVEL)
            else:
                clauses.append(_CONDITIONS[name])
                params.append(value)
        return clauses, params

    def total(self, counts: Tallies) -> int | None:
        """How many runs the list holds, where that is known without counting them."""
        if not self.values:
            return counts.runs
        if len(self.values) > 1 or not (set(self.values) & set(_CHOICES)):
            return None
        [(name, value)] = self.values.items()
        return next((option.count for option in counts.of[name] if option.slug == value), 0)

    def notes(self, counts: Tallies) -> tuple[str, ...]:
        """A sentence for every value that no published run has."""
        unknown = tuple(
            f"No published run has the {LABELS[name]} “{value}”."
            for name, value in self.values.items()
            if name in _CHOICES and not any(option.slug == value for option in counts.of[name])
        )
        wordless = "q" in self.values and not search_words(self.values["q"])
        return (*unknown, "The search has no word in it.") if wordless else unknown

    def shown(self, name: str, counts: Tallies) -> str:
        """A filter's value in words: the name behind a slug, where there is one."""
        value = self.values[name]
        return next((option.name for option in counts.of.get(name, ()) if option.slug == value), value)


def search_words(text: str) -> list[str]:
    """The words of a search, lowercase, at most eight: letters, digits and what joins them in names."""
    return re.findall(r"[\w.+-]+", text.lower())[:_MAX_WORDS]


def _pattern(word: str) -> str:
    return "%" + re.sub(r"([%_\\])", r"\\\1", word) + "%"


def selection(parameters: Mapping[str, str]) -> Selection:
    """The filters among a request's parameters. A value longer than any record's is cut: it matches nothing anyway."""
    given = ((name, parameters.get(name, "").strip().replace("\x00", "")[:_MAX_LENGTH]) for name in LABELS)
    return Selection({name: value for name, value in given if value})


def filters(chosen: Selection, counts: Tallies) -> tuple[Filter, ...]:
    """Every filter, with the values that runs have and how many runs have them.

    The comparison group and the words of a search offer nothing to choose from; a form carries them along.
    """
    return tuple(
        Filter(name, label, chosen.values.get(name, ""), counts.of.get(name, ())) for name, label in LABELS.items()
    )
