"""How people are named."""

from __future__ import annotations

from uuid import UUID

from attestations.accounts.models import User
from attestations.models import Step
from attestations.models.audit import Subject
from attestations.reads.values import PersonLink, StepRow


def person_link(person: User) -> PersonLink:
    """The person's name, and the profile where there is one."""
    has_profile = person.is_active and not person.deleted_at
    return PersonLink(person.shown_name, person.get_absolute_url() if has_profile else None)


def steps_of(subject: Subject, subject_id: UUID) -> tuple[StepRow, ...]:
    """The steps of something, in their order, for those who may see it."""
    found = Step.objects.filter(subject=subject, subject_id=subject_id).select_related("actor").order_by("id")
    return tuple(StepRow(step.before, step.after, _actor(step), step.reason, step.at) for step in found)


def _actor(step: Step) -> str:
    name = step.actor.shown_name if step.actor else "somebody without an account"
    return f"{name}, moderator" if step.by_moderator else name
