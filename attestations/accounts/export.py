"""Everything the site knows of a person, for that person."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.utils import timezone

from attestations.accounts import hooks
from attestations.accounts.models import ApiToken, Follow, Notice, NoticeSettings, User


def export(user: User) -> dict[str, Any]:
    """Plain values, times as datetime. No secret is in it: neither hashes, nor keys, nor the ids of sessions."""
    return {
        "exportedAt": timezone.now(),
        "account": {
            "name": user.username,
            "email": user.email,
            "joinedAt": user.date_joined,
            "lastSignInAt": user.last_login,
            "hasPassword": user.has_usable_password(),
        },
        "emailAddresses": list(EmailAddress.objects.filter(user=user).values("email", "verified", "primary")),
        "secondFactors": list(Authenticator.objects.filter(user=user).values("type", "created_at", "last_used_at")),
        "connectedAccounts": list(
            SocialAccount.objects.filter(user=user).values("provider", "uid", "extra_data", "date_joined")
        ),
        "sessions": list(
            UserSession.objects.filter(user=user).values("ip", "user_agent", "created_at", "last_seen_at")
        ),
        "tokens": list(
            ApiToken.objects.filter(user=user).values(
                "name", "scopes", "created", "expiry", "last_used_at", "revoked_at"
            )
        ),
        "follows": list(Follow.objects.filter(user=user).order_by("id").values("kind", "key", "at")),
        "notices": list(
            Notice.objects.filter(user=user)
            .order_by("id")
            .values("topic", "subject", "facts", "path", "at", "seen_at", "mailed_at")
        ),
        "noticeSettings": NoticeSettings.objects.filter(user=user).values("digest").first(),
        **hooks.exported(user),
    }
