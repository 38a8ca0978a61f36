"""What a page or an endpoint shows, as plain typed values.

Rows hold value and unit as in the manifest; templates alone spell units. `None` means that the source does not say.
A page's JSON twin is these values, field for field.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Link:
    """A record that has, or may get, a page of its own."""

    slug: str
    name: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is as it is: a code of `runs.policy.reasons` and its sentence."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure."""

    metric: str
    statistic: str
    unit: str
    value: float
    samples: int | None = None


@dataclass(frozen=True, slots=True)
class Tensor:
    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and what the manifest says of it, in the manifest's own words."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    role: str
    uri: str
    digest: str


@dataclass(frozen=True, slots=True)
class Event:
    """A retraction or a supersession: what happened to the run, by whom, when, and why."""

    kind: str  # "retracted" | "superseded"
    reason: str
    actor: str
    at: datetime
    successor: UUID | None = None


@dataclass(frozen=True, slots=True)
class SourceLine:
    slug: str
    name: str
    url: str
    license: str
    attribution: str


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list."""

    id: UUID
    digest: str
    title: str
    implementation: str
    operation: Link
    workload: str
    hardware: Link
    source: Link
    status: str
    level: str
    primary: Figure | None
    rank: int | None
    observed_at: datetime
    published_at: datetime
    illustrative: bool


@dataclass(frozen=True, slots=True)
class RunPage:
    """Everything that a run's page shows of its evidence (UX.md's order)."""

    id: UUID
    digest: str
    title: str  # "<implementation> · <operation> · <workload>"
    status: str
    level: str
    illustrative: bool
    events: tuple[Event, ...]
    # 2: primary measurement and standing
    primary: Figure | None
    spread: tuple[Figure, ...]  # the other latency figures of the same unit: p20, p80, p05, p95, mad …
    interval: tuple[float, float] | None  # 95 % confidence interval in the primary's unit
    rank: int | None
    tied: int  # how many other runs share the rank
    ranked: int  # ranked runs in the group
    group_runs: int  # all runs in the group
    reasons: tuple[Reason, ...]  # why it does not rank
    source_native: bool
    observed_at: datetime
    observed: str  # the instant as the manifest writes it
    native_metrics: tuple[tuple[str, float], ...]  # the source's own metrics, verbatim
    # 3: identity
    implementation: Link
    implementation_detail: tuple[Fact, ...]  # language, licence, install recipe …
    project: Link | None
    revision: str | None
    operation: Link
    workload: str  # one line: "batch = 128 · hidden = 512 · … · fp32"
    comparison_key: str
    source: SourceLine
    external_id: str | None
    # 4: sections
    correctness: tuple[Fact, ...]
    correctness_note: str  # one sentence on what was checked, and by whom
    axes: tuple[tuple[str, int], ...]
    tensors: tuple[Tensor, ...]
    scalars: tuple[Fact, ...]
    comparator: str | None
    cases: tuple[tuple[str, str], ...]  # of a suite: external id and axes
    measurements: tuple[Figure, ...]  # the primary first, then as the manifest lists them
    protocol: tuple[Fact, ...]
    environment: tuple[Fact, ...]
    artifacts: tuple[ArtifactRow, ...]
    # 6–8
    manifest: dict[str, Any]  # {"run": …, "protocol": …, "environment": …}
    published_at: datetime
    snapshot: Fact | None  # file name and version; digest
    permalink: str
    hardware: Link


@dataclass(frozen=True, slots=True)
class Page:
    """A keyset page of a list: `next` and `previous` are cursors, None at either end."""

    rows: tuple[RunRow, ...]
    next: str | None
    previous: str | None


@dataclass(frozen=True, slots=True)
class Count:
    slug: str
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    name: str
    version: str
    digest: str
    size: int
    license: str
    url: str
    retrieved_at: datetime


@dataclass(frozen=True, slots=True)
class SourceRow:
    line: SourceLine
    terms: str
    runs: int
    latest_observed: datetime | None
    latest_published: datetime | None
    snapshots: tuple[SnapshotRow, ...]


@dataclass(frozen=True, slots=True)
class HomePage:
    runs: int
    sources: tuple[Count, ...]
    levels: tuple[Count, ...]
    operations: tuple[Count, ...]
    hardware: tuple[Count, ...]
    latest: tuple[RunRow, ...]
