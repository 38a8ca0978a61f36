"""The subset of Markdown that notes are written in: emphasis, code, lists, quotes and links. No HTML, images, headings.

Two libraries stand one behind the other: the parser makes no element that is not named here, and the sanitiser would
let none through.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

LONGEST_NOTE: Final = 4_000  # characters
MOST_LINKS: Final = 20

_TAGS: Final = {"a", "blockquote", "br", "code", "em", "li", "ol", "p", "pre", "strong", "ul"}
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    rules = ["backticks", "blockquote", "emphasis", "escape", "fence", "link", "list", "autolink"]
    return MarkdownIt("zero", {"html": False, "linkify": False, "maxNesting": 8}).enable(rules)


def count_links(text: str) -> int:
    """How many addresses a text names, linked or not."""
    return len(_ADDRESS.findall(text))


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Addresses elsewhere, and nothing else: no titles, and no links into this site that would act for the reader."""
    if name == "rel":  # the sanitiser's own
        return value
    return value if (tag, name) == ("a", "href") and value.lower().startswith("https://") else None


@lru_cache(maxsize=512)
def render(text: str) -> Markup:
    """A note as HTML that is safe to show. Links lead to https alone, and lend nobody the site's name."""
    html = nh3.clean(
        _parser().render(text),
        tags=_TAGS,
        attributes={"a": {"href"}},
        attribute_filter=_attribute,
        url_schemes={"https"},
        link_rel="nofollow ugc noopener noreferrer",
    )
    return Markup(html)  # noqa: S704
