"""Public profiles."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from attestations.accounts import hooks
from attestations.accounts.models import User
from kernelindex.meta import Meta
from kernelindex.methods import read_only


@read_only
def person(request: HttpRequest, name: str) -> HttpResponse:
    """A person's statements and what became of them. No score."""
    found = User.objects.filter(username=name.lower(), deleted_at=None, is_active=True).first()
    if found is None:
        raise Http404("There is nobody by this name.")
    if name != found.username:
        return redirect("person", name=found.username, permanent=True)
    meta = Meta(
        found.username,
        f"What {found.username} stated about benchmark runs, and what became of it.",
        settings.BASE_URL + found.get_absolute_url(),
        og_type="profile",
    )
    sections = hooks.profile_sections(found)
    return render(request, "accounts/person.html", {"person": found, "sections": sections, "meta": meta})
