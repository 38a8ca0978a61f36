"""What can be followed: finding it, naming it, following it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.urls import reverse

from attestations.accounts.models import Follow, User
from runs.models import ComparisonGroup, Environment, Implementation, Operation, Run
from runs.reads.links import group_url, hardware_link, implementation_link, operation_link
from runs.reads.values import Link

MOST: Final = 500  # subjects that one person may follow
Kind = Follow.Kind


class TooManyFollows(Exception):
    """The person follows as much as one may."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that can be followed, as pages name it."""

    kind: str
    key: str
    name: str
    path: str

    @property
    def label(self) -> str:
        """What kind of thing it is, in words."""
        return str(Kind(self.kind).label)

    @property
    def identity(self) -> tuple[str, str]:
        """What a Follow refers to it by."""
        return (self.kind, self.key)


def find(kind: str, key: str) -> Subject | None:
    """The subject of this kind and key, if it exists."""
    return subjects([(kind, key)]).get((kind, key))


def subjects(wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Subject]:
    """Those of the wanted (kind, key) pairs that exist, with one query for each kind."""
    keys: dict[str, set[str]] = {}
    for kind, key in wanted:
        keys.setdefault(kind, set()).add(key)
    found = [subject for kind, chosen in keys.items() if kind in _FINDERS for subject in _FINDERS[kind](chosen)]
    return {subject.identity: subject for subject in found}


def subjects_of(run: Run) -> list[tuple[str, str]]:
    """Everything that a run belongs to and that somebody may follow. Needs operation and implementation loaded."""
    return [
        (Kind.RUN, str(run.id)),
        (Kind.GROUP, run.comparison_key),
        (Kind.OPERATION, run.operation.slug),
        (Kind.IMPLEMENTATION, run.implementation.slug),
        (Kind.HARDWARE, run.hardware),
    ]


def follow(user: User, subject: Subject) -> None:
    """Follow; a second time changes nothing. Raises TooManyFollows."""
    if user.follows.count() >= MOST and not is_following(user, subject):
        raise TooManyFollows
    Follow.objects.get_or_create(user=user, kind=subject.kind, key=subject.key)


def unfollow(user: User, kind: str, key: str) -> bool:
    """Follow no more. False where the person did not."""
    return bool(Follow.objects.filter(user=user, kind=kind, key=key).delete()[0])


def is_following(user: User, subject: Subject) -> bool:
    """Whether the person follows it."""
    return Follow.objects.filter(user=user, kind=subject.kind, key=subject.key).exists()


def followed(user: User) -> list[Subject]:
    """What a person follows, by kind and name. What is no longer there keeps its key as its name."""
    pairs = list(user.follows.values_list("kind", "key"))
    named = subjects(pairs)
    listed = [named.get(pair) or Subject(*pair, name=pair[1], path="") for pair in pairs]
    return sorted(listed, key=lambda subject: (subject.kind, subject.name.lower()))


def _runs(keys: set[str]) -> list[Subject]:
    ids = [UUID(key) for key in keys if _is_id(key)]
    runs = Run.objects.filter(id__in=ids).select_related("operation", "implementation")
    return [Subject(Kind.RUN, str(run.id), run_name(run), reverse("run", args=[run.id])) for run in runs]


def _groups(keys: set[str]) -> list[Subject]:
    groups = ComparisonGroup.objects.filter(key__in=keys).select_related("operation", "workload", "environment")
    return [
        Subject(
            Kind.GROUP,
            group.key,
            f"{group.operation.name} · {group.workload.summary} · {group.environment.product}",
            group_url(group.key),
        )
        for group in groups
    ]


def _operations(keys: set[str]) -> list[Subject]:
    found = Operation.objects.filter(slug__in=keys)
    return [_subject(Kind.OPERATION, operation_link(one.slug, one.name)) for one in found]


def _implementations(keys: set[str]) -> list[Subject]:
    found = Implementation.objects.filter(slug__in=keys)
    return [_subject(Kind.IMPLEMENTATION, implementation_link(one.slug, one.title)) for one in found]


def _hardware(keys: set[str]) -> list[Subject]:
    names: Mapping[str, str] = dict(Environment.objects.filter(hardware__in=keys).values_list("hardware", "product"))
    return [_subject(Kind.HARDWARE, hardware_link(slug, name)) for slug, name in names.items()]


def _subject(kind: str, link: Link) -> Subject:
    return Subject(kind, link.slug, link.name, link.url or "")


_FINDERS: Final = {
    Kind.RUN.value: _runs,
    Kind.GROUP.value: _groups,
    Kind.OPERATION.value: _operations,
    Kind.IMPLEMENTATION.value: _implementations,
    Kind.HARDWARE.value: _hardware,
}


def run_name(run: Run) -> str:
    """A run as titles name it."""
    return f"{run.implementation.name} · {run.operation.name}"


def _is_id(key: str) -> bool:
    try:
        return str(UUID(key)) == key
    except ValueError:
        return False
