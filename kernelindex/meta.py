"""What the head of every page says of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meta:
    """Title and description for tabs, search results and link previews; the addresses of the page and of its JSON."""

    title: str  # without the site's name
    description: str
    canonical: str  # absolute
    json_url: str | None = None
    og_type: str = "website"
