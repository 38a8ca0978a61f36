"""Where other apps have their say about a person: in the export, when an account is deleted, on the profile.

An app registers in its AppConfig.ready(); accounts know nothing of it beyond what is registered here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from attestations.accounts.models import User


class Statements(StrEnum):
    """What becomes of the statements of a person who deletes the account."""

    KEEP = "keep"  # they stay, under "deleted account"
    WITHDRAW = "withdraw"


@dataclass(frozen=True, slots=True)
class ProfileSection:
    """A part of a public profile: a heading, a Jinja2 template and what it is given as `section.context`."""

    heading: str
    template: str
    context: Mapping[str, Any]


Export = Callable[[User], Any]  # yields plain JSON values; times as datetime
Deletion = Callable[[User, Statements], None]  # runs inside the transaction of the deletion
Profile = Callable[[User], ProfileSection | None]

_exports: dict[str, Export] = {}
_deletions: dict[str, Deletion] = {}
_profiles: dict[str, Profile] = {}


def register_export(name: str, function: Export) -> None:
    """Add what an app knows of a person to the export, under this name."""
    _exports[name] = function


def register_deletion(name: str, function: Deletion) -> None:
    """Have an app do its part when a person deletes the account: keep or withdraw statements, erase the rest."""
    _deletions[name] = function


def register_profile(name: str, function: Profile) -> None:
    """Add a section to public profiles."""
    _profiles[name] = function


def exported(user: User) -> dict[str, Any]:
    """What all apps know of a person."""
    return {name: function(user) for name, function in _exports.items()}


def deleting(user: User, statements: Statements) -> None:
    """Let all apps do their part."""
    for function in _deletions.values():
        function(user, statements)


def profile_sections(user: User) -> list[ProfileSection]:
    """The sections of a public profile."""
    return [section for function in _profiles.values() if (section := function(user))]
