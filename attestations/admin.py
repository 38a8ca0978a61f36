"""Moderation in the admin."""

from django.contrib import admin
from django.contrib.auth.models import Group

from attestations.models import AuditEntry, OwnerClaim, Person, Report, Statement, Submission
from attestations.moderation.people import PersonAdmin
from attestations.moderation.reports import ReportAdmin
from attestations.moderation.statements import StatementAdmin
from attestations.moderation.submissions import OwnerClaimAdmin, SubmissionAdmin
from attestations.moderation.trail import AuditEntryAdmin
from runs.admin import ReadOnlyAdmin

admin.site.register(Statement, StatementAdmin)
admin.site.register(Submission, SubmissionAdmin)
admin.site.register(Report, ReportAdmin)
admin.site.register(OwnerClaim, OwnerClaimAdmin)
admin.site.register(Person, PersonAdmin)
admin.site.register(AuditEntry, AuditEntryAdmin)

# What a role may do is in `attestations.roles`, under version control; who has it is decided with a reason.
admin.site.unregister(Group)
admin.site.register(Group, ReadOnlyAdmin)
