"""Addresses of the community."""

from django.urls import path

from attestations.views import log, owners, reports, statements, submissions

urlpatterns = [
    path("runs/<uuid:run_id>/statements/new/", statements.new, name="statement-new"),
    path("runs/<uuid:run_id>/report/", reports.new, name="report-new"),
    path("statements/preview/", statements.preview, name="statement-preview"),
    path("statements/<uuid:statement_id>/", statements.read, name="statement"),
    path("statements/<uuid:statement_id>/revise/", statements.revise, name="statement-revise"),
    path("statements/<uuid:statement_id>/withdraw/", statements.withdraw, name="statement-withdraw"),
    path("statements/<uuid:statement_id>/files/<int:number>/", statements.attachment, name="statement-attachment"),
    path("submissions/", submissions.mine, name="submissions"),
    path("submissions/new/", submissions.new, name="submission-new"),
    path("submissions/check/", submissions.check, name="submission-check"),
    path("submissions/<uuid:submission_id>/", submissions.one, name="submission"),
    path("submissions/<uuid:submission_id>/withdraw/", submissions.withdraw, name="submission-withdraw"),
    path("reports/<uuid:report_id>/", reports.read, name="report"),
    path("reports/<uuid:report_id>/<str:secret>/", reports.read_receipt, name="report-receipt"),
    path("claims/new/<slug:slug>/", owners.new, name="owner-claim-new"),
    path("claims/<uuid:claim_id>/", owners.one, name="owner-claim"),
    path("moderation/", log.log, name="moderation-log"),
]
