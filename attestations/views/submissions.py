"""Whole reproductions: writing, checking, sending in, withdrawing."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods, require_POST

from attestations.accounts.people import signed_in
from attestations.forms.others import SubmissionForm
from attestations.models import Submission
from attestations.reads.submissions import submission_page, submissions_by
from attestations.refusals import Refused
from attestations.services import checking, submissions
from attestations.views.common import STATUS, page, refusal, viewer, with_retry
from kernelindex.negotiation import wants_json
from runs.models import Run
from runs.views.json import json_response


@login_required
@require_http_methods(["GET", "HEAD"])
def mine(request: HttpRequest) -> HttpResponse:
    """One's own submissions."""
    rows = submissions_by(signed_in(request))
    return page(request, "attestations/submissions.html", "Your submissions", {"submissions": rows})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """A new submission; `?run=` begins it with what reproduces that run."""
    person = signed_in(request)
    if request.method != "POST":
        return _form_page(request, SubmissionForm(initial={"document": _beginning(request.GET.get("run", ""))}))
    form = SubmissionForm(request.POST)
    if not form.is_valid() or request.POST.get("action") == "check":
        return _form_page(request, form)
    data = form.cleaned_data
    try:
        made = submissions.create(person, document=data["document"], note=data["note"])
        if request.POST.get("action") == "submit":
            submissions.submit(person, made.id, version=made.version)
    except Refused as refused:
        if refused.code == "INVALID_SUBMISSION":
            messages.warning(request, f"Saved as a draft. {refused}")
            return redirect("submission", submission_id=made.id)
        return _refused(request, form, refused)
    return redirect("submission", submission_id=made.id)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def one(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    """One's own submission: as it stands, and as a form while it can be changed."""
    person = signed_in(request)
    found = submission_page(submission_id, person)
    if found is None:
        raise Http404("There is no submission with this id.")
    editable = found.row.state in Submission.EDITABLE
    if request.method != "POST":
        initial = {"document": found.document, "note": found.note, "version": found.version}
        return _form_page(request, SubmissionForm(initial=initial) if editable else None, found)
    form = SubmissionForm(request.POST)
    if not editable or not form.is_valid() or request.POST.get("action") == "check":
        return _form_page(request, form if editable else None, found, status=200 if editable else 409)
    data = form.cleaned_data
    try:
        changed = submissions.edit(
            person, submission_id, document=data["document"], note=data["note"], version=data["version"] or 0
        )
        if request.POST.get("action") == "submit":
            submissions.submit(person, submission_id, version=changed.version)
    except Refused as refused:
        if refused.code == "INVALID_SUBMISSION":
            messages.warning(request, f"Saved. {refused}")
            return redirect("submission", submission_id=submission_id)
        return _refused(request, form, refused, found)
    messages.success(request, "Saved.")
    return redirect("submission", submission_id=submission_id)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    """Ask, then take it back."""
    person = signed_in(request)
    found = submission_page(submission_id, person)
    if found is None:
        raise Http404("There is no submission with this id.")
    if request.method != "POST":
        return page(request, "attestations/submission_withdraw.html", "Withdraw this submission?", {"page": found})
    try:
        submissions.withdraw(person, submission_id)
    except Refused as refused:
        return refusal(request, refused)
    messages.success(request, "Withdrawn.")
    return redirect("submission", submission_id=submission_id)


@require_POST
def check(request: HttpRequest) -> HttpResponse:
    """What is known of a manifest while somebody writes it: as JSON, or as a part of the form's page."""
    if viewer(request) is None:
        raise PermissionDenied("Sign in to go on.")
    found = checking.check(request.POST.get("document", ""))
    if wants_json(request):
        response = json_response(
            {
                "valid": found.is_valid,
                "problems": found.problems,
                "digest": found.digest or None,
                "published": found.published or None,
                "group": found.group,
                "lacks": found.lacks,
            }
        )
    else:
        response = HttpResponse(render_to_string("attestations/_check.html", {"check": found}))
    response.headers["Cache-Control"] = "no-store"
    return response


def _refused(request: HttpRequest, form: SubmissionForm, refused: Refused, found: Any = None) -> HttpResponse:
    form.add_error(None, str(refused))
    return with_retry(_form_page(request, form, found, status=STATUS.get(refused.code, 409)), refused)


def _form_page(
    request: HttpRequest, form: SubmissionForm | None, found: Any = None, *, status: int = 200
) -> HttpResponse:
    document = ""
    if form is not None:
        document = (form.data if form.is_bound else form.initial).get("document", "")
    context = {
        "form": form,
        "page": found,
        "check": checking.check(document) if document.strip() and (found or request.method == "POST") else None,
    }
    if form is not None and form.is_bound and form.errors and status == 200:
        status = 422
    title = "Your submission" if found else "Submit a reproduction"
    return page(request, "attestations/submission.html", title, context, status=status)


def _beginning(reference: str) -> str:
    """The manifest of a reproduction of a run, with what is the same filled in."""
    try:
        run = Run.objects.filter(pk=UUID(reference)).exclude(canonical="").first()
    except ValueError:
        run = None
    if run is None:
        return ""
    spec = json.loads(run.canonical)["spec"]
    same = {
        name: spec[name] for name in ("implementationDigest", "workloadDigest", "protocolDigest", "environmentDigest")
    }
    manifest = {
        "apiVersion": "kernelindex.dev/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {"name": "reproduction", "title": f"Reproduction of {run.title}"[:200]},
        "spec": {
            **same,
            "status": "passed",
            "timing": {"primaryStatistic": "median", "samples": 0, "latencyNs": {"median": 0}},
            "observedAt": "",
        },
    }
    return json.dumps(manifest, indent=2, ensure_ascii=False)
