"""Reading what people state about runs, and stating or reporting something with a token."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request

from attestations.api.endpoint import Speaking, faults, refused, run_named
from attestations.environment import LOCKED, UNLOCKED
from attestations.forms.others import ReportForm
from attestations.forms.statements import StatementForm, libraries_text
from attestations.models import Report, Statement
from attestations.reads.facts import run_facts
from attestations.reads.statements import run_statements, statement_page
from attestations.reads.submissions import receipt
from attestations.reads.values import Receipt, RunStatements, StatementPage
from attestations.refusals import Refused
from attestations.services import people, reports, statements
from runs.api.endpoint import Read
from runs.api.limits import READ
from runs.api.parameters import Body
from runs.api.problems import Problem
from runs.api.schemas import Schema, components
from runs.api.views.runs import REFERENCE
from runs.reads.lookup import parse_id
from runs.views.shown import there

TAG: Final = "Community"
_NO_STATEMENT: Final = "There is no published statement with this id."


class RunAttestations(Read):
    """List what is stated about a run.

    Published statements and accepted reports. They never change the evidence level.
    """

    tag = TAG
    name = "listRunAttestations"
    path_parameters = {"reference": REFERENCE}
    problems = (410,)
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return components.ref(RunStatements)

    def get(self, request: Request, reference: str) -> HttpResponse:
        self.asked(request)
        return self.fresh(request, run_statements(run_named(reference).id))


class OneAttestation(Read):
    """Get a statement.

    With what it said before, where that was public.
    """

    tag = TAG
    name = "getAttestation"
    path_parameters = {"id": "The id of the statement."}
    budget = READ

    @classmethod
    def response_schema(cls) -> Schema:
        return components.ref(StatementPage)

    def get(self, request: Request, id: str) -> HttpResponse:
        self.asked(request)
        found = there(parse_id(id), _NO_STATEMENT)
        return self.fresh(request, there(statement_page(found, None), _NO_STATEMENT))


def _text(help_text: str, most: int) -> serializers.CharField:
    return serializers.CharField(required=False, allow_blank=True, max_length=most, help_text=help_text)


class EnvironmentBody(Body):
    """Where it was observed. All of it may be left out."""

    gpu = _text("The GPU.", 120)
    driver = _text("The driver's version.", 60)
    toolkit = _text("CUDA or ROCm, such as `CUDA 13.0`.", 60)
    framework = _text("Such as `pytorch 2.11.0`.", 120)
    libraries = serializers.DictField(
        child=serializers.CharField(max_length=60), required=False, help_text="Versions by name; at most 20."
    )
    clocks = serializers.ChoiceField(
        choices=[LOCKED, UNLOCKED], required=False, help_text="Whether the clocks were locked."
    )


class AttestationBody(Body):
    """What is stated about a run."""

    run = serializers.CharField(max_length=100, help_text=REFERENCE)
    kind = serializers.ChoiceField(choices=Statement.Kind.values, help_text="What was observed.")
    note = _text("Markdown.", 10_000)
    value = serializers.FloatField(required=False, help_text="A measured value.")
    unit = _text("Its unit.", 40)
    statistic = _text("Its statistic: `median`, `mean` …", 40)
    samples = serializers.IntegerField(required=False, min_value=1, max_value=10**12, help_text="Of how many samples.")
    environment = EnvironmentBody(required=False)
    evidence_url = _text("An https address.", 2_000)
    confirmed = _text("The ratio to the run's value, where a refusal asked to confirm it: `1.52`.", 20)


class Attest(Speaking):
    """State something about a run.

    A statement appears at once, or, the first two of a person, when a moderator has looked at it.
    """

    tag = TAG
    name = "attest"
    body = AttestationBody

    @classmethod
    def response_schema(cls) -> Schema:
        return components.ref(StatementPage)

    def post(self, request: Request) -> HttpResponse:
        self.asked(request)
        given = AttestationBody(data=request.data)
        given.is_valid(raise_exception=True)
        person, run = self.person(request), run_named(given.validated_data["run"])
        form = StatementForm(run_facts(run.id), _as_form(given.validated_data), is_owner=people.owns(person, run))
        if not form.is_valid():
            raise Problem("INVALID_BODY", faults=faults(form))
        try:
            made = statements.post(person, run, form.content())
        except Refused as error:
            raise refused(error) from error
        page = statement_page(made.id, person)
        return self.created(page, f"{settings.BASE_URL}{reverse('statement', args=[made.id])}")


def _as_form(given: dict[str, Any]) -> dict[str, str]:
    """A body as the form of the page takes it, so that one place says what is right."""
    plain = {**given, **given.get("environment", {})}
    libraries = plain.pop("libraries", {})
    for name in ("run", "environment"):
        plain.pop(name, None)
    return {**{name: str(value) for name, value in plain.items()}, "libraries": libraries_text(libraries)}


class ReportBody(Body):
    """What is wrong with a run."""

    run = serializers.CharField(max_length=100, help_text=REFERENCE)
    reason = serializers.ChoiceField(choices=Report.Reason.values, help_text="What is wrong.")
    detail = serializers.CharField(min_length=10, max_length=4_000, help_text="How one can see that.")
    evidence_url = _text("An https address.", 2_000)
    contact = _text("If a moderator may ask back; moderators alone see it.", 200)


class FileReport(Speaking):
    """Report an issue with a run.

    A moderator decides on it. The answer's address shows what became of it, to the person who sent it.
    """

    tag = TAG
    name = "report"
    body = ReportBody

    @classmethod
    def response_schema(cls) -> Schema:
        return components.ref(Receipt)

    def post(self, request: Request) -> HttpResponse:
        self.asked(request)
        given = ReportBody(data=request.data)
        given.is_valid(raise_exception=True)
        run = run_named(given.validated_data["run"])
        form = ReportForm({name: value for name, value in given.validated_data.items() if name != "run"})
        if not form.is_valid():
            raise Problem("INVALID_BODY", faults=faults(form))
        try:
            filed, _ = reports.file_report(run, form.content(), reporter=self.person(request), address="")
        except Refused as error:
            raise refused(error) from error
        return self.created(receipt(filed), f"{settings.BASE_URL}{reverse('report', args=[filed.id])}")
