"""What this app has to say about a person: in the export, on the profile, and when the account is deleted."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from attestations.accounts import hooks
from attestations.accounts.models import User
from attestations.models import OwnerClaim, Report, Statement, StatementRevision, Submission
from attestations.models.audit import Subject
from attestations.reads.statements import statements_by
from attestations.services import statements, steps
from runs import publication
from runs.models import Run


def register() -> None:
    """Register all three with accounts."""
    hooks.register_export("attestations", export)
    hooks.register_deletion("attestations", delete)
    hooks.register_profile("attestations", profile)


def export(person: User) -> dict[str, Any]:
    """Everything that a person wrote here, in every state."""
    revisions = StatementRevision.objects.filter(statement__author=person).order_by("id")
    return {
        "statements": list(
            revisions.values(
                "statement_id",
                "statement__run__digest",
                "statement__state",
                "number",
                "kind",
                "note",
                "value",
                "unit",
                "statistic",
                "samples",
                "environment",
                "evidence_url",
                "attachment__digest",
                "at",
            )
        ),
        "submissions": list(
            Submission.objects.filter(author=person)
            .order_by("id")
            .values("id", "document", "note", "digest", "state", "created_at", "changed_at")
        ),
        "reports": list(
            Report.objects.filter(reporter=person)
            .order_by("id")
            .values("id", "run__digest", "reason", "detail", "evidence_url", "contact", "state", "answer", "created_at")
        ),
        "ownerClaims": list(
            OwnerClaim.objects.filter(claimant=person)
            .order_by("id")
            .values("implementation__slug", "token", "proof_url", "detail", "state", "created_at")
        ),
    }


def profile(person: User) -> hooks.ProfileSection:
    """A person's published statements, each with what it says and how it compares."""
    return hooks.ProfileSection(
        "Statements", "attestations/_profile.html", {"statements": statements_by(person, public_only=True)}
    )


@transaction.atomic
def delete(person: User, choice: hooks.Statements) -> None:
    """Withdraw or keep what the person stated, as chosen; end what is under way; erase what would lead to them."""
    now = timezone.now()
    theirs = Statement.objects.select_for_update().filter(author=person).exclude(state__in=Statement.FINAL)
    shown = set(theirs.filter(state=Statement.State.PUBLISHED).values_list("run_id", flat=True))
    if choice == hooks.Statements.WITHDRAW:
        for statement in theirs:
            statements.take_back(statement, now)
    for submission in Submission.objects.filter(author=person).exclude(state__in=Submission.FINAL):
        before, submission.state = submission.state, Submission.State.WITHDRAWN
        submission.version += 1
        submission.save(update_fields=["state", "version"])
        steps.take(Subject.SUBMISSION, submission.id, before, submission.state, actor=person, at=now)
    for claim in OwnerClaim.objects.filter(
        claimant=person, state__in=[OwnerClaim.State.OPEN, OwnerClaim.State.ACCEPTED]
    ):
        before, claim.state = claim.state, OwnerClaim.State.WITHDRAWN
        claim.save(update_fields=["state"])
        steps.take(Subject.CLAIM, claim.id, before, claim.state, actor=person, at=now)
    Report.objects.filter(reporter=person).update(contact="")
    # The pages of these runs name the person until they are made anew.
    for run in Run.objects.filter(id__in=shown):
        publication.touch(run)
