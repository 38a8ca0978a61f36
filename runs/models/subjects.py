"""What was measured: projects, operations, workloads, implementations."""

from __future__ import annotations

from django.db import models

from runs.models.base import ManifestRecord, new_id


class Project(ManifestRecord):
    """A SoftwareProject."""

    slug = models.SlugField(max_length=200, unique=True)
    name = models.CharField(max_length=300)
    url = models.CharField(max_length=2000, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="project_digest")]

    def __str__(self) -> str:
        return self.name


class Operation(ManifestRecord):
    """An OperationSpec: what is computed, for any shape."""

    slug = models.SlugField(max_length=200, unique=True)
    name = models.CharField(max_length=300)
    family = models.SlugField(max_length=100, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="operation_digest")]

    def __str__(self) -> str:
        return self.name


class OperationAlias(models.Model):
    """Another name by which sources and people call an operation."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    operation = models.ForeignKey(Operation, models.PROTECT, related_name="aliases")
    alias = models.CharField(max_length=200, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["operation", "alias"], name="operation_alias_once")]

    def __str__(self) -> str:
        return self.alias


class Workload(ManifestRecord):
    """A WorkloadCase, or a WorkloadSuite that was scored as a whole."""

    operation = models.ForeignKey(Operation, models.PROTECT, related_name="workloads")
    kind = models.CharField(max_length=20)
    summary = models.CharField(max_length=500, help_text="axes and dtype in one line")
    dtype = models.CharField(max_length=40, blank=True, help_text="of the first floating-point tensor")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="workload_digest")]

    def __str__(self) -> str:
        return self.summary


class WorkloadAxis(models.Model):
    """One axis of a workload, to be searched by. A suite has the axes of all its cases."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workload = models.ForeignKey(Workload, models.PROTECT, related_name="axes")
    name = models.CharField(max_length=100)
    value = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workload", "name", "value"], name="workload_axis_once")]
        indexes = [models.Index(fields=["name", "value"], name="workload_axis_value")]

    def __str__(self) -> str:
        return f"{self.name} = {self.value}"


class Implementation(ManifestRecord):
    """An ImplementationRevision under one name.

    A source that publishes neither revision nor file digests can give two different implementations the same spec
    (eager and compiled PyTorch, say), so an entry is identified by its digest and its name together.
    """

    operation = models.ForeignKey(Operation, models.PROTECT, related_name="implementations")
    project = models.ForeignKey(Project, models.PROTECT, related_name="implementations", null=True)
    slug = models.SlugField(max_length=200, unique=True)
    name = models.CharField(max_length=200, help_text="metadata.name: with the digest, the identity of this entry")
    title = models.CharField(max_length=300)
    language = models.CharField(max_length=40)
    revision = models.CharField(max_length=200, blank=True, help_text="version or commit; empty where unknown")
    license = models.CharField(max_length=200, blank=True, help_text="concluded, else declared SPDX expression")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest", "name"], name="implementation_entry")]

    def __str__(self) -> str:
        return self.title
