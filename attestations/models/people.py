"""Who may not post at present."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from attestations.accounts.models import User
from runs.models.base import new_id


class Suspension(models.Model):
    """A person was suspended from posting. They can still sign in, read, export, and delete the account."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="suspensions")
    reason = models.TextField()
    at = models.DateTimeField()
    lifted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person"], condition=models.Q(lifted_at__isnull=True), name="suspended_once"
            )
        ]

    def __str__(self) -> str:
        return f"Suspension {self.id}"


class Person(User):
    """A user, as moderators see one."""

    class Meta:
        proxy = True
        verbose_name_plural = "people"
