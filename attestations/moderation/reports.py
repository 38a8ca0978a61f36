"""Reports in the admin, those on one run together."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from attestations.accounts.people import signed_in
from attestations.models import Report
from attestations.models.audit import Subject
from attestations.moderation.base import DecisionAdmin
from attestations.moderation.people import history
from attestations.reads.people import steps_of
from attestations.reads.statements import run_statements
from attestations.refusals import Refused
from attestations.services import report_decisions
from attestations.services.moderation import Decision

_OPEN = frozenset({Report.State.OPEN.value})


class ReportAdmin(DecisionAdmin):
    template = "moderation/report.html"
    decisions = {
        "accept": Decision("Accept", _OPEN, Report.State.ACCEPTED, ""),
        "dismiss": Decision("Dismiss", _OPEN, Report.State.DISMISSED, ""),
        "merge": Decision("Merge", _OPEN, Report.State.MERGED, ""),
    }
    bulk = ("dismiss", "merge")
    list_display = ("run", "together", "reason", "state", "excerpt", "created_at")
    list_filter = ("state", "reason")
    search_fields = ("run__digest", "id")
    list_select_related = ("run",)
    ordering = ("run", "id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        """With the number of open reports on the same run."""
        is_open = Q(run__reports__state=Report.State.OPEN)
        found: QuerySet[Report] = super().get_queryset(request).annotate(open=Count("run__reports", filter=is_open))
        return found

    @staticmethod
    def together(row: Any) -> str:
        """How many open reports there are on the run."""
        return f"{row.open} open"

    @staticmethod
    def excerpt(row: Report) -> str:
        """The beginning of the detail."""
        return row.detail[:80]

    def decide(self, request: HttpRequest, row: Report, action: str, reason: str, seen: datetime | None) -> None:
        person, post = signed_in(request), request.POST
        if action == "accept":
            report_decisions.accept(
                person,
                row.pk,
                post.get("outcome", ""),
                reason=reason,
                answer=post.get("answer", ""),
                successor=post.get("successor", ""),
            )
        elif action == "dismiss":
            report_decisions.dismiss(person, row.pk, reason=reason, answer=post.get("answer", ""))
        else:
            self._merge(request, row, reason, in_bulk=seen is not None)

    def _merge(self, request: HttpRequest, row: Report, reason: str, *, in_bulk: bool) -> None:
        """In bulk into the earliest of those that were selected and are about the same run."""
        if in_bulk:
            chosen = Report.objects.filter(pk__in=request.POST.getlist("_selected_action"), run=row.run_id)
            into = chosen.order_by("id").values_list("pk", flat=True).first()
            if into == row.pk:
                if chosen.count() == 1:
                    raise Refused("OTHER_TARGET")
                return
        else:
            try:
                into = UUID(request.POST.get("into", ""))
            except ValueError as error:
                raise Refused("OTHER_TARGET") from error
        if into is None:
            raise Refused("OTHER_TARGET")
        report_decisions.merge(signed_in(request), row.pk, into, reason=reason)

    def context(self, request: HttpRequest, row: Report) -> dict[str, Any]:
        others = Report.objects.filter(run=row.run_id).exclude(pk=row.pk).order_by("id")
        return {
            "run": row.run,
            "said": run_statements(row.run_id),
            "others": others,
            "targets": others.exclude(state=Report.State.MERGED),
            "outcomes": Report.Outcome.choices,
            "steps": steps_of(Subject.REPORT, row.pk),
            "history": history(row.reporter) if row.reporter else None,
            "is_own": row.reporter_id is not None and row.reporter_id == request.user.pk,
        }
