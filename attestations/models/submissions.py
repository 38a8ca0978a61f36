"""Whole reproductions: manifests that people send in."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.models import Run
from runs.models.base import DigestField, new_id


class Submission(models.Model):
    """A BenchmarkRun with what it refers to, on its way to a moderator."""

    class State(models.TextChoices):
        """Where it stands."""

        DRAFT = "draft", "draft"
        SUBMITTED = "submitted", "waiting for a moderator"
        CHANGES_REQUESTED = "changes_requested", "changes requested"
        ACCEPTED = "accepted", "accepted"
        REJECTED = "rejected", "rejected"
        WITHDRAWN = "withdrawn", "withdrawn"

    EDITABLE = (State.DRAFT, State.CHANGES_REQUESTED)
    FINAL = (State.ACCEPTED, State.REJECTED, State.WITHDRAWN)

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="submissions")
    document = models.TextField(help_text="JSON or YAML as it was sent in")
    note = models.TextField(blank=True, help_text="for the moderator")
    digest = DigestField(blank=True, help_text="of the run in it; empty while it has faults")
    state = models.CharField(max_length=20, choices=State, default=State.DRAFT)
    version = models.PositiveIntegerField(default=1, help_text="counts its changes")
    run = models.OneToOneField(
        Run, models.PROTECT, related_name="submission", null=True, help_text="what it became when it was accepted"
    )
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["author", "-id"], name="submission_author"),
            models.Index(fields=["state", "id"], name="submission_queue"),
        ]

    def __str__(self) -> str:
        return f"Submission {self.id}"
