"""What was done, by whom and why. Both tables are only ever added to; the database refuses anything else."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.models.base import new_id


class Subject(models.TextChoices):
    """What a step or an entry is about."""

    STATEMENT = "statement", "statement"
    SUBMISSION = "submission", "submission"
    REPORT = "report", "report"
    CLAIM = "claim", "claim of ownership"
    PERSON = "person", "person"
    RUN = "run", "run"


class Step(models.Model):
    """One step in the life of a statement, a submission, a report or a claim: shown to the person whose it is."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    subject = models.CharField(max_length=20, choices=Subject)
    subject_id = models.UUIDField()
    before = models.CharField(max_length=20, blank=True)
    after = models.CharField(max_length=20)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)
    by_moderator = models.BooleanField(default=False)
    reason = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["subject", "subject_id", "id"], name="step_subject")]

    def __str__(self) -> str:
        return f"{self.before} → {self.after}"


class AuditEntry(models.Model):
    """One act of a moderator or an administrator. Its hash covers its content and the hash of the entry before it.

    Persons are named by id, so that the chain still holds after one of them has deleted the account.
    """

    sequence = models.PositiveBigIntegerField(primary_key=True)
    at = models.DateTimeField()
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)
    action = models.CharField(max_length=40)
    subject = models.CharField(max_length=20, choices=Subject)
    subject_id = models.CharField(max_length=40)
    run_id = models.UUIDField(null=True, help_text="the run that it is about")
    before = models.JSONField()
    after = models.JSONField()
    reason = models.TextField()
    previous = models.CharField(max_length=64, help_text="hash of the entry before; zeros for the first")
    hash = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "audit entries"
        permissions = [
            ("moderate", "Can decide on statements, submissions, reports and claims"),
            ("suspend_person", "Can suspend a person"),
            ("appoint", "Can make a person a moderator"),
            ("redact", "Can remove a record by law"),
        ]
        indexes = [models.Index(fields=["subject", "subject_id"], name="audit_subject")]

    def __str__(self) -> str:
        return f"{self.sequence} {self.action}"
