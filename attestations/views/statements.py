"""Statements: posting, previewing, revising, withdrawing, reading."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from attestations import markdown
from attestations.accounts.models import User
from attestations.accounts.people import signed_in
from attestations.forms.statements import StatementForm, draft_of, filled, initial_of
from attestations.models import Statement, StatementRevision
from attestations.reads.facts import run_facts
from attestations.reads.statements import statement_page
from attestations.refusals import Refused
from attestations.services import people, statements
from attestations.text import clean
from attestations.views.common import STATUS, page, refusal, run_or_404, viewer, with_retry
from kernelindex.methods import read_only
from runs.models import Run

DRAFT: Final = "attestations.draft"  # where a session keeps what could not be posted
NO_STATEMENT: Final = "There is no statement with this id."


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The form of a statement about a run, and what comes of it."""
    run = run_or_404(run_id)
    person = viewer(request)
    if person is None:
        return _keep(request, run)
    is_owner = people.owns(person, run)
    if request.method != "POST":
        draft = request.session.pop(DRAFT, {})
        initial = draft.get("form") if draft.get("run") == str(run.id) else None
        form = StatementForm(run_facts(run.id), initial=initial, is_owner=is_owner)
        return _form_page(request, run, form, draft=bool(initial))
    if request.POST.get("action") == "fill":
        form = StatementForm(run_facts(run.id), initial=filled(request.POST), is_owner=is_owner)
        return _form_page(request, run, form)
    form = StatementForm(run_facts(run.id), request.POST, request.FILES, is_owner=is_owner)
    if not form.is_valid() or request.POST.get("action") == "preview":
        return _form_page(request, run, form, preview=True)
    try:
        made = statements.post(person, run, form.content())
    except Refused as refused:
        form.add_error(None, str(refused))
        return with_retry(_form_page(request, run, form, status=STATUS.get(refused.code, 409)), refused)
    waits = made.state == Statement.State.WAITING
    messages.success(
        request, "Posted. A moderator will look at it; until then you alone see it." if waits else "Posted."
    )
    return redirect(f"{reverse('run', args=[run.id])}#statement-{made.id}")


def _keep(request: HttpRequest, run: Run) -> HttpResponse:
    """Keep what somebody wrote whose session ended meanwhile, and ask them to sign in."""
    if request.method == "POST":
        request.session[DRAFT] = {"run": str(run.id), "form": draft_of(request.POST.dict())}
    return redirect_to_login(reverse("statement-new", args=[run.id]))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def revise(request: HttpRequest, statement_id: UUID) -> HttpResponse:
    """Say it anew."""
    person = signed_in(request)
    statement = _own(person, statement_id)
    if statement.state in Statement.FINAL:
        return refusal(request, Refused("FINAL"))
    run, current = statement.run, statement.revisions.get(number=statement.revision)
    kinds = _kinds(statement)
    if request.method != "POST":
        form = StatementForm(run_facts(run.id), initial=initial_of(current), kinds=kinds)
        return _form_page(request, run, form, current=current)
    if request.POST.get("action") == "fill":
        form = StatementForm(run_facts(run.id), initial=filled(request.POST), kinds=kinds)
        return _form_page(request, run, form, current=current)
    form = StatementForm(run_facts(run.id), request.POST, request.FILES, kinds=kinds)
    if not form.is_valid() or request.POST.get("action") == "preview":
        return _form_page(request, run, form, current=current, preview=True)
    try:
        statements.revise(person, statement.id, form.content(), revision=form.cleaned_data["revision"] or 0)
    except Refused as refused:
        form.add_error(None, str(refused))
        status = STATUS.get(refused.code, 409)
        return with_retry(_form_page(request, run, form, current=current, status=status), refused)
    messages.success(request, "Revised. What it said before is kept.")
    return redirect("statement", statement_id=statement.id)


def _kinds(statement: Statement) -> list[Statement.Kind]:
    if statement.kind == Statement.Kind.OWNER_REPLY:
        return [Statement.Kind.OWNER_REPLY]
    return [kind for kind in Statement.Kind if kind != Statement.Kind.OWNER_REPLY]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: HttpRequest, statement_id: UUID) -> HttpResponse:
    """Ask, then take a statement back."""
    person = signed_in(request)
    statement = _own(person, statement_id)
    if request.method != "POST":
        shown = statement_page(statement.id, person)
        return page(request, "attestations/withdraw.html", "Withdraw this statement?", {"page": shown})
    try:
        statements.withdraw(person, statement.id)
    except Refused as refused:
        return refusal(request, refused)
    messages.success(request, "Withdrawn.")
    return redirect("run", run_id=statement.run_id)


@read_only
def read(request: HttpRequest, statement_id: UUID) -> HttpResponse:
    """A statement with its history: for everybody when it is published, for its author otherwise."""
    person = viewer(request)
    found = statement_page(statement_id, person)
    if found is None:
        raise Http404(NO_STATEMENT)
    row = found.statement
    context = {"page": found, "is_author": person is not None and bool(found.steps)}
    title = f"{row.said.kind_name}: {row.run_title}"
    return page(request, "attestations/statement.html", title, context)


@read_only
def attachment(request: HttpRequest, statement_id: UUID, number: int) -> HttpResponse:
    """The file beside a revision, as a download: nothing of it is ever shown by the site itself."""
    found = (
        StatementRevision.objects.select_related("statement", "attachment")
        .filter(statement=statement_id, number=number, attachment__isnull=False)
        .first()
    )
    person = viewer(request)
    if found is None or found.attachment is None or not _may_download(found, person):
        raise Http404("There is no such file.")
    stored = found.attachment
    ending = "json" if stored.media_type == "application/json" else "txt"
    response = HttpResponse(bytes(stored.content), content_type=f"{stored.media_type}; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{stored.digest.replace(":", "-")}.{ending}"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.headers["Cache-Control"] = "private, no-store"
    return response


def _may_download(revision: StatementRevision, person: User | None) -> bool:
    if person is not None and (person.pk == revision.statement.author_id or person.has_perm("attestations.moderate")):
        return True
    return revision.public and revision.statement.state == Statement.State.PUBLISHED


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """A note as it will look, for the script that shows it while somebody writes."""
    if viewer(request) is None:
        raise PermissionDenied("Sign in to go on.")
    note = clean(request.POST.get("note", "")[: markdown.LONGEST_NOTE])
    response = HttpResponse(markdown.render(note))
    response.headers["Cache-Control"] = "no-store"
    return response


def _own(person: User, statement_id: UUID) -> Statement:
    found = Statement.objects.select_related("run").filter(pk=statement_id, author=person).first()
    if found is None:
        raise Http404(NO_STATEMENT)
    return found


def _form_page(
    request: HttpRequest,
    run: Run,
    form: StatementForm,
    *,
    current: StatementRevision | None = None,
    draft: bool = False,
    preview: bool = False,
    status: int = 200,
) -> HttpResponse:
    """The form on a page of its own: with what was written, what is wrong with it, and how it will look."""
    context: dict[str, Any] = {
        "form": form,
        "run": run,
        "current": current,
        "draft": draft,
        "preview": None,
        "compared": None,
    }
    if preview:
        data = getattr(form, "cleaned_data", {})
        context["preview"] = markdown.render(data.get("note", ""))
        context["compared"] = run_facts(run.id).compare(
            data.get("value"), data.get("unit") or "", data.get("statistic") or ""
        )
    title = "Revise your statement" if current else "State something about this run"
    if form.is_bound and form.errors and status == 200:
        status = 422
    return page(request, "attestations/statement_form.html", title, context, status=status)
