"""What a page or an endpoint shows, as plain typed values.

Rows hold value and unit as in the manifest; templates alone spell units. `None` means that the source does not say.
A page's JSON twin is these values, field for field.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from runs.reads.neighbours import Neighbours
    from runs.reads.reruns.values import RunRerun


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
    """A retraction, a supersession or a floor confirmation: what happened to the run, by whom, when, and why."""

    kind: str  # "retracted" | "superseded" | "below_floor"
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
class SheetRow:
    """A publication of a vendor's that figures are taken from."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class RunFloor:
    """The least time in which the hardware could do what the run did; `reason` alone where nothing is claimed.

    `amount` (bytes, or operations) over `rate` (per second) is the floor `ns`; `share` is what the run reaches of it.
    `below`: the run is faster than `impossible_ns`, the floor with headroom for rounded and boosted figures.
    """

    reason: Reason | None = None
    ns: float | None = None
    share: float | None = None
    below: bool = False
    impossible_ns: float | None = None
    binding: str | None = None  # "bandwidth" | "arithmetic"
    amount: int | None = None
    rate: int | None = None
    timed_pass: str | None = None
    sheets: tuple[SheetRow, ...] = ()
    version: str | None = None


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
    protocol: str  # the protocol's title: runs may differ by nothing else
    disputed: bool  # a controlled rerun contradicted it or found its output wrong


@dataclass(frozen=True, slots=True)
class RunPage:
    """Everything that a run's page shows of its evidence (UX.md's order)."""

    id: UUID
    digest: str
    title: str  # "<implementation> · <operation> · <workload>"
    status: str
    level: str
    disputed: bool
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
    neighbours: Neighbours  # the first of the group, and who stands before and after
    reasons: tuple[Reason, ...]  # why it does not rank
    source_native: bool
    observed_at: datetime
    observed: str  # the instant as the manifest writes it
    native_metrics: tuple[tuple[str, float], ...]  # the source's own metrics, verbatim
    floor: RunFloor | None  # None where the run measures no latency
    # 3: identity
    implementation: Link
    implementation_detail: tuple[Fact, ...]  # language, licence, install recipe …
    project: Link | None
    revision: str | None
    operation: Link
    workload: str  # one line: "batch = 128 · hidden = 512 · … · fp32"
    comparison_key: str
    protocol_link: Link
    environment_link: Link
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
    # 5: controlled reruns, the latest first
    reruns: tuple[RunRerun, ...]
    not_rerunnable: Reason | None  # why it cannot be rerun; None where it can
    published_by: UUID | None  # the rerun that published this run of its own
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
    claims: int  # runs that a source claims
    checked: int  # of them, those with a controlled rerun that says something about them
    disputed: int
    sources: tuple[Count, ...]
    levels: tuple[Count, ...]
    operations: tuple[Count, ...]
    hardware: tuple[Count, ...]
    latest: tuple[RunRow, ...]
