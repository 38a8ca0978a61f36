"""The page that the others of an account hang from."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from attestations.accounts.models import ApiToken, Follow
from attestations.accounts.people import signed_in


@never_cache
@login_required
def overview(request: HttpRequest) -> HttpResponse:
    """What the account consists of, each with the way to change it."""
    user = signed_in(request)
    return render(
        request,
        "accounts/overview.html",
        {
            "email": EmailAddress.objects.get_primary_email(user),
            "factors": Authenticator.objects.filter(user=user).exclude(type="recovery_codes").count(),
            "sessions": UserSession.objects.filter(user=user).count(),
            "tokens": ApiToken.objects.filter(user=user, revoked_at=None, expiry__gt=timezone.now()).count(),
            "follows": Follow.objects.filter(user=user).count(),
            "connections": SocialAccount.objects.filter(user=user).count(),
        },
    )
