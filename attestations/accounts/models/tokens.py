"""Keys for programs."""

from __future__ import annotations

from uuid import UUID, uuid4

from django.conf import settings
from django.db import models
from knox.models import AbstractAuthToken


class ApiToken(AbstractAuthToken):  # type: ignore[misc]
    """A token, of which only the digest is kept (django-rest-knox), with what it may do and when it was last used."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    public_id: models.UUIDField[UUID, UUID] = models.UUIDField(default=uuid4, unique=True, editable=False)
    name = models.CharField(max_length=60)
    scopes = models.JSONField(default=list)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.name
