"""The queue of runs that are faster than their hardware could be."""

from __future__ import annotations

from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from attestations.accounts.people import signed_in
from attestations.moderation.queues import below_floor
from attestations.refusals import Refused
from attestations.services import office
from attestations.services.moderation import MODERATE
from runs.models import OutboxEntry

ACTIONS = {"confirm": office.confirm_floor, "explain": office.explain_floor}
_PAGE = 50


def floor_queue(request: HttpRequest) -> HttpResponse:
    """The cases, each with the floor that stands above it; a decision on one of them by POST."""
    person = signed_in(request)
    if not person.has_perm(MODERATE):
        raise PermissionDenied
    if request.method == "POST":
        return _decide(request)
    runs = list(below_floor().select_related("operation", "environment")[:_PAGE])
    found = OutboxEntry.objects.filter(topic="below_floor", run__in=runs).order_by("id")
    facts = {entry.run_id: entry.payload for entry in found}
    context = {
        **admin.site.each_context(request),
        "title": "Runs below the physical floor",
        "cases": [(run, facts[run.id]) for run in runs],
    }
    return render(request, "moderation/floor.html", context)


def _decide(request: HttpRequest) -> HttpResponse:
    act = ACTIONS.get(request.POST.get("decision", ""))
    try:
        run = below_floor().filter(pk=UUID(request.POST.get("run", ""))).first()
    except ValueError:
        run = None
    if act is None or run is None:
        messages.error(request, "This run is not in the queue any more.")
    else:
        try:
            act(signed_in(request), run, reason=request.POST.get("reason", ""))
            messages.success(request, "Decided.")
        except Refused as refused:
            messages.error(request, str(refused))
    return redirect("admin:floor-queue")
