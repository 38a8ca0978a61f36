"""Where evidence came from."""

from __future__ import annotations

from django.db import models

from runs.models.base import DigestField, new_id


class Source(models.Model):
    """Whoever published the measurements first, with the terms under which they may be shown."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    url = models.CharField(max_length=2000, blank=True)
    license = models.CharField(max_length=200, blank=True)
    attribution = models.CharField(max_length=500, blank=True)
    terms = models.TextField(blank=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class SourceSnapshot(models.Model):
    """One file of a source as it was read: whoever has the same bytes gets the same records."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    source = models.ForeignKey(Source, models.PROTECT, related_name="snapshots")
    name = models.CharField(max_length=300)
    version = models.CharField(max_length=100, blank=True)
    digest = DigestField()
    size = models.BigIntegerField(help_text="bytes")
    license = models.CharField(max_length=200, blank=True)
    url = models.CharField(max_length=2000, blank=True)
    retrieved_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "digest"], name="snapshot_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()


class DatabasePurpose(models.Model):
    """Says that a database was made for made-up records. Absent in a database of real ones."""

    purpose = models.CharField(max_length=40, unique=True)

    def __str__(self) -> str:
        return self.purpose
