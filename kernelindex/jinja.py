"""The Jinja2 environment of the site's pages: what templates may call, and how they spell values."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.templatetags.static import static
from django.urls import reverse
from jinja2 import Environment, StrictUndefined

from attestations.jinja import statements
from runs.reads import format as spelling


def environment(**options: Any) -> Environment:
    """Autoescaping is Django's default for this back end; an unknown name is an error, not an empty string."""
    env = Environment(**{**options, "undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True})  # noqa: S701
    env.globals.update(static=lru_cache(maxsize=256)(static), url=reverse, statements=statements)
    env.filters.update(
        date=spelling.date,
        duration=spelling.duration,
        exact=spelling.exact,
        figure=spelling.figure,
        instant=spelling.instant,
        number=spelling.number,
        percent=spelling.percent,
        rate=spelling.rate,
        short_digest=spelling.short_digest,
        size=spelling.size,
    )
    return env
