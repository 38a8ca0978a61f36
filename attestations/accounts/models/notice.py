"""Who follows what, and what they were told."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class Follow(models.Model):
    """A person wants to hear of a run, a comparison group, an operation, an implementation or a GPU."""

    class Kind(models.TextChoices):
        """What can be followed, and what its key is."""

        RUN = "run", "run"  # its id
        GROUP = "group", "comparison group"  # its comparison key
        OPERATION = "operation", "operation"  # its slug
        IMPLEMENTATION = "implementation", "implementation"  # its slug
        HARDWARE = "hardware", "GPU"  # its slug

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="follows")
    kind = models.CharField(max_length=20, choices=Kind)
    key = models.CharField(max_length=200)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "kind", "key"], name="follow_once")]
        indexes = [models.Index(fields=["kind", "key"], name="follow_subject")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class NoticeSettings(models.Model):
    """How a person hears. The address of the feed is signed from `feed_version`: a new version, a new address."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="notice_settings"
    )
    digest = models.BooleanField(default=True)
    feed_version = models.PositiveIntegerField(default=1)

    def __str__(self) -> str:
        return f"feed {self.feed_version}"


class Notice(models.Model):
    """One thing that one person is told, once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notices")
    key = models.CharField(max_length=100, help_text="what happened: a second delivery of the same finds it here")
    topic = models.CharField(max_length=40)
    subject = models.CharField(max_length=400)
    facts = models.TextField(blank=True)
    path = models.CharField(max_length=500, help_text="the page to look at, without the site")
    at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="notice_once")]
        indexes = [
            models.Index(fields=["user", "-id"], name="notice_latest"),
            models.Index(fields=["user"], name="notice_unmailed", condition=models.Q(mailed_at=None)),
        ]

    def __str__(self) -> str:
        return self.subject


class OutboxCursor(models.Model):
    """How far the outbox was read."""

    name = models.CharField(max_length=40, primary_key=True)
    position = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.name} {self.position}"
