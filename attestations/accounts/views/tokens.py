"""API tokens of the person who is signed in."""

from __future__ import annotations

from uuid import UUID

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from attestations.accounts.forms import TokenForm
from attestations.accounts.models import ApiToken
from attestations.accounts.people import can_reauthenticate, signed_in
from attestations.accounts.tokens import MOST, TooManyTokens, create_token, revoke_token


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@reauthentication_required(allow_get=True, enabled=can_reauthenticate)  # type: ignore[untyped-decorator]
def tokens(request: HttpRequest) -> HttpResponse:
    """The list and the form. What makes a token is answered with the page itself, the only one that shows it."""
    user, made = signed_in(request), None
    form = TokenForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        chosen = form.cleaned_data
        try:
            _, made = create_token(user, name=chosen["name"], scopes=chosen["scopes"], life=form.life())
            form = TokenForm()
        except TooManyTokens:
            form.add_error(None, f"You have {MOST} tokens in use. Revoke one first.")
    context = {"form": form, "made": made, "tokens": ApiToken.objects.filter(user=user), "now": timezone.now()}
    return render(request, "accounts/tokens.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def revoke(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Asks, then revokes."""
    user = signed_in(request)
    if request.method != "POST":
        token = get_object_or_404(ApiToken, user=user, public_id=public_id, revoked_at=None)
        return render(request, "accounts/token_revoke.html", {"token": token})
    if not revoke_token(user, public_id):
        raise Http404("You have no such token.")
    messages.success(request, "The token was revoked.")
    return redirect("account-tokens")
