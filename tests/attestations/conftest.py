"""People, a run to speak of, and what they say of it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from attestations.accounts.models import User
from attestations.models import Statement
from attestations.reads.facts import run_facts
from attestations.services import moderation, statements
from attestations.values import Content
from kernelindex.pages import shelf
from runs.models import Run
from runs.publication import publish
from runs.reads import tallies
from tests.factories import seed_bundle


@pytest.fixture(autouse=True)
def nothing_kept():
    tallies.forget()
    shelf.clear()
    run_facts.cache_clear()


def person(name: str, *groups: str) -> User:
    made = User.objects.create_user(name, f"{name}@example.org", "a password of some length")
    if groups:
        made.is_staff = True
        made.save()
        made.groups.set(Group.objects.filter(name__in=groups))
    return made


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def run(db) -> Run:
    """The seed page's run: median 73,728 ns, p20 71,712 ns, p80 73,926 ns."""
    publish(seed_bundle())
    return Run.objects.get(digest__startswith="sha256:5cde9b90d5f90633")


@pytest.fixture
def other_run(run) -> Run:
    return Run.objects.exclude(pk=run.pk).get()


@pytest.fixture
def ada(db) -> User:
    return person("ada")


@pytest.fixture
def bob(db) -> User:
    return person("bob")


@pytest.fixture
def moderator(db) -> User:
    return person("morgan", "moderator")


@pytest.fixture
def administrator(db) -> User:
    return person("alex", "administrator")


@pytest.fixture
def known(ada, run, other_run, moderator) -> User:
    """Ada, after a moderator has published two statements of hers."""
    for each in (run, other_run):
        made = statements.post(ada, each, Content("environment_note", note="ECC was on."))
        moderation.decide_statement(moderator, made.id, "publish", reason="Fine.")
    return ada


def waiting(author: User, run: Run, note: str = "It holds.", kind: str = "reproduced", **said) -> Statement:
    return statements.post(author, run, Content(kind, note=note, **said))
