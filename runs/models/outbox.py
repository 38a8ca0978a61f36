"""What happened to the evidence that others may want to hear of. Publication writes it and knows no listener."""

from __future__ import annotations

from django.db import models

from runs.models.base import DigestField
from runs.models.runs import Run


class OutboxEntry(models.Model):
    """One event, in the order in which they were committed. Readers keep a cursor of their own."""

    id = models.BigAutoField(primary_key=True)
    topic = models.CharField(max_length=40, help_text="new_run, new_record, retracted, superseded, …")
    run = models.ForeignKey(Run, models.PROTECT, null=True, related_name="events")
    comparison_key = DigestField(blank=True)
    payload = models.JSONField(default=dict)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.topic} {self.run_id or self.comparison_key}"
