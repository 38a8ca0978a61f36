"""The tables of the evidence. Every row here is written by `runs.publication`, and by nothing else."""

from runs.models.environments import Environment, Protocol
from runs.models.groups import ComparisonGroup, EvidenceLevel, Standing
from runs.models.outbox import OutboxEntry
from runs.models.runs import Artifact, ExternalId, Measurement, Retraction, Run, Supersession
from runs.models.sources import DatabasePurpose, Source, SourceSnapshot
from runs.models.subjects import Implementation, Operation, OperationAlias, Project, Workload, WorkloadAxis

__all__ = [
    "Artifact",
    "ComparisonGroup",
    "DatabasePurpose",
    "Environment",
    "EvidenceLevel",
    "ExternalId",
    "Implementation",
    "Measurement",
    "Operation",
    "OperationAlias",
    "OutboxEntry",
    "Project",
    "Protocol",
    "Retraction",
    "Run",
    "Source",
    "SourceSnapshot",
    "Standing",
    "Supersession",
    "Workload",
    "WorkloadAxis",
]
