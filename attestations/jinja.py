"""What other pages show of the community: one function for their templates."""

from __future__ import annotations

from uuid import UUID

from django.template.loader import render_to_string
from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from attestations.accounts.models import User
from attestations.forms.statements import StatementForm
from attestations.models import Statement
from attestations.reads.facts import run_facts
from attestations.reads.statements import run_statements
from attestations.services import people
from runs.models import Run


@pass_context
def statements(context: Context, run_id: UUID) -> Markup:
    """The statements about a run, with the form for somebody who is signed in.

    Pages that are kept for everybody are rendered without a request, and get what everybody sees.
    """
    request = context.get("request")
    person = request.user if request is not None and isinstance(request.user, User) else None
    values = {"said": run_statements(run_id, person), "run_id": run_id, "person": person, "form": None}
    if person is not None:
        run = Run.objects.get(pk=run_id)
        values["form"] = StatementForm(
            run_facts(run_id), initial={"kind": Statement.Kind.REPRODUCED}, is_owner=people.owns(person, run)
        )
    return Markup(render_to_string("attestations/_run.html", values, request))  # noqa: S704
