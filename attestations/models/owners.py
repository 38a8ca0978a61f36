"""Who owns an implementation."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.models import Implementation
from runs.models.base import new_id


class OwnerClaim(models.Model):
    """A person says that an implementation is theirs. A moderator looks for the proof and decides."""

    class State(models.TextChoices):
        """Where it stands."""

        OPEN = "open", "waiting for a moderator"
        ACCEPTED = "accepted", "accepted"
        REJECTED = "rejected", "rejected"
        REVOKED = "revoked", "revoked"
        WITHDRAWN = "withdrawn", "withdrawn"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    implementation = models.ForeignKey(Implementation, models.PROTECT, related_name="owner_claims")
    claimant = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="owner_claims")
    token = models.CharField(max_length=64, help_text="to be found in a file of the repository")
    proof_url = models.CharField(max_length=2000, blank=True, help_text="where that file can be read")
    detail = models.TextField(blank=True)
    state = models.CharField(max_length=20, choices=State, default=State.OPEN)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["implementation", "claimant"],
                condition=models.Q(state__in=["open", "accepted"]),
                name="one_claim_per_person_and_implementation",
            )
        ]

    def __str__(self) -> str:
        return f"Claim {self.id}"
