"""Moderation in the admin: queues, everything a decision needs, decisions with a reason, and nothing else."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.urls import reverse

from attestations.models import AuditEntry, OwnerClaim, Report, Statement, Step, Suspension
from attestations.services import owners, reports, submissions
from attestations.values import Content, ReportContent
from runs.models import Retraction, Run
from tests.attestations.conftest import person, signed_in, waiting
from tests.attestations.test_submissions import reproduction

pytestmark = pytest.mark.django_db


def change(row) -> str:
    return reverse(f"admin:attestations_{row._meta.model_name}_change", args=[row.pk])


def bulk(client, model, rows, action, **fields):
    name = f"admin:attestations_{model._meta.model_name}_changelist"
    listed = client.get(reverse(name))
    seen = listed.context["action_form"]["seen"].value()
    data = {
        "action": action,
        "_selected_action": [str(row.pk) for row in rows],
        "reason": "Read them all.",
        "seen": seen,
    }
    return client.post(reverse(name), data | fields, follow=True)


@pytest.fixture
def desk(moderator):
    return signed_in(moderator)


def test_the_first_page_counts_what_waits(desk, ada, bob, run, other_run):
    waiting(ada, run)
    waiting(bob, run)
    reports.file_report(run, ReportContent("licence", "No licence is named."), reporter=None, address="192.0.2.1")
    made = submissions.create(bob, document=reproduction(run), note="")
    submissions.submit(bob, made.id, version=1)
    owners.claim(ada, run.implementation, detail="")
    page = desk.get(reverse("admin:index"))
    counts = {queue.name: queue.count for queue in page.context["queues"]}
    assert counts == {
        "Waiting statements": 2,
        "Submissions": 1,
        "Reports": 1,
        "Claims of ownership": 1,
        "Runs below the physical floor": 0,
        "Disputed runs": 0,
    }
    for queue in page.context["queues"]:
        assert desk.get(queue.url).status_code == 200, queue.name


def test_a_decision_has_everything_on_one_page(desk, ada, bob, run, other_run):
    waiting(ada, other_run, note="An earlier one.")
    waiting(bob, run, note="Another person's.")
    made = waiting(ada, run, value=132710.0, unit="ns", statistic="median")
    page = desk.get(change(made)).content.decode()
    assert run.title in page
    assert "1.800 × the run" in page
    assert "outside the run’s spread" in page
    assert "An earlier one." in page  # the person's history
    assert "Another person&#x27;s." in page  # similar statements
    assert 'name="reason"' in page


@pytest.mark.parametrize(
    ("path", "state"),
    [
        (["publish"], "published"),
        (["publish", "hide"], "hidden"),
        (["publish", "hide", "unhide"], "published"),
        (["request_changes"], "changes_requested"),
        (["reject"], "rejected"),
    ],
)
def test_a_statement_is_decided_singly_with_a_reason(desk, ada, run, path, state):
    made = waiting(ada, run)
    for decision in path:
        desk.post(change(made), {"decision": decision, "reason": f"Because: {decision}.", "revision": "1"})
    made.refresh_from_db()
    assert made.state == state
    assert [
        (entry.action, entry.actor.username, entry.reason) for entry in AuditEntry.objects.order_by("sequence")
    ] == [(decision, "morgan", f"Because: {decision}.") for decision in path]
    assert list(Step.objects.filter(subject_id=made.id, by_moderator=True).values_list("after", flat=True))[-1] == state


def test_statements_are_decided_in_bulk_with_a_reason(desk, ada, bob, run):
    rows = [waiting(ada, run), waiting(bob, run)]
    bulk(desk, Statement, rows, "publish")
    assert set(Statement.objects.values_list("state", flat=True)) == {"published"}
    assert list(AuditEntry.objects.values_list("reason", flat=True)) == ["Read them all."] * 2


def test_without_a_reason_nothing_is_decided(desk, ada, run):
    made = waiting(ada, run)
    assert "A decision needs a reason." in bulk(desk, Statement, [made], "publish", reason=" ").content.decode()
    desk.post(change(made), {"decision": "publish", "reason": "", "revision": "1"})
    made.refresh_from_db()
    assert made.state == "waiting"
    assert not AuditEntry.objects.exists()


def test_what_was_revised_since_the_moderator_looked_is_not_decided(desk, ada, run):
    from attestations.services import statements

    made = waiting(ada, run)
    seen = desk.get(reverse("admin:attestations_statement_changelist")).context["action_form"]["seen"].value()
    statements.revise(ada, made.id, Content("reproduced", note="Now with an advertisement."), revision=1)
    bulk(desk, Statement, [made], "publish", seen=seen)
    desk.post(change(made), {"decision": "publish", "reason": "Fine.", "revision": "1"})
    bulk(desk, Statement, [made], "publish", seen="")
    desk.post(change(made), {"decision": "publish", "reason": "Fine."})
    made.refresh_from_db()
    assert made.state == "waiting"


def test_nobody_decides_on_their_own(desk, moderator, run, ada):
    made = waiting(moderator, run)
    assert "your own" in desk.get(change(made)).content.decode()
    desk.post(change(made), {"decision": "publish", "reason": "I like it.", "revision": "1"})
    bulk(desk, Statement, [made], "publish")
    claim = owners.claim(moderator, run.implementation, detail="")
    desk.post(change(claim), {"decision": "accept", "reason": "Mine."})
    report, _ = reports.file_report(run, ReportContent("other", "Ten characters."), reporter=moderator, address="")
    desk.post(change(report), {"decision": "accept", "outcome": "retracted", "answer": "So.", "reason": "So."})
    draft = submissions.create(moderator, document=reproduction(run), note="")
    sent = submissions.submit(moderator, draft.id, version=1)
    desk.post(change(sent), {"decision": "accept", "reason": "Mine.", "version": sent.version})
    for row in (made, claim, report, sent):
        row.refresh_from_db()
    assert (made.state, claim.state, report.state, sent.state) == ("waiting", "open", "open", "submitted")
    assert not AuditEntry.objects.exists()
    assert not Retraction.objects.exists()


def test_reports_on_one_run_are_shown_together_and_merged(desk, run):
    rows = [
        reports.file_report(
            run, ReportContent("other", f"The same thing, {n}."), reporter=None, address=f"192.0.2.{n}"
        )[0]
        for n in range(3)
    ]
    listed = desk.get(reverse("admin:attestations_report_changelist")).content.decode()
    assert listed.count("3 open") == 3
    assert "The same thing, 1." in desk.get(change(rows[0])).content.decode()
    bulk(desk, Report, rows, "merge")
    states = list(Report.objects.order_by("id").values_list("state", "merged_into"))
    assert states == [("open", None), ("merged", rows[0].pk), ("merged", rows[0].pk)]


def test_an_accepted_report_retracts_the_run_through_publication(desk, run, client):
    report, secret = reports.file_report(
        run, ReportContent("incorrect_result", "It divides by zero."), reporter=None, address="192.0.2.1"
    )
    before = (run.digest, run.status)
    decided = {
        "decision": "accept",
        "outcome": "retracted",
        "answer": "The kernel divides by zero.",
        "reason": "Checked.",
    }
    desk.post(change(report), decided)
    run = Run.objects.get(pk=run.pk)
    assert (run.digest, run.status) == before
    assert run.retraction.reason == "The kernel divides by zero."
    assert "morgan" not in run.retraction.actor
    page = client.get(reverse("run", args=[run.id])).content.decode()
    assert "The run was retracted" in page
    receipt = client.get(reverse("report-receipt", args=[report.id, secret])).content.decode()
    assert "The kernel divides by zero." in receipt
    assert "Checked." not in receipt + page


def test_a_person_is_suspended_and_let_back(desk, ada, run):
    row = type("Row", (), {"_meta": type("M", (), {"model_name": "person"}), "pk": ada.pk})
    desk.post(change(row), {"decision": "suspend", "reason": "Advertises."})
    assert Suspension.objects.get().person == ada
    answer = signed_in(ada).post(reverse("statement-new", args=[run.id]), {"kind": "reproduced", "note": "Buy this."})
    assert answer.status_code == 403
    desk.post(change(row), {"decision": "lift", "reason": "Promised not to."})
    answer = signed_in(ada).post(reverse("statement-new", args=[run.id]), {"kind": "reproduced", "note": "It holds."})
    assert answer.status_code == 302


def test_only_an_administrator_appoints_and_nobody_themselves(desk, moderator, administrator, ada):
    def row(user):
        return type("Row", (), {"_meta": type("M", (), {"model_name": "person"}), "pk": user.pk})

    office = signed_in(administrator)
    desk.post(change(row(ada)), {"decision": "appoint", "reason": "Please."})
    desk.post(change(row(administrator)), {"decision": "suspend", "reason": "Coup."})
    desk.post(change(row(moderator)), {"decision": "appoint", "reason": "Me."})
    office.post(change(row(administrator)), {"decision": "discharge", "reason": "Me."})
    ada.refresh_from_db()
    assert not ada.is_staff
    assert not Suspension.objects.exists()
    office.post(change(row(ada)), {"decision": "appoint", "reason": "She knows kernels."})
    ada.refresh_from_db()
    assert ada.is_staff
    assert ada.has_perm("attestations.moderate")
    assert not ada.is_superuser


@pytest.mark.parametrize("role", [(), ("moderator",), ("administrator",)])
def test_nothing_can_be_deleted_anywhere(role, db, rf):
    user = person("somebody", *role)
    if not role:
        user.is_staff = user.is_superuser = True
        user.save()
    request = rf.get("/")
    request.user = user
    for model, options in admin.site._registry.items():
        assert not options.has_delete_permission(request), model
        assert "delete_selected" not in options.get_actions(request), model


def test_the_tables_of_the_community_have_no_form(desk, ada, run, administrator):
    made = waiting(ada, run)
    for client in (desk, signed_in(administrator)):
        for model in ("statement", "submission", "report", "ownerclaim", "person", "auditentry"):
            assert client.get(reverse(f"admin:attestations_{model}_add")).status_code == 403
            assert client.post(reverse(f"admin:attestations_{model}_add"), {}).status_code == 403
        client.post(change(made), {"state": "published", "level": "verified", "decision": "set_level", "reason": "x"})
        assert (
            client.post(reverse("admin:attestations_statement_delete", args=[made.pk]), {"post": "yes"}).status_code
            == 403
        )
    made.refresh_from_db()
    assert made.state == "waiting"


def test_who_is_no_moderator_sees_nothing_of_it(ada, run, client):
    made = waiting(ada, run)
    report, _ = reports.file_report(run, ReportContent("other", "Ten characters."), reporter=None, address="192.0.2.1")
    plain_staff = person("staff")
    plain_staff.is_staff = True
    plain_staff.save()
    for user in (ada, plain_staff):
        visitor = signed_in(user)
        for url in (
            change(made),
            change(report),
            reverse("admin:attestations_auditentry_changelist"),
            reverse("admin:floor-queue"),
        ):
            assert visitor.get(url).status_code in {302, 403}, url
            assert visitor.post(url, {"decision": "publish", "reason": "x", "revision": "1"}).status_code in {302, 403}
    made.refresh_from_db()
    assert made.state == "waiting"


def test_the_admin_has_no_door_of_its_own(client, ada):
    answer = client.get(reverse("admin:login"), {"next": "/admin/runs/run/"})
    assert answer.headers["Location"] == f"{reverse('account_login')}?next=/admin/runs/run/"
    assert (
        client.post(reverse("admin:login"), {"username": "ada", "password": "a password of some length"}).status_code
        == 302
    )
    assert "_auth_user_id" not in client.session
    assert signed_in(ada).get(reverse("admin:login")).status_code == 403


def test_a_claim_is_decided_by_a_moderator(desk, ada, run):
    claim = owners.claim(ada, run.implementation, detail="I maintain it.")
    owners.prove(ada, claim.id, proof_url="https://github.com/example/transformers/blob/main/OWNER")
    page = desk.get(change(claim)).content.decode()
    assert claim.token in page
    assert "https://github.com/example/transformers" in page
    desk.post(change(claim), {"decision": "accept", "reason": "The token is there."})
    assert OwnerClaim.objects.get().state == "accepted"
