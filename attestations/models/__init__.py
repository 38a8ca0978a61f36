"""The tables of the community. Nothing here is evidence, and nothing here can change an evidence level."""

from attestations.models.audit import AuditEntry, Step
from attestations.models.owners import OwnerClaim
from attestations.models.people import Person, Suspension
from attestations.models.reports import ClientSalt, Report, RunNote
from attestations.models.statements import Attachment, Statement, StatementRevision
from attestations.models.submissions import Submission

__all__ = [
    "Attachment",
    "AuditEntry",
    "ClientSalt",
    "OwnerClaim",
    "Person",
    "Report",
    "RunNote",
    "Statement",
    "StatementRevision",
    "Step",
    "Submission",
    "Suspension",
]
