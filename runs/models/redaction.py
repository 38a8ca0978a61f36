"""What had to be removed by law."""

from __future__ import annotations

from django.db import models

from runs.models.base import DigestField, new_id
from runs.models.runs import Run


class Redaction(models.Model):
    """A tombstone: the run's content is gone, its digest stays.

    The one thing that lets the database empty a row of evidence, and only the row that it names, once.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.OneToOneField(Run, models.PROTECT, related_name="redaction")
    digest = DigestField(help_text="of the manifest that was removed")
    reason = models.TextField(help_text="public: on which ground, without what was removed")
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.digest)
