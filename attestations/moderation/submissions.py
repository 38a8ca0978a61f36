"""Submissions and claims in the admin."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest

from attestations.accounts.people import signed_in
from attestations.models import OwnerClaim, Submission
from attestations.models.audit import Subject
from attestations.moderation.base import DecisionAdmin, number
from attestations.moderation.people import history
from attestations.reads.people import steps_of
from attestations.services import checking, moderation
from runs.models import Run


class SubmissionAdmin(DecisionAdmin):
    template = "moderation/submission.html"
    decisions = moderation.SUBMISSION
    bulk = ("accept", "request_changes", "reject")
    list_display = ("id", "state", "author", "digest", "changed_at")
    list_filter = ("state",)
    search_fields = ("digest", "author__username", "id")
    list_select_related = ("author",)
    ordering = ("id",)

    def decide(self, request: HttpRequest, row: Submission, action: str, reason: str, seen: datetime | None) -> None:
        version = number(request.POST.get("version", ""))
        if seen is not None:
            # In bulk, what was looked at is the row of the list: a later version is another.
            version = row.version if row.changed_at <= seen else 0
        moderation.decide_submission(signed_in(request), row.pk, action, reason=reason, version=version or 0)

    def context(self, request: HttpRequest, row: Submission) -> dict[str, Any]:
        check = checking.check(row.document)
        group = (
            Run.objects.filter(comparison_key=check.group.key)
            .select_related("implementation", "source", "standing")
            .order_by("value")[:20]
            if check.group
            else []
        )
        return {
            "check": check,
            "group": group,
            "steps": steps_of(Subject.SUBMISSION, row.pk),
            "history": history(row.author),
            "is_own": row.author_id == request.user.pk,
        }


class OwnerClaimAdmin(DecisionAdmin):
    template = "moderation/claim.html"
    decisions = moderation.CLAIM
    bulk = ("reject", "revoke")
    list_display = ("implementation", "claimant", "state", "proof_url", "changed_at")
    list_filter = ("state",)
    search_fields = ("implementation__slug", "claimant__username")
    list_select_related = ("implementation", "claimant")
    ordering = ("id",)

    def decide(self, request: HttpRequest, row: OwnerClaim, action: str, reason: str, seen: datetime | None) -> None:
        moderation.decide_claim(signed_in(request), row.pk, action, reason=reason)

    def context(self, request: HttpRequest, row: OwnerClaim) -> dict[str, Any]:
        project = row.implementation.project
        return {
            "repository": project.url if project else "",
            "steps": steps_of(Subject.CLAIM, row.pk),
            "history": history(row.claimant),
            "is_own": row.claimant_id == request.user.pk,
        }
