"""What a moderator decided about a run that is faster than its hardware."""

from __future__ import annotations

from django.db import models

from runs.models.base import new_id
from runs.models.runs import Run


class FloorConfirmation(models.Model):
    """A moderator looked at a run below the physical floor and found no other explanation.

    The run keeps its page and loses its rank.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.OneToOneField(Run, models.PROTECT, related_name="floor_confirmation")
    reason = models.TextField()
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.reason
