"""The tables of the evidence. Every row here is written by `runs.publication`, and by nothing else."""

from runs.models.environments import Environment, Protocol
from runs.models.exchange import ExternalRecord, NamedFile
from runs.models.floor import FloorConfirmation
from runs.models.groups import ComparisonGroup, EvidenceLevel, Standing
from runs.models.outbox import OutboxEntry
from runs.models.redaction import Redaction
from runs.models.reruns import Calibration, Rerun, RerunResult, RerunRun, Signer, SignerDecision
from runs.models.runs import Artifact, ExternalId, Measurement, Retraction, Run, Supersession
from runs.models.serving import (
    ModelRevision,
    ServingConfiguration,
    ServingMeasurement,
    ServingRun,
    ServingStackRevision,
    ServingWithdrawal,
    ServingWorkload,
)
from runs.models.sources import DatabasePurpose, Source, SourceSnapshot
from runs.models.subjects import Implementation, Operation, OperationAlias, Project, Workload, WorkloadAxis

__all__ = [
    "Artifact",
    "Calibration",
    "ComparisonGroup",
    "DatabasePurpose",
    "Environment",
    "EvidenceLevel",
    "ExternalId",
    "ExternalRecord",
    "FloorConfirmation",
    "Implementation",
    "Measurement",
    "ModelRevision",
    "NamedFile",
    "Operation",
    "OperationAlias",
    "OutboxEntry",
    "Project",
    "Protocol",
    "Redaction",
    "Rerun",
    "RerunResult",
    "RerunRun",
    "Retraction",
    "Run",
    "ServingConfiguration",
    "ServingMeasurement",
    "ServingRun",
    "ServingStackRevision",
    "ServingWithdrawal",
    "ServingWorkload",
    "Signer",
    "SignerDecision",
    "Source",
    "SourceSnapshot",
    "Standing",
    "Supersession",
    "Workload",
    "WorkloadAxis",
]
