"""People in the admin: what they did here, and whether they may go on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest

from attestations.accounts.models import User
from attestations.accounts.people import signed_in
from attestations.models import Report, Statement, Submission
from attestations.moderation.base import DecisionAdmin
from attestations.reads.statements import statements_by
from attestations.reads.values import StatementRow
from attestations.services import office, people
from attestations.services.moderation import Decision


@dataclass(frozen=True, slots=True)
class History:
    """What a person did here, in counts by state."""

    name: str
    pk: int
    joined: datetime
    suspended: bool
    statements: tuple[tuple[str, int], ...]
    submissions: tuple[tuple[str, int], ...]
    reports: tuple[tuple[str, int], ...]
    latest: tuple[StatementRow, ...]


def history(person: User) -> History:
    """The history of a person."""
    return History(
        name=person.shown_name,
        pk=person.pk,
        joined=person.date_joined,
        suspended=people.is_suspended(person),
        statements=_tally(Statement, author=person),
        submissions=_tally(Submission, author=person),
        reports=_tally(Report, reporter=person),
        latest=statements_by(person, public_only=False, limit=10),
    )


def _tally(model: Any, **whose: User) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(model.objects.filter(**whose).values_list("state", flat=True)).items()))


_NOBODY: frozenset[str] = frozenset()


class PersonAdmin(DecisionAdmin):
    template = "moderation/person.html"
    decisions = {
        "suspend": Decision("Suspend", _NOBODY, "", ""),
        "lift": Decision("Lift the suspension", _NOBODY, "", ""),
        "appoint": Decision("Make a moderator", _NOBODY, "", ""),
        "discharge": Decision("Discharge as moderator", _NOBODY, "", ""),
    }
    bulk = ("suspend",)
    list_display = ("username", "date_joined", "is_staff", "is_active")
    list_filter = ("is_staff",)
    search_fields = ("username",)
    ordering = ("-id",)

    def choices(self, row: User) -> list[tuple[str, str]]:
        wanted = ["lift" if people.is_suspended(row) else "suspend", "discharge" if row.is_staff else "appoint"]
        return [(name, self.decisions[name].label) for name in wanted]

    def decide(self, request: HttpRequest, row: User, action: str, reason: str, seen: datetime | None) -> None:
        acts = {
            "suspend": office.suspend,
            "lift": office.lift,
            "appoint": office.appoint,
            "discharge": office.discharge,
        }
        acts[action](signed_in(request), row.pk, reason=reason)

    def context(self, request: HttpRequest, row: User) -> dict[str, Any]:
        return {"history": history(row), "is_own": row.pk == request.user.pk}
