"""The table of Django's database cache, so that migrations make it like any other."""

from __future__ import annotations

from django.db import models


class CacheEntry(models.Model):
    """One counter or lock of a rate limit. Read and written by the cache back end alone."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "accounts_cache"

    def __str__(self) -> str:
        return self.cache_key
