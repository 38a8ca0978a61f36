"""The address of a person's feed: secret, and replaced by another on demand."""

from __future__ import annotations

from django.core.signing import BadSignature, Signer
from django.db.models import F

from attestations.accounts.models import NoticeSettings, User

_signer = Signer(salt="accounts.feed", sep="~")


def feed_token(user: User) -> str:
    """The secret part of the feed's address. Nothing secret is stored: it is signed with the site's key."""
    version = NoticeSettings.objects.get_or_create(user=user)[0].feed_version
    return _signer.sign(f"{user.pk}.{version}")


def rotate_feed(user: User) -> None:
    """Make the feed's address another; the old one leads nowhere from now on."""
    NoticeSettings.objects.get_or_create(user=user)
    NoticeSettings.objects.filter(user=user).update(feed_version=F("feed_version") + 1)


def user_of_feed(token: str) -> User | None:
    """Whose feed an address is, if it is the current one."""
    try:
        pk, _, version = _signer.unsign(token).partition(".")
    except BadSignature:
        return None
    return User.objects.filter(pk=pk, is_active=True, notice_settings__feed_version=version).first()
