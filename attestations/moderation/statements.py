"""Statements in the admin."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest

from attestations.accounts.people import signed_in
from attestations.models import Statement, StatementRevision
from attestations.moderation.base import DecisionAdmin, number
from attestations.moderation.people import history
from attestations.reads.statements import of_statements, statement_page
from attestations.services import moderation

_MOST = 20


class StatementAdmin(DecisionAdmin):
    template = "moderation/statement.html"
    decisions = moderation.STATEMENT
    bulk = ("publish", "request_changes", "reject", "hide", "unhide")
    list_display = ("kind", "state", "author", "run", "excerpt", "created_at")
    list_filter = ("state", "kind")
    search_fields = ("run__digest", "author__username", "id")
    list_select_related = ("author", "run")
    ordering = ("id",)

    @staticmethod
    def excerpt(row: Statement) -> str:
        """The beginning of the note."""
        said = StatementRevision.objects.filter(statement=row, number=row.revision).first()
        return said.note[:80] if said else ""

    def decide(self, request: HttpRequest, row: Statement, action: str, reason: str, seen: datetime | None) -> None:
        revision = number(request.POST.get("revision", "")) if seen is None else None
        moderation.decide_statement(
            signed_in(request), row.pk, action, reason=reason, revision=revision or (None if seen else 0), seen_at=seen
        )

    def context(self, request: HttpRequest, row: Statement) -> dict[str, Any]:
        page = statement_page(row.pk, row.author)
        return {
            "page": page,
            "run": row.run,
            "history": history(row.author),
            "similar": of_statements(similar(row)),
            "is_own": row.author_id == request.user.pk,
        }


def similar(statement: Statement) -> list[Statement]:
    """Others on the same run, and others anywhere whose note says the same."""
    others = Statement.objects.exclude(pk=statement.pk)
    note = StatementRevision.objects.get(statement=statement, number=statement.revision).note
    found = list(others.filter(run=statement.run_id).order_by("-id")[:_MOST])
    if note:
        same = others.filter(revisions__note=note).exclude(run=statement.run_id)
        found += list(same.distinct().order_by("-id")[:_MOST])
    return found
