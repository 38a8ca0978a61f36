"""Whole reproductions on their way: draft, submitted, and what a moderator makes of them."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from attestations.accounts.models import User
from attestations.models import Submission
from attestations.models.audit import Subject
from attestations.refusals import Refused
from attestations.services import checking, people, steps
from runs import publication
from runs.manifests.bundle import Bundle, Record, Source
from runs.models import Run
from runs.refusals import PublicationRefused

State = Submission.State
MOST_OPEN: Final = 20

COMMUNITY: Final = Source(
    slug="community",
    name="Community",
    kind="community",
    attribution="Sent in by people with an account, and accepted by a moderator.",
    terms="Whoever sends a record in publishes it under CC0-1.0.",
    license="CC0-1.0",
)


def create(author: User, *, document: str, note: str) -> Submission:
    """A new draft. Raises Refused."""
    with transaction.atomic():
        people.may_post(author)
        if Submission.objects.filter(author=author).exclude(state__in=Submission.FINAL).count() >= MOST_OPEN:
            raise Refused("TOO_MANY_DRAFTS")
        now = timezone.now()
        submission = Submission.objects.create(
            author=author,
            document=document,
            note=note,
            digest=checking.check(document).digest,
            created_at=now,
            changed_at=now,
        )
        steps.take(Subject.SUBMISSION, submission.id, "", State.DRAFT, actor=author, at=now)
    return submission


def edit(author: User, submission_id: UUID, *, document: str, note: str, version: int) -> Submission:
    """Change a draft, or what a moderator wants changed. `version` is the one that the author saw. Raises Refused."""
    with transaction.atomic():
        submission = own(author, submission_id, version=version)
        if submission.state not in Submission.EDITABLE:
            raise Refused("FINAL" if submission.state in Submission.FINAL else "WRONG_STATE")
        submission.document, submission.note = document, note
        submission.digest = checking.check(document).digest
        _save(submission, "document", "note", "digest")
    return submission


def submit(author: User, submission_id: UUID, *, version: int) -> Submission:
    """Send it in, for a moderator to decide. Raises Refused."""
    with transaction.atomic():
        submission = own(author, submission_id, version=version)
        if people.is_suspended(author):
            raise Refused("SUSPENDED")
        if submission.state not in Submission.EDITABLE:
            raise Refused("WRONG_STATE")
        if not checking.check(submission.document).is_valid:
            raise Refused("INVALID_SUBMISSION")
        _move(submission, State.SUBMITTED, author)
    return submission


def withdraw(author: User, submission_id: UUID) -> Submission:
    """Take it back before it is decided. Raises Refused."""
    with transaction.atomic():
        submission = own(author, submission_id)
        if submission.state in Submission.FINAL:
            raise Refused("FINAL")
        _move(submission, State.WITHDRAWN, author)
    return submission


def own(author: User, submission_id: UUID, *, version: int | None = None) -> Submission:
    """The author's submission, locked until the transaction ends. Raises Refused."""
    submission = Submission.objects.select_for_update().filter(pk=submission_id, author=author).first()
    if submission is None:
        raise Refused("NOT_YOURS")
    if version is not None and submission.version != version:
        raise Refused("STALE")
    return submission


def publish(submission: Submission) -> Run:
    """Publish what an accepted submission says, with its submitter named. Raises Refused.

    What is written comes from the manifest; its level follows from reruns, of which it has none.
    """
    found = checking.check(submission.document)
    if not found.is_valid:
        raise Refused("INVALID_SUBMISSION")
    records = []
    for manifest in found.manifests:
        document = manifest.document()
        metadata = {name: document["metadata"][name] for name in ("name", "title") if name in document["metadata"]}
        if manifest.kind == "BenchmarkRun":
            metadata["name"] = f"community-{submission.id}"
            metadata["authors"] = [{"name": submission.author.username}]
        records.append(Record({**document, "metadata": metadata}, digest=manifest.digest))
    try:
        publication.publish(Bundle(COMMUNITY, None, records))
    except PublicationRefused as error:
        raise Refused("PUBLICATION", str(error)) from error
    return Run.objects.get(digest=found.digest)


def _move(submission: Submission, state: Submission.State, author: User) -> None:
    before, submission.state = submission.state, state
    _save(submission, "state")
    steps.take(Subject.SUBMISSION, submission.id, before, state, actor=author, at=submission.changed_at)


def _save(submission: Submission, *fields: str) -> None:
    submission.version += 1
    submission.changed_at = timezone.now()
    submission.save(update_fields=[*fields, "version", "changed_at"])
