"""What is wrong with a document: where, which rule, and how to mend it."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
_LONGEST_SHOWN_KEY = 80

MAX_PROBLEMS = 100
"""The most problems that an error tells: a hostile document must not get an answer longer than itself."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a document.

    `place` is a path such as `spec.timing.latencyNs.median` or `spec.inputs[0].name` (`line 3, column 5` where the text
    could not be read at all, empty for the document as a whole), `code` is stable and meant for programs, `message`
    says for people what is wrong and how to mend it.
    """

    place: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class ManifestError(ValueError):
    """A document that is no valid manifest; `problems` holds the first 100 faults found, and at least one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(islice(problems, MAX_PROBLEMS))
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def of(cls, place: str, code: str, message: str) -> "ManifestError":
        """An error of a single problem."""
        return cls([Problem(place, code, message)])


def place_of(path: Iterable[str | int]) -> str:
    """The path of keys and indices as a place: `("spec", "inputs", 0, "name")` is `spec.inputs[0].name`."""
    place = ""
    for step in path:
        if isinstance(step, int):
            place += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step) and len(step) <= _LONGEST_SHOWN_KEY:
            place += f".{step}" if place else step
        else:
            place += f"[{json.dumps(step[:_LONGEST_SHOWN_KEY])}]"
    return place
