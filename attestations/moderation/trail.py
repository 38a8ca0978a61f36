"""The audit trail in the admin: it can be read."""

from __future__ import annotations

from django.http import HttpRequest

from attestations.services.moderation import MODERATE
from runs.admin import ReadOnlyAdmin


class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("sequence", "at", "actor", "action", "subject", "subject_id", "reason")
    list_filter = ("action", "subject")
    search_fields = ("subject_id", "reason", "hash")
    list_select_related = ("actor",)
    ordering = ("-sequence",)

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Moderators alone: reasons may speak of persons."""
        return request.user.has_perm(MODERATE)
