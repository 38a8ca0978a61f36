"""Addresses of searches."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse


def search_url(query: str, **more: str) -> str:
    """The page of a search."""
    parameters = {name: value for name, value in {"q": query, **more}.items() if value}
    return reverse("search") + (f"?{urlencode(parameters)}" if parameters else "")
