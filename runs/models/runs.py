"""The benchmark runs and what is said about one of them."""

from __future__ import annotations

from django.db import models

from runs.models.base import DigestField, ManifestRecord, new_id
from runs.models.environments import Environment, Protocol
from runs.models.sources import Source, SourceSnapshot
from runs.models.subjects import Implementation, Operation, Workload


class Run(ManifestRecord):
    """A BenchmarkRun. Columns repeat what pages filter, sort and join by; they are derived once, at publication."""

    title = models.CharField(max_length=300)
    operation = models.ForeignKey(Operation, models.PROTECT, related_name="runs")
    workload = models.ForeignKey(Workload, models.PROTECT, related_name="runs")
    implementation = models.ForeignKey(Implementation, models.PROTECT, related_name="runs")
    protocol = models.ForeignKey(Protocol, models.PROTECT, related_name="runs")
    environment = models.ForeignKey(Environment, models.PROTECT, related_name="runs")
    source = models.ForeignKey(Source, models.PROTECT, related_name="runs")
    snapshot = models.ForeignKey(SourceSnapshot, models.PROTECT, related_name="runs", null=True)
    hardware = models.SlugField(max_length=200, help_text="the environment's hardware slug")
    status = models.CharField(max_length=40)
    comparison_key = DigestField()
    metric = models.CharField(max_length=60, blank=True, help_text="of the primary measurement; empty without one")
    statistic = models.CharField(max_length=60, blank=True)
    unit = models.CharField(max_length=40, blank=True)
    value = models.FloatField(null=True, help_text="the primary measurement, in its unit")
    low = models.FloatField(null=True, help_text="lower end of the 95 % confidence interval, where published")
    high = models.FloatField(null=True)
    samples = models.BigIntegerField(null=True)
    source_native = models.BooleanField(help_text="measured by the source's own harness, not by ours")
    illustrative = models.BooleanField(default=False, help_text="made up, to show or to test something")
    observed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="run_digest")]
        indexes = [
            models.Index(fields=["comparison_key", "value"], name="run_group_value"),
            models.Index(fields=["operation", "-id"], name="run_operation_latest"),
            models.Index(fields=["hardware", "-id"], name="run_hardware_latest"),
            models.Index(fields=["source", "-id"], name="run_source_latest"),
            models.Index(fields=["status", "-id"], name="run_status_latest"),
            models.Index(fields=["environment", "-id"], name="run_environment_latest"),
            models.Index(fields=["protocol", "-id"], name="run_protocol_latest"),
            models.Index(fields=["-observed_at", "-id"], name="run_observed_latest"),
        ]

    def __str__(self) -> str:
        return self.title


class Measurement(models.Model):
    """One figure of a run, as its manifest lists them."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.PROTECT, related_name="measurements")
    position = models.PositiveSmallIntegerField()
    metric = models.CharField(max_length=60)
    statistic = models.CharField(max_length=60)
    unit = models.CharField(max_length=40)
    value = models.FloatField()
    samples = models.BigIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "position"], name="measurement_once")]

    def __str__(self) -> str:
        return f"{self.metric} · {self.statistic}"


class Artifact(models.Model):
    """A file that a run's manifest names with its digest."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.PROTECT, related_name="artifacts")
    role = models.CharField(max_length=40)
    uri = models.CharField(max_length=2000)
    digest = DigestField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "role"], name="artifact_once")]

    def __str__(self) -> str:
        return self.role


class ExternalId(models.Model):
    """What a source calls a run."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.PROTECT, related_name="external_ids")
    source = models.ForeignKey(Source, models.PROTECT, related_name="external_ids")
    value = models.CharField(max_length=500)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "value", "run"], name="external_id_once")]

    def __str__(self) -> str:
        return self.value


class Retraction(models.Model):
    """A run was withdrawn. It keeps its page and loses its rank."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.OneToOneField(Run, models.PROTECT, related_name="retraction")
    reason = models.TextField()
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.reason


class Supersession(models.Model):
    """A corrected record took the place of a run."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.OneToOneField(Run, models.PROTECT, related_name="supersession")
    successor = models.ForeignKey(Run, models.PROTECT, related_name="predecessors")
    reason = models.TextField()
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(run=models.F("successor")), name="superseded_by_another")
        ]

    def __str__(self) -> str:
        return self.reason
