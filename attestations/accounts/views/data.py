"""A person's data: to take away, and to erase."""

from __future__ import annotations

import orjson
from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from attestations.accounts.deletion import delete_account
from attestations.accounts.export import export
from attestations.accounts.forms import DeletionForm
from attestations.accounts.hooks import Statements
from attestations.accounts.people import can_reauthenticate, signed_in


@never_cache
@require_safe
@login_required
@reauthentication_required(enabled=can_reauthenticate)  # type: ignore[untyped-decorator]
def export_json(request: HttpRequest) -> HttpResponse:
    """Everything the site knows of the person, as a file."""
    user = signed_in(request)
    body = orjson.dumps(export(user), option=orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
    response = HttpResponse(body, content_type="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="kernelindex-{user.username}.json"'
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@reauthentication_required(allow_get=True, enabled=can_reauthenticate)  # type: ignore[untyped-decorator]
def delete(request: HttpRequest) -> HttpResponse:
    """Asks, then deletes the account."""
    user = signed_in(request)
    form = DeletionForm(user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        delete_account(user, Statements(form.cleaned_data["statements"]))
        logout(request)
        messages.success(request, "Your account was deleted.")
        return redirect("home")
    return render(request, "accounts/delete.html", {"form": form})
