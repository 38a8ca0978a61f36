"""What all evidence tables share."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import uuid_utils.compat
from django.db import models


def new_id() -> uuid.UUID:
    """A UUIDv7: unique without asking the database, and in order of creation."""
    return uuid_utils.compat.uuid7()


if TYPE_CHECKING:
    _Text = models.CharField[Any, Any]
else:
    _Text = models.CharField


class DigestField(_Text):
    """`sha256:` and 64 lowercase hexadecimal digits."""

    def __init__(self, **kwargs: object) -> None:
        kwargs["max_length"] = 71
        super().__init__(**kwargs)  # type: ignore[arg-type]


class ManifestRecord(models.Model):
    """A published manifest: the bytes that were digested, and the editorial part that never is."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    digest = DigestField(help_text="SHA-256 of the canonical manifest")
    canonical = models.TextField(help_text="RFC 8785 JSON of apiVersion, kind and spec, exactly as digested")
    metadata = models.JSONField(help_text="name, title, labels and source references: not part of the digest")
    published_at = models.DateTimeField(help_text="when this database took the record in")

    class Meta:
        abstract = True
