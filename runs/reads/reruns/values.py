"""What pages and endpoints show of controlled reruns, as plain typed values. Times are ns, `None` means unknown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from runs.reads.values import Count, Fact, Link, Reason


@dataclass(frozen=True, slots=True)
class Ratio:
    """A measured time over the claimed one, with its 97.5 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Finding:
    """What a verified result says about its claim: the verdict, why, and the figures that it rests on."""

    verdict: str
    verdict_word: str
    reasons: tuple[Reason, ...]
    rules: str  # the version of the rules
    processes: int
    claim_ns: float
    event_ns: float | None  # E: event time under the claim's own protocol
    event: Ratio | None  # E over the claim
    device_ns: float | None  # D: device time
    device: Ratio | None  # D over the claim
    device_share: float | None  # D over E
    launch_bound: bool | None
    hardware_equal: bool
    measured_at: datetime
    published_at: datetime
    digest: str  # of the signed result


@dataclass(frozen=True, slots=True)
class RerunRow:
    """A rerun in a list, with the claim that it is about."""

    id: UUID
    run: UUID
    implementation: str
    operation: Link
    workload: str
    protocol: str
    claim_ns: float | None
    product: str
    state: str
    version: int  # counts its changes
    runner: Link | None
    runner_state: str | None  # of the runner's key now: registered, approved, suspended, revoked
    operator: str | None
    finding: Finding | None
    failure: Reason | None  # why it ended without a finding
    failure_detail: str
    created_at: datetime
    queued_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class RerunList:
    """A keyset page of reruns: `next` and `previous` are cursors, None at either end."""

    rows: tuple[RerunRow, ...]
    next: str | None
    previous: str | None


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """The verdicts on one operation and one hardware product; `counts` follow the order of the verdicts."""

    operation: Link
    product: str
    counts: tuple[int, ...]
    total: int


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """All verdicts, and how many reruns are in which state."""

    verdicts: tuple[Count, ...]
    rows: tuple[VerdictRow, ...]
    states: tuple[Count, ...]
    products: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the claim and the rerun say of their environments."""

    name: str
    claimed: str | None
    executed: str | None
    agreement: str  # equal, same_release, different, unstated


@dataclass(frozen=True, slots=True)
class RunRerun:
    """A rerun as the page of its run shows it."""

    row: RerunRow
    differences: tuple[Difference, ...]
    samples: int  # of event time, over all processes
    telemetry: bool


@dataclass(frozen=True, slots=True)
class Process:
    """What one fresh process measured."""

    index: int
    samples: int
    event_ns: float  # by the claim's statistic
    least_ns: int
    most_ns: int
    device_ns: int | None
    graph_ns: int | None
    host_ns: int | None
    faults: tuple[str, ...]
    graph_reason: str | None


@dataclass(frozen=True, slots=True)
class Output:
    """The greatest difference of one output from the reference, and what passes."""

    name: str
    dtype: str
    metric: str
    value: float | None
    tolerance: float
    checked: int
    elements: int


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison on a fresh seed."""

    purpose: str
    distribution: str
    seed: str
    passed: bool
    faults: tuple[str, ...]
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Sentinel:
    """A kernel with a known time, before and after the batch."""

    name: str
    before_ns: int | None
    after_ns: int | None
    band_ns: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Span:
    """The least and the greatest value that telemetry kept."""

    name: str
    unit: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Watch:
    """What was seen of the GPU while the batch ran."""

    samples: int
    seconds: float
    hertz: float
    throttled: bool
    power_capped: bool
    company: bool
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """A result in full, all but its samples."""

    statistic: str
    processes: tuple[Process, ...]
    checks: tuple[Check, ...]
    runner_bytes: str | None
    batch: str
    batch_jobs: int
    canaries: tuple[Fact, ...]
    sentinels: tuple[Sentinel, ...]
    watch: Watch | None
    differences: tuple[Difference, ...]
    environment: tuple[Fact, ...]
    executed: tuple[Fact, ...]
    failure: Reason | None
    accepted_at: datetime
    log: str


@dataclass(frozen=True, slots=True)
class ClaimedVersion:
    package: str
    version: str
    read_from: str


@dataclass(frozen=True, slots=True)
class Job:
    """What the signed job asks for."""

    facts: tuple[Fact, ...]
    claimed_versions: tuple[ClaimedVersion, ...]
    manifests: tuple[Fact, ...]  # the role of each manifest and its digest


@dataclass(frozen=True, slots=True)
class SignedDocument:
    """A job or a result with the key that signed it. `key_state` is the key's state now, not when it signed."""

    document: str
    digest: str
    keyid: str
    signer: Link | None
    role: str | None
    key_state: str | None
    url: str


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """A run that the rerun published of its own."""

    id: UUID
    kind: str
    title: str
    value_ns: float | None


@dataclass(frozen=True, slots=True)
class RerunPage:
    """Everything that a rerun's page shows."""

    row: RerunRow
    title: str
    level: str
    disputed: bool
    progress: tuple[Fact, ...]
    open: bool  # whether it may still change
    job: Job | None
    measured: Measured | None
    signatures: tuple[SignedDocument, ...]
    published: tuple[PublishedRun, ...]
    attempts: tuple[RerunRow, ...]  # the other attempts at the same claim, the latest first
    permalink: str
