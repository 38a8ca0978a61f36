"""Projections: what follows from the evidence as it stands now. Publication rewrites them; nobody else writes them."""

from __future__ import annotations

from django.db import models

from runs.models.base import DigestField
from runs.models.environments import Environment, Protocol
from runs.models.runs import Run
from runs.models.subjects import Operation, Workload


class ComparisonGroup(models.Model):
    """The runs that may be compared with one another: one comparison key."""

    key = DigestField(primary_key=True)
    operation = models.ForeignKey(Operation, models.PROTECT, related_name="groups")
    workload = models.ForeignKey(Workload, models.PROTECT, related_name="groups")
    protocol = models.ForeignKey(Protocol, models.PROTECT, related_name="groups")
    environment = models.ForeignKey(Environment, models.PROTECT, related_name="groups")
    correctness_key = DigestField()
    metric_key = models.CharField(max_length=200)
    source_native = models.BooleanField(help_text="at least one run was measured by its source's own harness")
    run_count = models.PositiveIntegerField()
    ranked_count = models.PositiveIntegerField()
    version = models.PositiveBigIntegerField(help_text="counts the publications that touched this group")
    changed_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["operation", "environment"], name="group_operation_environment")]

    def __str__(self) -> str:
        return str(self.key)


class Standing(models.Model):
    """Where one run stands: its rank in its comparison group, or why it has none."""

    run = models.OneToOneField(Run, models.PROTECT, primary_key=True, related_name="standing")
    group = models.ForeignKey(ComparisonGroup, models.PROTECT, related_name="standings")
    rank = models.PositiveIntegerField(null=True)
    reasons = models.JSONField(default=list, help_text="codes of runs.policy.reasons; empty for a ranked run")
    version = models.PositiveBigIntegerField(
        help_text="counts what happened to this run: statements, retraction, level"
    )
    changed_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["group", "rank", "run"], name="standing_group_rank")]

    def __str__(self) -> str:
        return f"rank {self.rank}" if self.rank else ", ".join(self.reasons)


class EvidenceLevel(models.Model):
    """A level above `reported`, or a dispute. A run without a row here is `reported` and undisputed.

    The database refuses what no rerun result carries (see the triggers in migrations).
    """

    run = models.OneToOneField(Run, models.PROTECT, primary_key=True, related_name="evidence_level")
    level = models.CharField(max_length=20)
    disputed = models.BooleanField(default=False, help_text="a rerun contradicted the run or found it incorrect")
    since = models.DateTimeField()

    def __str__(self) -> str:
        return self.level
