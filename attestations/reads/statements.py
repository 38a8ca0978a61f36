"""Statements as pages show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.urls import reverse

from attestations import markdown
from attestations.accounts.models import User
from attestations.environment import Environment, differences
from attestations.models import Report, Statement, StatementRevision, Submission
from attestations.models.audit import Subject
from attestations.reads.facts import run_facts
from attestations.reads.people import person_link, steps_of
from attestations.reads.values import (
    AttachmentLink,
    Ratio,
    ReportEvent,
    RevisionRow,
    RunStatements,
    StatementPage,
    StatementRow,
)
from runs.reads.rows import fetch_tuple
from runs.reads.values import Figure

_FIELDS = ("gpu", "driver", "toolkit", "framework", "clocks")


def run_statements(run_id: UUID, viewer: User | None = None) -> RunStatements:
    """What is said of a run: to everybody, and to this person of their own."""
    if not _is_spoken_of(run_id):
        return RunStatements((), (), (), None, ())
    public = Q(statement__state=Statement.State.PUBLISHED)
    seen = public | Q(statement__author=viewer) if viewer else public
    found = rows(_current().filter(seen, statement__run=run_id).order_by("statement_id"))
    published = [row for row in found if row.state == Statement.State.PUBLISHED]
    published.sort(key=lambda row: not row.pinned)
    submission = Submission.objects.filter(run=run_id).select_related("author").first()
    return RunStatements(
        statements=tuple(published),
        waiting=tuple(row for row in found if row.state not in {Statement.State.PUBLISHED, *Statement.FINAL}),
        reports=_report_events(run_id),
        submitter=person_link(submission.author) if submission else None,
        counts=tuple(Counter(row.said.kind_name for row in published).items()),
    )


# Most runs are not spoken of at all, and their pages ask no more than this.
_SPOKEN_OF = " OR ".join(
    f"EXISTS (SELECT 1 FROM {model._meta.db_table} WHERE run_id = %s)"  # noqa: S608
    for model in (Statement, Submission, Report)
)


def _is_spoken_of(run_id: UUID) -> bool:
    row = fetch_tuple(f"SELECT 1 WHERE {_SPOKEN_OF}", [run_id] * 3)
    return row is not None


def statement_page(statement_id: UUID, viewer: User | None) -> StatementPage | None:
    """A statement for this person: theirs in any state, another's where it is published, else None."""
    statement = Statement.objects.filter(pk=statement_id).exclude(run__canonical="").first()
    if statement is None:
        return None
    is_author = viewer is not None and statement.author_id == viewer.pk
    if not is_author and statement.state != Statement.State.PUBLISHED:
        return None
    said = StatementRevision.objects.filter(statement=statement).select_related(*_RELATED).defer(*_DEFERRED)
    revisions = list(said.order_by("-number"))
    current = next(revision for revision in revisions if revision.number == statement.revision)
    earlier = [each for each in revisions if each.number < statement.revision and (is_author or each.public)]
    return StatementPage(
        statement=_row(current),
        earlier=tuple(map(_said, earlier)),
        steps=steps_of(Subject.STATEMENT, statement.id) if is_author else (),
    )


def statements_by(person: User, *, public_only: bool, limit: int = 100) -> tuple[StatementRow, ...]:
    """What a person stated, newest first."""
    found = _current().filter(statement__author=person).order_by("-statement_id")
    if public_only:
        found = found.filter(statement__state=Statement.State.PUBLISHED)
    return rows(found[:limit])


def rows(found: Iterable[StatementRevision]) -> tuple[StatementRow, ...]:
    """Rows of current revisions."""
    return tuple(map(_row, found))


def of_statements(statements: Iterable[Statement]) -> tuple[StatementRow, ...]:
    """Rows of these statements, newest first."""
    return rows(_current().filter(statement__in=list(statements)).order_by("-statement_id"))


_RELATED = ("statement__author", "statement__run", "attachment")
_DEFERRED = ("attachment__content", "statement__run__canonical", "statement__run__metadata")


def _current() -> QuerySet[StatementRevision]:
    """The current revision of each statement with what its row shows; none on a run that was removed by law."""
    current = StatementRevision.objects.filter(number=F("statement__revision")).exclude(statement__run__canonical="")
    return current.select_related(*_RELATED).defer(*_DEFERRED)


def _row(revision: StatementRevision) -> StatementRow:
    statement = revision.statement
    return StatementRow(
        id=statement.id,
        url=reverse("statement", args=[statement.id]),
        run=statement.run_id,
        run_title=statement.run.title,
        author=person_link(statement.author),
        state=statement.state,
        state_name=statement.get_state_display(),
        pinned=statement.kind == Statement.Kind.OWNER_REPLY,
        created_at=statement.created_at,
        said=_said(revision),
    )


def _said(revision: StatementRevision) -> RevisionRow:
    facts = run_facts(revision.statement.run_id)
    environment = Environment.of(revision.environment)
    compared = facts.compare(revision.value, revision.unit, revision.statistic)
    return RevisionRow(
        number=revision.number,
        kind=revision.kind,
        kind_name=revision.get_kind_display(),
        note=revision.note,
        note_html=markdown.render(revision.note),
        measured=_figure(revision),
        ratio=Ratio(compared.ratio, compared.within, compared.spread_of, compared.same_statistic, compared.is_near)
        if compared
        else None,
        environment=tuple(_environment(environment)),
        differences=differences(environment, facts.environment),
        evidence_url=revision.evidence_url,
        attachment=_attachment(revision),
        at=revision.at,
    )


def _figure(revision: StatementRevision) -> Figure | None:
    if revision.value is None:
        return None
    return Figure("latency", revision.statistic, revision.unit, revision.value, revision.samples)


def _environment(environment: Environment) -> Iterable[tuple[str, str]]:
    yield from ((name, getattr(environment, name)) for name in _FIELDS if getattr(environment, name))
    yield from sorted(environment.libraries.items())


def _attachment(revision: StatementRevision) -> AttachmentLink | None:
    stored = revision.attachment
    if stored is None:
        return None
    url = reverse("statement-attachment", args=[revision.statement_id, revision.number])
    return AttachmentLink(url, stored.digest, stored.size, stored.media_type)


def _report_events(run_id: UUID) -> tuple[ReportEvent, ...]:
    accepted = Report.objects.filter(run=run_id, state=Report.State.ACCEPTED).order_by("decided_at")
    return tuple(
        ReportEvent(
            report.get_reason_display(),
            report.outcome,
            report.get_outcome_display(),
            report.answer,
            report.decided_at or report.created_at,
        )
        for report in accepted
    )
