"""What a client can take: which media type, which encoding. Headers repeat, so the answers are remembered."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from django.http import HttpRequest

JSON_TYPES: Final = ("application/json", "application/problem+json")
HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
ENCODINGS: Final = ("br", "gzip")  # in the order in which we like them


def wants_json(request: HttpRequest) -> bool:
    """Whether the client named JSON, and likes it better than HTML. A browser, or curl with its `*/*`, does not."""
    return prefers_json(request.META.get("HTTP_ACCEPT", ""))


@lru_cache(maxsize=512)
def prefers_json(accept: str) -> bool:
    """`wants_json` of an Accept header."""
    accepted = _accepted(accept)
    json = max(accepted.get(name, 0.0) for name in JSON_TYPES)
    return json > max(accepted.get(name, 0.0) for name in HTML_TYPES)


@lru_cache(maxsize=512)
def best_encoding(accept_encoding: str) -> str:
    """`br`, `gzip`, or `""` for the bytes as they are."""
    accepted = _accepted(accept_encoding)
    rest = accepted.get("*", 0.0)
    qualities = {name: accepted.get(name, rest) for name in ENCODINGS}
    best = max(ENCODINGS, key=lambda name: qualities[name])
    return best if qualities[best] > 0 else ""


def _accepted(header: str) -> dict[str, float]:
    """What a header lists, with the quality of each; other parameters say nothing to us."""
    accepted: dict[str, float] = {}
    for entry in header.lower().split(","):
        name, *params = (part.strip() for part in entry.split(";"))
        accepted[name] = next((_quality(param[2:]) for param in params if param.startswith("q=")), 1.0)
    return accepted


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
