"""The vectors that the project carries, and how tests change them."""

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from runs.manifests.errors import ManifestError, Problem

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "manifests.json"

REMOVED = object()
"""As a new value: take the member away."""


@cache
def _read() -> dict[str, Any]:
    return json.loads(VECTORS.read_text(encoding="utf-8"))


def vectors() -> list[dict[str, Any]]:
    return copy.deepcopy(_read()["manifests"])


def key_vectors() -> list[dict[str, Any]]:
    return copy.deepcopy(_read()["keys"])


def manifest(title: str) -> dict[str, Any]:
    """The manifest of the vector of that title, or the one "with every field" of that subject."""
    found = {vector["title"]: vector["manifest"] for vector in vectors()}
    return found.get(title) or found[f"{title} with every field"]


def problems_of(call: Callable[..., Any], *arguments: Any) -> tuple[Problem, ...] | None:
    """The problems that a call refuses its arguments for, None where it takes them."""
    try:
        call(*arguments)
    except ManifestError as error:
        return error.problems
    return None


def changed(document: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """A copy of the document with one member replaced, added or taken away."""
    document = copy.deepcopy(document)
    target = document
    for step in path[:-1]:
        target = target[step]
    if value is REMOVED:
        del target[path[-1]]
    elif isinstance(target, list) and path[-1] == len(target):
        target.append(value)
    else:
        target[path[-1]] = value
    return document
