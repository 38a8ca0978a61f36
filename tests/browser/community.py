"""The people of the browser tests, and what they have said and done."""

from __future__ import annotations

import json

PASSWORD = "a long password for tests"
# Who has a session: a person who stated things, one who is new, and a moderator.
PEOPLE = ("ada", "grace", "morgan")


def gather(ids: dict[str, str]) -> dict[str, str]:
    """Fill the site with people. Takes what the catalogue made; returns sessions and ids for addresses."""
    from attestations.environment import Environment
    from attestations.services import moderation, redaction, statements, submissions
    from attestations.values import Content
    from runs.models import Run
    from tests import factories

    runs = {name: Run.objects.filter(id=ids[name]).first() for name in ("seed", "full", "failed", "made_up", "removed")}
    ada, grace = person("ada"), person("grace")
    # As long as a name may be: it stands in the head of every page.
    morgan = person("morgan-who-has-the-longest-name-there-is", "moderator")
    host = Environment(gpu="NVIDIA H100 80GB HBM3", driver="570.1", framework="torch 2.9", libraries={"triton": "3.6"})
    said = Content(
        "reproduced",
        note="The **same** on my card.\n\n`clocks` were locked.",
        value=1.24,
        unit="ms",
        statistic="mean",
        samples=100,
        environment=host,
        evidence_url=f"https://example.org/{'a-long-path/' * 8}log.txt",
    )
    statement = statements.post(ada, runs["full"], said)
    moderation.decide_statement(morgan, statement.id, "publish", reason="Plausible.")
    waiting = statements.post(grace, runs["full"], Content("environment_note", note="ECC was on."))
    document = factories.run(
        factories.TRANSFORMERS,
        factories.workload(),
        name="my-run",
        title="My run",
        median=70_000,
        observed_at="2026-05-01T00:00:00.000Z",
    )
    submission = submissions.create(ada, document=json.dumps(document, indent=2), note="On my own card.")
    submissions.submit(ada, submission.id, version=1)
    faulty = submissions.create(ada, document="{}", note="")
    administrator = person("alex", "administrator")
    redaction.redact_run(administrator, runs["removed"].digest, reason="A court's order.")
    return {
        "statement": str(statement.id),
        "waiting": str(waiting.id),
        "submission": str(submission.id),
        "faulty": str(faulty.id),
        **told(ada, runs["made_up"], runs["seed"]),
        **{f"session_{name}": session(user) for name, user in zip(PEOPLE, (ada, grace, morgan), strict=True)},
    }


def told(ada, about, followed) -> dict[str, str]:
    """A report with its receipt, a token, and things that Ada follows."""
    from django.urls import reverse

    from attestations.accounts import following
    from attestations.services.reports import file_report
    from attestations.values import ReportContent

    content = ReportContent("comparability", "The source times another pass.", contact="visitor@example.org")
    report, secret = file_report(about, content, reporter=None, address="192.0.2.1")
    for kind, key in following.subjects_of(followed):
        following.follow(ada, following.find(kind, key))
    return {"report": str(report.id), "receipt": reverse("report-receipt", args=[report.id, secret])}


def person(name: str, *groups: str):
    """An account with a verified address; who is in a group may enter the admin."""
    from allauth.account.models import EmailAddress
    from django.contrib.auth.models import Group

    from attestations.accounts.models import User

    made = User.objects.create_user(name, f"{name}@example.org", PASSWORD)
    EmailAddress.objects.create(user=made, email=made.email, verified=True, primary=True)
    if groups:
        made.is_staff = True
        made.save()
        made.groups.set(Group.objects.filter(name__in=groups))
    return made


def session(user) -> str:
    """The cookie of a browser in which this person is signed in."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value
