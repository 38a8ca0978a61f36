"""People, and browsers that they use."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from attestations.accounts.models import User

PASSWORD = "a long password for tests"


def add_person(name: str) -> User:
    """An account as it is after sign-up and verification."""
    user = User.objects.create_user(name, f"{name}@example.org", PASSWORD)
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    return user


def sign_in(user: User) -> Client:
    """A browser of this person, signed in through the form."""
    client = Client()
    response = client.post("/account/login/", {"login": user.username, "password": PASSWORD})
    assert response.status_code == 302, response.content.decode()
    return client


def link_in_mail(index: int = -1) -> str:
    """The first address in a mail, as a path."""
    found = re.search(r"https?://[^/\s]+(/\S*)", mail.outbox[index].body)
    assert found, mail.outbox[index].body
    return found[1]


@pytest.fixture
def ada(db: None) -> User:
    return add_person("ada")


@pytest.fixture
def grace(db: None) -> User:
    return add_person("grace")


@pytest.fixture
def browser_of(db: None) -> Callable[[User], Client]:
    return sign_in


def prove(browser: Client) -> None:
    """Give the password again, as pages that change something important ask."""
    response = browser.post("/account/reauthenticate/", {"password": PASSWORD})
    assert response.status_code == 302, response.content.decode()
