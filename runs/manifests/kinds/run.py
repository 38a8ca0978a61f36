"""BenchmarkRun: what was measured, when, and what came of it."""

from typing import Annotated, Literal, Self, get_args

from pydantic import ConfigDict, Field, model_validator

from runs.manifests.fields import (
    Amount,
    Commit,
    Count,
    Digest,
    Duration,
    HttpsUrl,
    Instant,
    Items,
    Maybe,
    Number,
    Ratio,
    Slug,
    Text,
    Token,
    fault,
)
from runs.manifests.kinds.base import Artifact, Strict

Status = Literal[
    "passed",
    "incorrect_shape",
    "incorrect_dtype",
    "incorrect_numerical",
    "compile_error",
    "runtime_error",
    "timeout",
    "resource_exceeded",
    "invalid_reference",
    "policy_violation",
    "suspected_reward_hack",
    "incomplete_evidence",
    "revoked",
]
STATUSES: tuple[str, ...] = get_args(Status)


class RunCorrectness(Strict):
    """How far the result was from the reference."""

    comparator: Token
    """What compared."""
    maximum_absolute_error: Maybe[Amount] = None
    """The greatest absolute error."""
    maximum_relative_error: Maybe[Amount] = None
    """The greatest relative error."""
    matched_ratio: Maybe[Ratio] = None
    """The share of elements that matched, from 0 to 1."""


class Latency(Strict):
    """Statistics of the latency, each in ns; median or mean is required."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["median"]}, {"required": ["mean"]}]})

    median: Maybe[Duration] = None
    """The median in ns."""
    mean: Maybe[Duration] = None
    """The mean in ns."""
    p05: Maybe[Duration] = None
    """The 5th percentile in ns."""
    p95: Maybe[Duration] = None
    """The 95th percentile in ns."""
    minimum: Maybe[Duration] = None
    """The shortest sample in ns."""
    maximum: Maybe[Duration] = None
    """The longest sample in ns."""
    mad: Maybe[Duration] = None
    """The median absolute deviation in ns."""
    confidence95: Maybe[Annotated[tuple[Duration, Duration], Field(strict=False)]] = None
    """The 95 % confidence interval of the primary statistic, [low, high] in ns."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.median is None and self.mean is None:
            raise fault("latency", "latencyNs needs a median or a mean; add one of them")
        if self.confidence95 is not None and self.confidence95[0] > self.confidence95[1]:
            raise fault("latency", "confidence95 is [low, high], but its low is above its high; exchange them")
        return self


class Timing(Strict):
    """The latency of the run."""

    primary_statistic: Token
    """The statistic that stands for the run."""
    samples: Maybe[Count] = None
    """How many samples were taken."""
    latency_ns: Latency
    """The statistics in ns."""
    raw_samples: Maybe[Artifact] = None
    """The file that holds every sample."""


class RunMeasurement(Strict):
    """A further measured value."""

    metric: Token
    """What was measured, such as latency or peak_memory."""
    unit: Token
    """The unit of the value, such as ns or bytes."""
    statistic: Token
    """The statistic, such as p20."""
    value: Number
    """The value."""
    sample_count: Maybe[Count] = None
    """How many samples it is taken over."""


class SourceNative(Strict):
    """What the source itself said."""

    source: Slug
    """The source."""
    benchmark: Maybe[Text] = None
    """What the source calls the benchmark."""
    external_id: Maybe[Text] = None
    """What the source calls the run."""
    metrics: Maybe[dict[Token, Number]] = None
    """Numbers as the source states them."""


class EvidenceHarness(Strict):
    """The state of the harness that measured."""

    repository: HttpsUrl
    """Its repository."""
    commit: Commit
    """Its full git commit."""


class Evidence(Strict):
    """Files that support the run."""

    logs: Maybe[Artifact] = None
    """The log."""
    raw_samples: Maybe[Artifact] = None
    """Every sample."""
    harness: Maybe[EvidenceHarness] = None
    """The state of the harness."""


class BenchmarkRun(Strict):
    """What was measured, when, and what came of it."""

    implementation_digest: Digest
    """The digest of the ImplementationRevision."""
    workload_digest: Digest
    """The digest of the WorkloadCase or WorkloadSuite."""
    protocol_digest: Digest
    """The digest of the BenchmarkProtocol."""
    environment_digest: Digest
    """The digest of the ExecutionEnvironment."""
    status: Status
    """What came of the run; only a passed one ranks."""
    correctness: Maybe[RunCorrectness] = None
    """How far the result was from the reference."""
    timing: Maybe[Timing] = None
    """The latency."""
    measurements: Maybe[Items[RunMeasurement]] = None
    """Further values; without timing the first is the primary one."""
    source_native: Maybe[SourceNative] = None
    """What the source itself said."""
    evidence: Maybe[Evidence] = None
    """Files that support the run."""
    observed_at: Instant
    """When was measured, as the source wrote it."""
