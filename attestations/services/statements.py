"""Posting, revising and withdrawing statements."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from attestations.accounts.models import User
from attestations.models import Attachment, Statement, StatementRevision
from attestations.models.audit import Subject
from attestations.refusals import Refused
from attestations.services import people, steps
from attestations.values import Content, Upload
from runs import publication
from runs.models import Run

State = Statement.State


def post(author: User, run: Run, content: Content) -> Statement:
    """State something about a run. Raises Refused."""
    try:
        with transaction.atomic():
            people.may_post(author)
            _may_say(author, run, content)
            now = timezone.now()
            state = _state(author, content)
            statement = Statement.objects.create(
                run=run, author=author, kind=content.kind, state=state, created_at=now, changed_at=now
            )
            _revise(statement, content, 1, now)
            steps.take(Subject.STATEMENT, statement.id, "", state, actor=author, at=now)
            _touch(statement)
    except IntegrityError as error:
        raise _twice(content) from error
    return statement


def revise(author: User, statement_id: UUID, content: Content, *, revision: int) -> Statement:
    """Say it anew; what was said before is kept. `revision` is the one that the author saw. Raises Refused."""
    try:
        with transaction.atomic():
            people.may_post(author)
            statement = own(author, statement_id)
            if statement.state in Statement.FINAL:
                raise Refused("FINAL")
            if statement.revision != revision:
                raise Refused("STALE")
            if (content.kind == Statement.Kind.OWNER_REPLY) != (statement.kind == Statement.Kind.OWNER_REPLY):
                raise Refused("WRONG_STATE")
            _may_say(author, statement.run, content)
            now = timezone.now()
            before, was_seen = statement.state, statement.state == State.PUBLISHED
            # What a moderator objected to comes back to a moderator, whoever its author is.
            objected = before in {State.HIDDEN, State.CHANGES_REQUESTED}
            statement.state = State.WAITING if objected else _state(author, content, but=statement)
            statement.kind = content.kind
            statement.revision += 1
            statement.changed_at = now
            _revise(statement, content, statement.revision, now)
            statement.save(update_fields=["state", "kind", "revision", "changed_at"])
            steps.take(Subject.STATEMENT, statement.id, before, statement.state, actor=author, at=now)
            if was_seen or statement.state == State.PUBLISHED:
                publication.touch(statement.run)
    except IntegrityError as error:
        raise _twice(content) from error
    return statement


def withdraw(author: User, statement_id: UUID) -> Statement:
    """Take a statement back. It is shown to its author and to moderators alone from then on. Raises Refused."""
    with transaction.atomic():
        statement = own(author, statement_id)
        if statement.state in Statement.FINAL:
            raise Refused("FINAL")
        take_back(statement, timezone.now())
    return statement


def take_back(statement: Statement, at: datetime) -> None:
    """Withdraw a statement that is locked already."""
    before, statement.state, statement.changed_at = statement.state, State.WITHDRAWN, at
    statement.save(update_fields=["state", "changed_at"])
    statement.revisions.update(public=False)
    steps.take(Subject.STATEMENT, statement.id, before, State.WITHDRAWN, actor=statement.author, at=at)
    if before == State.PUBLISHED:
        publication.touch(statement.run)


def own(author: User, statement_id: UUID) -> Statement:
    """The author's statement, locked until the transaction ends. Raises Refused where there is none of theirs."""
    statement = (
        Statement.objects.select_for_update(of=("self",))
        .select_related("run", "author")
        .filter(pk=statement_id, author=author)
        .first()
    )
    if statement is None:
        raise Refused("NOT_YOURS")
    return statement


def _may_say(author: User, run: Run, content: Content) -> None:
    if content.kind == Statement.Kind.OWNER_REPLY and not people.owns(author, run):
        raise Refused("NOT_OWNER")


def _state(author: User, content: Content, but: Statement | None = None) -> State:
    """A reply comes from somebody whom a moderator has looked at; others are looked at for their first two."""
    if content.kind == Statement.Kind.OWNER_REPLY or people.is_known(author, but=but):
        return State.PUBLISHED
    return State.WAITING


def _revise(statement: Statement, content: Content, number: int, now: datetime) -> None:
    attachment = _stored(content.upload, now) if content.upload else None
    if attachment is None and content.keep_attachment:
        previous = statement.revisions.filter(number=number - 1).first()
        attachment = previous.attachment if previous else None
    StatementRevision.objects.create(
        statement=statement,
        number=number,
        attachment=attachment,
        public=statement.state == State.PUBLISHED,
        at=now,
        **content.columns(),
    )


def _stored(upload: Upload, now: datetime) -> Attachment:
    digest = f"sha256:{sha256(upload.content).hexdigest()}"
    stored, _ = Attachment.objects.get_or_create(
        digest=digest,
        defaults={
            "size": len(upload.content),
            "media_type": upload.media_type,
            "content": upload.content,
            "created_at": now,
        },
    )
    return stored


def _touch(statement: Statement) -> None:
    if statement.state == State.PUBLISHED:
        publication.touch(statement.run)


def _twice(content: Content) -> Refused:
    return Refused("REPLY_EXISTS" if content.kind == Statement.Kind.OWNER_REPLY else "TWICE")
