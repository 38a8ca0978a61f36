"""Leaving the daily mail from the mail itself."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from attestations.accounts.digests import set_digest, user_of_token


@never_cache
@csrf_exempt  # a mail program posts here by itself (RFC 8058); the signed link is what it proves itself by
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """A POST ends the mail, without signing in. A GET asks: programs that look at links in mail must change nothing."""
    user = user_of_token(token)
    if user is None:
        raise Http404("This link is not complete.")
    if request.method == "POST":
        set_digest(user, wanted=False)
    return render(request, "accounts/unsubscribe.html", {"done": request.method == "POST"})
