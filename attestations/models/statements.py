"""What people state about runs."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.models import Run
from runs.models.base import DigestField, new_id


class Attachment(models.Model):
    """A JSON or text file, once for each content, however many statements carry it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    digest = DigestField(unique=True)
    size = models.PositiveIntegerField(help_text="bytes")
    media_type = models.CharField(max_length=40, help_text="application/json or text/plain")
    content = models.BinaryField()
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.digest)


class Statement(models.Model):
    """One person on one run. What it says is in its revisions; the current one is number `revision`."""

    class Kind(models.TextChoices):
        """What is stated."""

        REPRODUCED = "reproduced", "Reproduced"
        COULD_NOT_REPRODUCE = "could_not_reproduce", "Could not reproduce"
        ENVIRONMENT_NOTE = "environment_note", "Environment note"
        REGRESSION_OBSERVED = "regression_observed", "Regression observed"
        OWNER_REPLY = "owner_reply", "Reply of the implementation's owner"

    class State(models.TextChoices):
        """Who sees it: everybody when it is published, its author and moderators otherwise."""

        WAITING = "waiting", "waiting for a moderator"
        PUBLISHED = "published", "published"
        CHANGES_REQUESTED = "changes_requested", "changes requested"
        HIDDEN = "hidden", "hidden by a moderator"
        REJECTED = "rejected", "rejected"
        WITHDRAWN = "withdrawn", "withdrawn"

    FINAL = (State.REJECTED, State.WITHDRAWN)

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.PROTECT, related_name="statements")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="statements")
    kind = models.CharField(max_length=30, choices=Kind)
    state = models.CharField(max_length=20, choices=State)
    revision = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "author"],
                condition=models.Q(kind__in=["reproduced", "could_not_reproduce"])
                & models.Q(state__in=["waiting", "published", "changes_requested", "hidden"]),
                name="one_verdict_per_person_and_run",
            ),
            models.UniqueConstraint(
                fields=["run"],
                condition=models.Q(kind="owner_reply")
                & models.Q(state__in=["waiting", "published", "changes_requested", "hidden"]),
                name="one_owner_reply_per_run",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "state", "id"], name="statement_run"),
            models.Index(fields=["author", "-id"], name="statement_author"),
            models.Index(fields=["state", "id"], name="statement_queue"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} ({self.id})"


class StatementRevision(models.Model):
    """What a statement said at one time. A revision is never changed; another follows it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    statement = models.ForeignKey(Statement, models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=30, choices=Statement.Kind)
    note = models.TextField(blank=True, help_text="Markdown subset, as written")
    value = models.FloatField(null=True)
    unit = models.CharField(max_length=40, blank=True)
    statistic = models.CharField(max_length=60, blank=True)
    samples = models.PositiveBigIntegerField(null=True)
    environment = models.JSONField(default=dict)
    evidence_url = models.CharField(max_length=2000, blank=True)
    attachment = models.ForeignKey(Attachment, models.PROTECT, related_name="revisions", null=True)
    public = models.BooleanField(default=False, help_text="it was published, and no moderator took it back")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["statement", "number"], name="statement_revision_once")]

    def __str__(self) -> str:
        return f"{self.statement_id} · {self.number}"
