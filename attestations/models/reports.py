"""Issues that people report with runs, and what is publicly noted about them."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.models import Run
from runs.models.base import new_id


class Report(models.Model):
    """One report. Who sent it is a person with an account, or a hash that means nothing two days later."""

    class Reason(models.TextChoices):
        """What is wrong."""

        INCORRECT = "incorrect_result", "Incorrect result"
        ATTRIBUTION = "wrong_attribution", "Wrong attribution"
        LICENCE = "licence", "Licence"
        COMPARABILITY = "comparability", "Comparability"
        OTHER = "other", "Other"

    class State(models.TextChoices):
        """Where it stands."""

        OPEN = "open", "waiting for a moderator"
        ACCEPTED = "accepted", "accepted"
        DISMISSED = "dismissed", "dismissed"
        MERGED = "merged", "merged with an earlier report"

    class Outcome(models.TextChoices):
        """What an accepted report led to."""

        RETRACTED = "retracted", "The run was retracted"
        SUPERSEDED = "superseded", "A corrected record supersedes the run"
        NOTED = "noted", "A public note was added to the run"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.PROTECT, related_name="reports")
    reason = models.CharField(max_length=30, choices=Reason)
    detail = models.TextField()
    evidence_url = models.CharField(max_length=2000, blank=True)
    contact = models.CharField(
        max_length=200, blank=True, help_text="how to reach the reporter; moderators alone see it"
    )
    reporter = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="reports", null=True)
    client = models.CharField(max_length=64, blank=True, help_text="HMAC of the client's address, salt thrown away")
    network = models.CharField(max_length=64, blank=True, help_text="HMAC of the client's network, likewise")
    secret = models.CharField(max_length=64, help_text="SHA-256 of the receipt's secret")
    state = models.CharField(max_length=20, choices=State, default=State.OPEN)
    outcome = models.CharField(max_length=20, choices=Outcome, blank=True)
    answer = models.TextField(blank=True, help_text="the public words of the decision")
    merged_into = models.ForeignKey("self", models.PROTECT, related_name="merged", null=True)
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state="merged", merged_into__isnull=False)
                | (~models.Q(state="merged") & models.Q(merged_into__isnull=True)),
                name="merged_into_another",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "run"], name="report_queue"),
            models.Index(fields=["run", "-id"], name="report_run"),
            models.Index(fields=["client", "created_at"], name="report_client"),
            models.Index(fields=["network", "created_at"], name="report_network"),
        ]

    def __str__(self) -> str:
        return f"{self.get_reason_display()} ({self.id})"


class RunNote(models.Model):
    """A public note on a run, which a report led to."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.PROTECT, related_name="notes")
    report = models.OneToOneField(Report, models.PROTECT, related_name="note")
    text = models.TextField()
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.text


class ClientSalt(models.Model):
    """A day's salt for hashes of addresses. The day after next it is gone, and nobody can tell whose they were."""

    day = models.DateField(primary_key=True)
    value = models.BinaryField(max_length=32)

    def __str__(self) -> str:
        return str(self.day)
