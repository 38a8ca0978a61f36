"""What moderators and administrators decide about people, and about what the physical floor says of a run."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from attestations.accounts.models import User
from attestations.accounts.notices import notify
from attestations.models import Suspension
from attestations.models.audit import Subject
from attestations.refusals import Refused
from attestations.roles import MODERATOR
from attestations.services import audit
from attestations.services.moderation import locked, stated
from attestations.services.report_decisions import OFFICE
from runs import publication
from runs.models import Run
from runs.refusals import PublicationRefused

SUSPEND = "attestations.suspend_person"
APPOINT = "attestations.appoint"


def suspend(moderator: User, person_id: int, *, reason: str) -> None:
    """Keep a person from posting. Raises Refused."""
    reason = stated(moderator, reason, SUSPEND)
    try:
        with transaction.atomic():
            person = _person(moderator, person_id)
            if person.is_staff and not moderator.has_perm(APPOINT):
                raise Refused("NOT_MODERATOR")
            suspension = Suspension.objects.create(person=person, reason=reason, at=timezone.now())
            _record(moderator, "suspend", person, before={"suspended": False}, after={"suspended": True}, reason=reason)
            notify(
                person,
                "suspended",
                key=f"suspension:{suspension.id}",
                subject="Your account may not post at present",
                path=reverse("account"),
                facts=reason,
            )
    except IntegrityError as error:
        raise Refused("WRONG_STATE") from error


def lift(moderator: User, person_id: int, *, reason: str) -> None:
    """Let a suspended person post again. Raises Refused."""
    reason = stated(moderator, reason, SUSPEND)
    with transaction.atomic():
        person = _person(moderator, person_id)
        if not Suspension.objects.filter(person=person, lifted_at=None).update(lifted_at=timezone.now()):
            raise Refused("WRONG_STATE")
        _record(moderator, "lift", person, before={"suspended": True}, after={"suspended": False}, reason=reason)


def appoint(administrator: User, person_id: int, *, reason: str) -> None:
    """Make a person a moderator. Raises Refused."""
    reason = stated(administrator, reason, APPOINT)
    with transaction.atomic():
        person = _person(administrator, person_id)
        if person.is_staff or not person.is_active:
            raise Refused("WRONG_STATE")
        person.is_staff = True
        person.save(update_fields=["is_staff"])
        person.groups.add(Group.objects.get(name=MODERATOR))
        _record(administrator, "appoint", person, before={"roles": []}, after={"roles": [MODERATOR]}, reason=reason)


def discharge(administrator: User, person_id: int, *, reason: str) -> None:
    """Make a moderator an ordinary person again. Raises Refused."""
    reason = stated(administrator, reason, APPOINT)
    with transaction.atomic():
        person = _person(administrator, person_id)
        if person.is_superuser or not person.is_staff:
            raise Refused("WRONG_STATE")
        roles = sorted(person.groups.values_list("name", flat=True))
        person.is_staff = False
        person.save(update_fields=["is_staff"])
        person.groups.clear()
        _record(administrator, "discharge", person, before={"roles": roles}, after={"roles": []}, reason=reason)


def confirm_floor(moderator: User, run: Run, *, reason: str) -> None:
    """Confirm that a run is below the physical floor; it loses its rank. Raises Refused."""
    reason = stated(moderator, reason)
    with transaction.atomic():
        try:
            publication.confirm_below_floor(run.digest, reason=reason, actor=OFFICE)
        except PublicationRefused as error:
            raise Refused("PUBLICATION", str(error)) from error
        audit.record(
            moderator,
            "confirm_floor",
            Subject.RUN,
            run.id,
            before={"confirmed": False},
            after={"confirmed": True},
            reason=reason,
            run=run.id,
        )


def explain_floor(moderator: User, run: Run, *, reason: str) -> None:
    """Take a run out of the queue: what made it look impossible has an explanation. Raises Refused."""
    reason = stated(moderator, reason)
    with transaction.atomic():
        audit.record(
            moderator,
            "explain_floor",
            Subject.RUN,
            run.id,
            before={"explained": False},
            after={"explained": True},
            reason=reason,
            run=run.id,
        )


def _person(decider: User, person_id: int) -> User:
    person = locked(User, person_id)
    if person.pk == decider.pk or (person.is_superuser and not decider.is_superuser):
        raise Refused("OWN" if person.pk == decider.pk else "NOT_MODERATOR")
    return person


def _record(
    decider: User, action: str, person: User, *, before: dict[str, object], after: dict[str, object], reason: str
) -> None:
    audit.record(decider, action, Subject.PERSON, person.pk, before=before, after=after, reason=reason)
