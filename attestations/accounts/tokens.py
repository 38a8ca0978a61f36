"""Making, checking and revoking the keys of programs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum
from hmac import compare_digest
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from knox.crypto import hash_token
from knox.settings import CONSTANTS

from attestations.accounts.models import ApiToken, User

MOST: Final = 20  # tokens in use that one person may have
LONGEST_LIFE: Final = timedelta(days=366)
_LONGEST_TOKEN: Final = 200  # characters; more is not worth hashing
_PRECISION: Final = timedelta(minutes=1)  # of the last use, so that not every request writes


class Scope(StrEnum):
    """What a token may do."""

    READ = "read"
    ATTEST = "attest"


class TooManyTokens(Exception):
    """The person has as many tokens as one may have."""


def create_token(user: User, *, name: str, scopes: Iterable[Scope], life: timedelta) -> tuple[ApiToken, str]:
    """A new token and its text, which is known here and never again.

    Raises TooManyTokens, and ValueError for no scope or a life that is none or longer than a year.
    """
    chosen = sorted({Scope(scope).value for scope in scopes})
    if not chosen or not timedelta(0) < life <= LONGEST_LIFE:
        raise ValueError("a token has a scope and ends within a year")
    usable = ApiToken.objects.filter(user=user, revoked_at=None, expiry__gt=timezone.now())
    if usable.count() >= MOST:
        raise TooManyTokens
    return ApiToken.objects.create(user, expiry=life, name=name, scopes=chosen)  # type: ignore[no-any-return]


def revoke_token(user: User, public_id: UUID) -> bool:
    """End a token of this person. False where there is none by this id; a second revocation changes nothing."""
    tokens = ApiToken.objects.filter(user=user, public_id=public_id)
    tokens.filter(revoked_at=None).update(revoked_at=timezone.now())
    return bool(tokens.exists())


def authenticate_token(header: str | None) -> tuple[User, frozenset[Scope]] | None:
    """Who an Authorization header speaks for, and what it may do; None where it does not say or is not valid.

    Takes `Bearer kix_…` (or `Token kix_…`). The token is hashed before anything is compared, and digests are compared
    in constant time, so that the time of a refusal tells nothing of a token.
    """
    scheme, _, text = (header or "").strip().partition(" ")
    text = text.strip()
    if scheme.lower() not in {"bearer", "token"} or not text.isascii() or len(text) > _LONGEST_TOKEN:
        return None
    digest, now = hash_token(text), timezone.now()
    candidates = ApiToken.objects.select_related("user").filter(token_key=text[: CONSTANTS.TOKEN_KEY_LENGTH])
    found = None
    for candidate in candidates:
        if compare_digest(digest, candidate.digest):
            found = candidate
    if found is None or found.revoked_at or found.expiry is None or found.expiry <= now or not found.user.is_active:
        return None
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - _PRECISION)
    ApiToken.objects.filter(stale, digest=found.digest).update(last_used_at=now)
    return found.user, frozenset(map(Scope, found.scopes))
