"""Reporting an issue with a run, with or without an account, and the receipt of that."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from attestations.accounts.people import client_address, signed_in
from attestations.forms.others import ReportForm
from attestations.models import Report
from attestations.reads.submissions import receipt
from attestations.refusals import Refused
from attestations.services import reports
from attestations.views.common import STATUS, page, run_or_404, viewer, with_retry
from kernelindex.methods import read_only


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The form of a report, and what comes of it: the address of a receipt."""
    run = run_or_404(run_id)
    form = ReportForm(request.POST or None)
    title = "Report an issue with this run"
    if request.method != "POST" or not form.is_valid():
        status = 422 if form.is_bound else 200
        return page(request, "attestations/report_form.html", title, {"form": form, "run": run}, status=status)
    try:
        report, secret = reports.file_report(
            run, form.content(), reporter=viewer(request), address=client_address(request)
        )
    except Refused as refused:
        form.add_error(None, str(refused))
        status = STATUS.get(refused.code, 409)
        response = page(request, "attestations/report_form.html", title, {"form": form, "run": run}, status=status)
        return with_retry(response, refused)
    return redirect(f"{reverse('report-receipt', args=[report.id, secret])}?new")


@read_only
def read_receipt(request: HttpRequest, report_id: UUID, secret: str) -> HttpResponse:
    """What became of a report, for whoever has its address."""
    found = reports.by_receipt(report_id, secret)
    if found is None:
        raise Http404("There is no such receipt.")
    context = {"receipt": receipt(found), "is_new": "new" in request.GET, "address": request.path}
    return _unlisted(page(request, "attestations/receipt.html", "Your report", context))


@login_required
@read_only
def read(request: HttpRequest, report_id: UUID) -> HttpResponse:
    """One's own report, for somebody who sent it while signed in."""
    found = (
        Report.objects.select_related("run", "merged_into").filter(pk=report_id, reporter=signed_in(request)).first()
    )
    if found is None:
        raise Http404("There is no report with this id.")
    context = {"receipt": receipt(found), "is_new": False, "address": request.path}
    return _unlisted(page(request, "attestations/receipt.html", "Your report", context))


def _unlisted(response: HttpResponse) -> HttpResponse:
    """The address is a secret: it goes into no index, and to no site that is linked to."""
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
