"""Where the records that a run refers to can be looked at. A list repeats them in every row, so they are remembered."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlencode

from django.urls import reverse

from runs.reads.values import Link


def runs_url(**filters: str) -> str:
    """The list of runs under these filters."""
    return f"{reverse('runs')}?{urlencode(filters)}"


@lru_cache(maxsize=1024)
def operation_link(slug: str, name: str) -> Link:
    return Link(slug, name, runs_url(operation=slug))


@lru_cache(maxsize=1024)
def hardware_link(slug: str, name: str) -> Link:
    return Link(slug, name, runs_url(hardware=slug))


@lru_cache(maxsize=1024)
def source_link(slug: str, name: str) -> Link:
    return Link(slug, name, runs_url(source=slug))
