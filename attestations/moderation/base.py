"""What the admin pages of decisions share: lists with bulk actions and a reason, and a page for one decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ActionForm
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone

from attestations.models import AuditEntry
from attestations.refusals import Refused
from attestations.services.moderation import MODERATE, Decision
from runs.admin import ReadOnlyAdmin


class ReasonForm(ActionForm):
    """The reason of a bulk action, and when the list was looked at: what changed since is not decided on."""

    reason = forms.CharField(required=False, max_length=1_000, label="Reason:")
    seen = forms.CharField(
        required=False, label="", widget=forms.HiddenInput, initial=lambda: timezone.now().isoformat()
    )


class DecisionAdmin(ReadOnlyAdmin):
    """Rows to decide on. A change happens by `decide` alone, which calls a service; no form edits a row."""

    template: ClassVar[str]
    decisions: ClassVar[Mapping[str, Decision]] = {}
    bulk: ClassVar[tuple[str, ...]] = ()
    action_form = ReasonForm
    actions: Any = ()

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Moderators alone: what waits here is nobody else's to read."""
        return request.user.has_perm(MODERATE)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """An action for each decision that is taken in bulk."""
        return {
            name: (self._bulk_action(name), name, f"{self.decisions[name].label} the selected")
            for name in self.bulk
            if self.has_view_permission(request)
        }

    def _bulk_action(self, name: str) -> Callable[[Any, HttpRequest, QuerySet[Any]], None]:
        def act(_: Any, request: HttpRequest, chosen: QuerySet[Any]) -> None:
            reason, seen = request.POST.get("reason", ""), _instant(request.POST.get("seen", ""))
            done = 0
            for row in chosen.order_by("pk"):
                try:
                    self.decide(request, row, name, reason, seen)
                    done += 1
                except Refused as refused:
                    self.message_user(request, f"{row}: {refused}", messages.ERROR)
            if done:
                self.message_user(request, f"{self.decisions[name].label}: {done}", messages.SUCCESS)

        return act

    def decide(self, request: HttpRequest, row: Any, action: str, reason: str, seen: datetime | None) -> None:
        """Have a service decide. Raises Refused."""
        raise NotImplementedError

    def choices(self, row: Any) -> list[tuple[str, str]]:
        """The decisions that the row's state allows."""
        return [(name, each.label) for name, each in self.decisions.items() if row.state in each.before]

    def context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Everything that the decision needs."""
        raise NotImplementedError

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page of one decision."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404("There is nothing with this id.")
        if request.method == "POST":
            return self._decided(request, row)
        context = {
            **self.admin_site.each_context(request),
            "title": str(row),
            "opts": self.model._meta,
            "row": row,
            "choices": self.choices(row),
            "trail": trail(row),
            **self.context(request, row),
        }
        return TemplateResponse(request, self.template, context)

    def _decided(self, request: HttpRequest, row: Model) -> HttpResponse:
        action = request.POST.get("decision", "")
        if action not in self.decisions:
            raise Http404("There is no such decision.")
        try:
            self.decide(request, row, action, request.POST.get("reason", ""), None)
        except Refused as refused:
            self.message_user(request, str(refused), messages.ERROR)
            return redirect(request.path)
        self.message_user(request, f"{self.decisions[action].label}: done.", messages.SUCCESS)
        return redirect(f"admin:{self.model._meta.app_label}_{self.model._meta.model_name}_changelist")


def trail(row: Model) -> list[AuditEntry]:
    """What was decided about a row, oldest first."""
    return list(AuditEntry.objects.filter(subject_id=str(row.pk)).select_related("actor").order_by("sequence"))


def number(text: str) -> int | None:
    """A number of a hidden field."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _instant(text: str) -> datetime:
    """When the list was looked at; long ago where the form does not say, so that nothing passes unseen."""
    try:
        seen = datetime.fromisoformat(text)
    except ValueError:
        seen = None
    if seen is None or seen.tzinfo is None:
        return timezone.now().replace(year=2000, month=1, day=1)
    return seen
