"""End-to-end model serving: a kind of its own, with tables of its own, never beside kernels.

The fields of these specs are still in motion, so columns repeat only what a list shows, and are empty where a spec does
not say it. The manifest is what is published.
"""

from __future__ import annotations

from django.db import models

from runs.models.base import ManifestRecord, new_id
from runs.models.sources import Source, SourceSnapshot
from runs.models.subjects import Project


class ModelRevision(ManifestRecord):
    """The model that was served."""

    name = models.CharField(max_length=300)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="model_revision_digest")]

    def __str__(self) -> str:
        return self.name


class ServingStackRevision(ManifestRecord):
    """The software that served it."""

    name = models.CharField(max_length=300)
    project = models.ForeignKey(Project, models.PROTECT, related_name="serving_stacks", null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="serving_stack_digest")]

    def __str__(self) -> str:
        return self.name


class ServingConfiguration(ManifestRecord):
    """How the software was set up."""

    name = models.CharField(max_length=300)
    stack = models.ForeignKey(ServingStackRevision, models.PROTECT, related_name="configurations")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="serving_configuration_digest")]

    def __str__(self) -> str:
        return self.name


class ServingWorkload(ManifestRecord):
    """What was asked of it, and how fast."""

    name = models.CharField(max_length=300)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="serving_workload_digest")]

    def __str__(self) -> str:
        return self.name


class ServingRun(ManifestRecord):
    """One measurement of a model being served."""

    title = models.CharField(max_length=300)
    model = models.ForeignKey(ModelRevision, models.PROTECT, related_name="runs")
    configuration = models.ForeignKey(ServingConfiguration, models.PROTECT, related_name="runs")
    workload = models.ForeignKey(ServingWorkload, models.PROTECT, related_name="runs")
    source = models.ForeignKey(Source, models.PROTECT, related_name="serving_runs")
    snapshot = models.ForeignKey(SourceSnapshot, models.PROTECT, related_name="serving_runs", null=True)
    status = models.CharField(max_length=40, blank=True)
    accelerator = models.CharField(max_length=200, blank=True)
    accelerators = models.PositiveIntegerField(null=True, help_text="in all nodes together")
    observed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="serving_run_digest")]

    def __str__(self) -> str:
        return self.title


class ServingMeasurement(models.Model):
    """One figure of a serving run, as its manifest lists them."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(ServingRun, models.PROTECT, related_name="measurements")
    position = models.PositiveSmallIntegerField()
    metric = models.CharField(max_length=100)
    statistic = models.CharField(max_length=100)
    unit = models.CharField(max_length=100)
    value = models.FloatField()
    samples = models.BigIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "position"], name="serving_measurement_once")]

    def __str__(self) -> str:
        return f"{self.metric} · {self.statistic}"


class ServingWithdrawal(models.Model):
    """A serving run was retracted, or a corrected one took its place. It keeps its page."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.OneToOneField(ServingRun, models.PROTECT, related_name="withdrawal")
    successor = models.ForeignKey(ServingRun, models.PROTECT, related_name="predecessors", null=True)
    reason = models.TextField()
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.reason
