"""Feeds for those who follow the index: new runs and new records, as Atom and as JSON Feed 1.1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson
from django.utils.feedgenerator import Atom1Feed

from runs.reads.format import date, figure, number
from runs.reads.records import RecordRow
from runs.reads.values import RunRow

ATOM: Final = "application/atom+xml; charset=utf-8"
JSON_FEED: Final = "application/feed+json"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Item:
    """An entry: `id` never changes, `url` leads to its page."""

    id: str
    url: str
    title: str
    text: str
    published: datetime
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed: addresses are absolute, items come newest first."""

    title: str
    description: str
    home: str
    url: str
    items: tuple[Item, ...]

    @property
    def updated(self) -> datetime:
        """When the newest item was published; an empty feed was updated at the epoch."""
        return max((item.published for item in self.items), default=_EPOCH)


def run_items(rows: Iterable[RunRow], base: str) -> tuple[Item, ...]:
    """An item for each run."""
    return tuple(
        Item(
            id=f"urn:uuid:{row.id}",
            url=f"{base}/runs/{row.id}/",
            title=row.title,
            text=f"{figure(row.primary)} {row.primary.statistic} {row.primary.metric.replace('_', ' ')}"
            f" on {row.hardware.name}. Status {row.status.replace('_', ' ')}; evidence level {row.level};"
            f" observed {date(row.observed_at)}; source {row.source.name}."
            if row.primary
            else f"No primary measurement, on {row.hardware.name}. Status {row.status.replace('_', ' ')};"
            f" evidence level {row.level}; observed {date(row.observed_at)}; source {row.source.name}.",
            published=row.published_at,
            tags=(row.operation.slug, row.hardware.slug, row.source.slug),
        )
        for row in rows
    )


def record_items(rows: Iterable[RecordRow], base: str) -> tuple[Item, ...]:
    """An item for each group whose first displaced another. It is about the run, so a newer first is a new item."""
    items = []
    for row in rows:
        step = row.current
        if step is None or step.first is None or step.displaced is None or step.ratio is None:
            continue
        first, displaced = step.first, step.displaced
        items.append(
            Item(
                id=f"urn:uuid:{first.run}#record",
                url=f"{base}{row.url}",
                title=f"{row.operation.name} on {row.hardware.name}: {figure(first.primary)}, "
                f"{first.implementation.name}",
                text=f"{row.workload}; {row.protocol.name}. {first.implementation.name} takes the first place of its "
                f"comparison group with {figure(first.primary)} {first.primary.statistic}; it was "
                f"{figure(displaced.primary)}, {displaced.implementation.name}: {number(step.ratio)} × that. "
                f"Observed {date(first.observed_at)}.",
                published=first.published_at,
                tags=(row.operation.slug, row.hardware.slug),
            )
        )
    return tuple(items)


def atom(feed: Feed) -> bytes:
    """The feed as Atom (RFC 4287)."""
    written = Atom1Feed(
        title=feed.title,
        link=feed.home,
        description=feed.description,
        subtitle=feed.description,
        feed_url=feed.url,
        author_name="KernelIndex",
        language="en",
    )
    for item in feed.items:
        written.add_item(
            title=item.title,
            link=item.url,
            description=item.text,
            unique_id=item.id,
            pubdate=item.published,
            updateddate=item.published,
            categories=item.tags,
        )
    written.latest_post_date = lambda: feed.updated  # type: ignore[method-assign]
    text: str = written.writeString("utf-8")
    return text.encode()


def json_feed(feed: Feed) -> bytes:
    """The feed as JSON Feed 1.1."""
    document: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "description": feed.description,
        "home_page_url": feed.home,
        "feed_url": feed.url,
        "language": "en",
        "authors": [{"name": "KernelIndex"}],
        "items": [
            {
                "id": item.id,
                "url": item.url,
                "title": item.title,
                "content_text": item.text,
                "date_published": item.published,
                "tags": item.tags,
            }
            for item in feed.items
        ],
    }
    return orjson.dumps(document, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
