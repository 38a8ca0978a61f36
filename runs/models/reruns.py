"""The controlled lane: who may sign, which claims are to be rerun, and what came of it."""

from __future__ import annotations

from django.db import models

from runs.models.base import DigestField, new_id
from runs.models.runs import Run


class Signer(models.Model):
    """An Ed25519 key that signs jobs (the dispatcher's) or results (a runner's). A lost one is revoked."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    keyid = models.CharField(max_length=64, unique=True)
    public = models.CharField(max_length=64, help_text="the public key, 64 hexadecimal digits")
    role = models.CharField(max_length=20, help_text="dispatcher or runner")
    name = models.SlugField(max_length=100, unique=True)
    operator = models.CharField(max_length=200, blank=True, help_text="who answers for the runner")
    product = models.SlugField(
        max_length=100, blank=True, help_text="the hardware product that the runner may speak of"
    )
    valid_from = models.DateTimeField(null=True, help_text="of a key with a history elsewhere; else its approval")
    registered_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class SignerDecision(models.Model):
    """What an administrator decided about a key: approve, suspend, resume, revoke."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    signer = models.ForeignKey(Signer, models.PROTECT, related_name="decisions")
    decision = models.CharField(max_length=20)
    reason = models.TextField()
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.decision} {self.signer_id}"


class Rerun(models.Model):
    """One attempt at one claim, from its approval to its end. The state moves by conditional updates alone."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.PROTECT, related_name="reruns")
    product = models.SlugField(max_length=100, help_text="of the GPU queue that it waits in")
    state = models.CharField(max_length=20, help_text="approved, queued, running, done, failed, cancelled, expired")
    priority = models.PositiveSmallIntegerField(default=5, help_text="0 to 9; more goes first")
    requested_by = models.CharField(max_length=200)
    approved_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    queued_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True, help_text="after this a job that nobody speaks of is sent again")
    expires_at = models.DateTimeField(null=True, help_text="after this no result is taken")
    runner = models.ForeignKey(Signer, models.PROTECT, null=True, related_name="reruns")
    job_digest = DigestField(unique=True, null=True)
    job = models.TextField(blank=True, help_text="the signed job, a DSSE envelope")
    code = models.CharField(max_length=60, blank=True, help_text="why it failed: a code of policy.reasons or a refusal")
    detail = models.TextField(blank=True)
    progress = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=1, help_text="counts its changes")

    class Meta:
        indexes = [
            models.Index(fields=["state", "product", "-priority", "id"], name="rerun_queue"),
            models.Index(fields=["run", "-id"], name="rerun_run"),
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.run_id}"


class RerunResult(models.Model):
    """A verified result and the verdict that follows from it. Evidence: the only thing that carries a level."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    rerun = models.OneToOneField(Rerun, models.PROTECT, related_name="result")
    run = models.ForeignKey(Run, models.PROTECT, related_name="rerun_results")
    runner = models.ForeignKey(Signer, models.PROTECT, related_name="results")
    operator = models.CharField(max_length=200)
    device = models.CharField(max_length=64, blank=True, help_text="HMAC of the physical device's identity")
    digest = DigestField(unique=True, help_text="SHA-256 of the signed payload")
    envelope = models.TextField(help_text="the signed result, a DSSE envelope")
    verdict = models.CharField(max_length=20)
    decision = models.JSONField(help_text="the published verdict: reasons, intervals, processes")
    hardware_equal = models.BooleanField()
    claim = models.FloatField(help_text="ns")
    event = models.FloatField(null=True, help_text="event time, ns: the geometric mean of process medians")
    device_time = models.FloatField(null=True, help_text="device time, ns: likewise")
    launch_bound = models.BooleanField(null=True)
    finished_at = models.DateTimeField()
    published_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["run", "-finished_at"], name="rerun_result_run")]

    def __str__(self) -> str:
        return f"{self.verdict} {self.run_id}"


class RerunRun(models.Model):
    """A run that a rerun published: event time in the claim's terms, or device time."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    result = models.ForeignKey(RerunResult, models.PROTECT, related_name="published")
    run = models.OneToOneField(Run, models.PROTECT, related_name="published_by")
    kind = models.CharField(max_length=20, help_text="event or device")

    def __str__(self) -> str:
        return f"{self.kind} {self.run_id}"


class Calibration(models.Model):
    """A sentinel kernel before and after a batch: the runner's own history."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    runner = models.ForeignKey(Signer, models.PROTECT, related_name="calibrations")
    batch = models.CharField(max_length=100)
    sentinel = models.CharField(max_length=40)
    before = models.FloatField(null=True, help_text="ns")
    after = models.FloatField(null=True, help_text="ns")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["runner", "batch", "sentinel"], name="calibration_once")]

    def __str__(self) -> str:
        return f"{self.sentinel} {self.batch}"
