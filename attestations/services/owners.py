"""Claims of ownership. The proof is a token in a file of the repository; a moderator looks, the site calls nobody."""

from __future__ import annotations

from secrets import token_hex
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from attestations.accounts.models import User
from attestations.models import OwnerClaim
from attestations.models.audit import Subject
from attestations.refusals import Refused
from attestations.services import people, steps
from runs.models import Implementation

State = OwnerClaim.State


def claim(claimant: User, implementation: Implementation, *, detail: str) -> OwnerClaim:
    """Say that an implementation is yours. Raises Refused."""
    try:
        with transaction.atomic():
            people.may_post(claimant)
            now = timezone.now()
            made = OwnerClaim.objects.create(
                implementation=implementation,
                claimant=claimant,
                token=f"kernelindex-owner-{token_hex(16)}",
                detail=detail,
                created_at=now,
                changed_at=now,
            )
            steps.take(Subject.CLAIM, made.id, "", State.OPEN, actor=claimant, at=now)
    except IntegrityError as error:
        raise Refused("CLAIM_EXISTS") from error
    return made


def prove(claimant: User, claim_id: UUID, *, proof_url: str) -> OwnerClaim:
    """Say where the file with the token can be read. Raises Refused."""
    with transaction.atomic():
        found = _own(claimant, claim_id)
        if found.state != State.OPEN:
            raise Refused("WRONG_STATE")
        found.proof_url, found.changed_at = proof_url, timezone.now()
        found.save(update_fields=["proof_url", "changed_at"])
    return found


def withdraw(claimant: User, claim_id: UUID) -> OwnerClaim:
    """Give a claim up. Raises Refused."""
    with transaction.atomic():
        found = _own(claimant, claim_id)
        if found.state not in {State.OPEN, State.ACCEPTED}:
            raise Refused("FINAL")
        before, found.state, found.changed_at = found.state, State.WITHDRAWN, timezone.now()
        found.save(update_fields=["state", "changed_at"])
        steps.take(Subject.CLAIM, found.id, before, State.WITHDRAWN, actor=claimant, at=found.changed_at)
    return found


def _own(claimant: User, claim_id: UUID) -> OwnerClaim:
    found = OwnerClaim.objects.select_for_update().filter(pk=claim_id, claimant=claimant).first()
    if found is None:
        raise Refused("NOT_YOURS")
    return found
