"""Claiming an implementation."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from attestations.accounts.people import signed_in
from attestations.forms.others import ClaimForm, ProofForm
from attestations.models import OwnerClaim
from attestations.models.audit import Subject
from attestations.reads.people import steps_of
from attestations.refusals import Refused
from attestations.services import owners
from attestations.views.common import STATUS, page, refusal
from runs.models import Implementation


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """The form of a claim."""
    person = signed_in(request)
    implementation = get_object_or_404(Implementation, slug=slug)
    form = ClaimForm(request.POST if request.method == "POST" else None)
    context = {"form": form, "implementation": implementation}
    title = f"Claim {implementation.title}"
    if request.method != "POST" or not form.is_valid():
        status = 422 if form.is_bound else 200
        return page(request, "attestations/claim_form.html", title, context, status=status)
    try:
        made = owners.claim(person, implementation, detail=form.cleaned_data["detail"])
    except Refused as refused:
        form.add_error(None, str(refused))
        return page(request, "attestations/claim_form.html", title, context, status=STATUS.get(refused.code, 409))
    return redirect("owner-claim", claim_id=made.id)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def one(request: HttpRequest, claim_id: UUID) -> HttpResponse:
    """One's own claim: the token, where it is to be found, and what was decided."""
    person = signed_in(request)
    claim = OwnerClaim.objects.select_related("implementation").filter(pk=claim_id, claimant=person).first()
    if claim is None:
        raise Http404("There is no claim with this id.")
    form = ProofForm(request.POST if request.method == "POST" else None, initial={"proof_url": claim.proof_url})
    if request.method == "POST" and request.POST.get("action") == "withdraw":
        return _done(request, claim_id, lambda: owners.withdraw(person, claim_id), "Withdrawn.")
    if request.method == "POST" and form.is_valid():
        address = form.cleaned_data["proof_url"]
        return _done(request, claim_id, lambda: owners.prove(person, claim_id, proof_url=address), "Saved.")
    context = {"form": form, "claim": claim, "steps_taken": steps_of(Subject.CLAIM, claim.id)}
    status = 422 if form.is_bound else 200
    return page(request, "attestations/claim.html", f"Claim of {claim.implementation.title}", context, status=status)


def _done(request: HttpRequest, claim_id: UUID, act: Callable[[], object], said: str) -> HttpResponse:
    try:
        act()
    except Refused as refused:
        return refusal(request, refused)
    messages.success(request, said)
    return redirect("owner-claim", claim_id=claim_id)
