"""What templates know beside what a view gives them."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse


def sign_in_ways(request: HttpRequest) -> dict[str, str]:
    """Where a sign-in through GitHub begins; empty on a site that has no keys for it."""
    return {"github_login_url": reverse("github_login") if settings.GITHUB_CLIENT_ID else ""}
