"""What pages and endpoints show of the community, as plain typed values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from attestations.environment import Difference
from runs.reads.values import Figure


@dataclass(frozen=True, slots=True)
class PersonLink:
    """A person as pages name them; without an address where the account was deleted."""

    name: str
    url: str | None


@dataclass(frozen=True, slots=True)
class AttachmentLink:
    """A file beside a statement, to be downloaded."""

    url: str
    digest: str
    size: int  # bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Ratio:
    """The stated value over the run's, and how it lies to the run's spread."""

    value: float
    within: bool | None  # None where the run publishes no spread
    spread_of: str
    same_statistic: bool
    is_near: bool


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """What a statement says, or said."""

    number: int
    kind: str
    kind_name: str
    note: str  # as written
    note_html: str  # sanitised
    measured: Figure | None
    ratio: Ratio | None
    environment: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]
    evidence_url: str
    attachment: AttachmentLink | None
    at: datetime


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A statement with its current revision."""

    id: UUID
    url: str
    run: UUID
    run_title: str
    author: PersonLink
    state: str
    state_name: str
    pinned: bool
    created_at: datetime
    said: RevisionRow


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step of a statement, a submission, a report or a claim."""

    before: str
    after: str
    actor: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class StatementPage:
    """A statement with its earlier revisions, newest first; steps for its author and moderators alone."""

    statement: StatementRow
    earlier: tuple[RevisionRow, ...]
    steps: tuple[StepRow, ...]


@dataclass(frozen=True, slots=True)
class ReportEvent:
    """A report that led to something: part of the run's history."""

    reason: str
    outcome: str
    outcome_name: str
    answer: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RunStatements:
    """What the community says of a run. It never changes the evidence level."""

    statements: tuple[StatementRow, ...]  # the owner's reply first, then oldest first
    waiting: tuple[StatementRow, ...]  # of the person who asks, seen by nobody else
    reports: tuple[ReportEvent, ...]
    submitter: PersonLink | None  # of a run that was sent in
    counts: tuple[tuple[str, int], ...]  # by kind, of what is published


@dataclass(frozen=True, slots=True)
class SubmissionRow:
    """A submission in its author's list."""

    id: UUID
    url: str
    digest: str
    state: str
    state_name: str
    run: UUID | None
    created_at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class SubmissionPage:
    """A submission as its author sees it."""

    row: SubmissionRow
    document: str
    note: str
    version: int
    steps: tuple[StepRow, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the sender of a report, and nobody else, can see of it."""

    id: UUID
    run: UUID
    run_title: str
    reason: str
    state: str
    state_name: str
    outcome_name: str
    answer: str
    merged: bool
    created_at: datetime
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class LogRow:
    """An act of moderation as everybody sees it: no person is in it."""

    sequence: int
    action: str
    subject: str
    run: UUID | None
    public_reason: str  # where the reason is public anyway
    at: datetime


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of the public log, newest first; `next` is the number to go on below."""

    rows: tuple[LogRow, ...]
    next: int | None
