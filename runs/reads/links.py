"""Where the records that a run refers to can be looked at. A list repeats them in every row, so they are remembered."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

from runs.reads.values import Link


def runs_url(**filters: str) -> str:
    """The list of runs under these filters."""
    return f"{reverse('runs')}?{urlencode(filters)}"


def group_url(key: str) -> str:
    """The page of a comparison group."""
    return reverse("group", args=[key])


def compare_url(*runs: UUID) -> str:
    """The comparison of these runs, in this order."""
    return f"{reverse('compare')}?{urlencode([('run', str(run)) for run in runs])}"


@lru_cache(maxsize=1024)
def operation_link(slug: str, name: str) -> Link:
    return Link(slug, name, reverse("operation", args=[slug]))


@lru_cache(maxsize=1024)
def implementation_link(slug: str, title: str) -> Link:
    return Link(slug, title, reverse("implementation", args=[slug]))


@lru_cache(maxsize=1024)
def project_link(slug: str, name: str) -> Link:
    return Link(slug, name, reverse("project", args=[slug]))


@lru_cache(maxsize=1024)
def hardware_link(slug: str, name: str) -> Link:
    return Link(slug, name, reverse("hardware", args=[slug]))


@lru_cache(maxsize=1024)
def source_link(slug: str, name: str) -> Link:
    return Link(slug, name, reverse("source", args=[slug]))


@lru_cache(maxsize=1024)
def environment_link(digest: str, title: str) -> Link:
    """Addresses carry the first 16 digits: enough to tell a digest from any other, short enough to read out."""
    return Link(digest[7:23], title, reverse("environment", args=[digest[7:23]]))


@lru_cache(maxsize=1024)
def protocol_link(digest: str, title: str) -> Link:
    return Link(digest[7:23], title, reverse("protocol", args=[digest[7:23]]))
