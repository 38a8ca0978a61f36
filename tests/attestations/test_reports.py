"""Reports of issues, with and without an account: limits that hold up floods and nobody else, and receipts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from attestations import clients
from attestations.accounts.models import Notice
from attestations.models import ClientSalt, Report, RunNote
from attestations.refusals import Refused
from attestations.services import report_decisions, reports, submissions
from attestations.services.moderation import decide_submission
from attestations.values import ReportContent
from runs.models import OutboxEntry, Run, Supersession
from tests.attestations.conftest import person, signed_in
from tests.attestations.test_submissions import reproduction

pytestmark = pytest.mark.django_db

CONTENT = ReportContent("incorrect_result", "The output is all zeros.")
FORM = {"reason": "incorrect_result", "detail": "The output is all zeros.", "website": ""}


def file(run, address: str = "192.0.2.1", reporter=None) -> tuple[Report, str]:
    return reports.file_report(run, CONTENT, reporter=reporter, address=address)


def test_anybody_reports_and_gets_a_receipt(client, run):
    page = client.get(reverse("run", args=[run.id])).content.decode()
    url = reverse("report-new", args=[run.id])
    assert url in page
    assert client.get(url).status_code == 200
    answer = client.post(url, FORM | {"contact": "me@example.org"})
    receipt = answer.headers["Location"]
    shown = client.get(receipt)
    text = shown.content.decode()
    assert "Keep the address of this page" in text
    assert "waiting for a moderator" in text
    assert "me@example.org" not in text
    assert shown.headers["X-Robots-Tag"] == "noindex"
    assert shown.headers["Referrer-Policy"] == "no-referrer"
    assert shown.headers["Cache-Control"] == "private, no-store"


def test_a_receipt_needs_its_secret(client, run, ada):
    report, secret = file(run)
    url = reverse("report-receipt", args=[report.id, secret])
    assert client.get(url).status_code == 200
    assert secret not in str(list(Report.objects.values()))
    for wrong in (secret[:-1], secret[:-1] + "_" if secret[-1] != "_" else "-", "x", report.secret):
        assert client.get(reverse("report-receipt", args=[report.id, wrong])).status_code == 404
    assert signed_in(ada).get(reverse("report", args=[report.id])).status_code == 404


@pytest.mark.parametrize(
    "changed",
    [
        {"reason": "revenge"},
        {"detail": "short"},
        {"detail": "x" * 4001},
        {"detail": "https://spam.example/ " * 30},
        {"evidence_url": "ftp://example.org/x"},
        {"website": "https://spam.example/"},
    ],
)
def test_what_is_wrong_with_a_report_is_said_and_nothing_is_kept(client, run, changed):
    answer = client.post(reverse("report-new", args=[run.id]), FORM | changed)
    assert answer.status_code == 422
    assert not Report.objects.exists()


def test_whoever_floods_a_run_is_held_up_and_nobody_else(run, other_run, ada):
    for _ in range(3):
        file(run)
    with pytest.raises(Refused, match="many reports"):
        file(run)
    file(run, "192.0.2.2")  # a neighbour
    file(run, reporter=ada)  # with an account, from anywhere
    file(other_run)  # the same client on another run, until the hour is full
    file(other_run)
    with pytest.raises(Refused, match="many reports"):
        file(other_run)


def test_a_whole_network_cannot_drown_a_run_and_others_still_report(run, ada):
    sent = 0
    for number in range(1, 60):
        try:
            file(run, f"192.0.2.{number}")
            sent += 1
        except Refused:
            break
    assert sent == reports.NETWORK_DAILY_ON_ONE_RUN
    file(run, "198.51.100.7")
    file(run, "2001:db8::1")
    file(run, reporter=ada)


def test_too_many_are_answered_429_with_the_text_kept(client, run):
    url = reverse("report-new", args=[run.id])
    for _ in range(3):
        assert client.post(url, FORM).status_code == 302
    answer = client.post(url, FORM | {"detail": "The fourth of the same."})
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "3600"
    assert "The fourth of the same." in answer.content.decode()


def test_addresses_are_hashed_with_a_salt_that_is_thrown_away(run, monkeypatch):
    report, _ = file(run, "192.0.2.77")
    kept = str(list(Report.objects.values()))
    assert "192.0.2.77" not in kept
    assert len(report.client) == 64
    today = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: today + timedelta(days=1))
    assert report.client in {each.client for each in clients.hashes("192.0.2.77")}  # yesterday still counts
    monkeypatch.setattr(timezone, "now", lambda: today + timedelta(days=2))
    assert report.client not in {each.client for each in clients.hashes("192.0.2.77")}
    assert not ClientSalt.objects.filter(day=today.date()).exists()


def test_changing_the_last_part_of_an_ipv6_address_is_no_other_client(run):
    [one], [other], [mapped], [plain] = (
        clients.hashes(each) for each in ("2001:db8::1", "2001:db8::2:3", "::ffff:192.0.2.1", "192.0.2.1")
    )
    assert one == other
    assert mapped == plain
    assert clients.hashes("not an address")[0].client


def test_a_public_note_is_linked_from_the_runs_history(client, run, moderator, ada):
    report, secret = file(run, reporter=ada)
    before = client.get(reverse("run", args=[run.id]))
    report_decisions.accept(moderator, report.id, "noted", reason="Seen.", answer="Measured with ECC off.")
    after = client.get(reverse("run", args=[run.id]), headers={"If-None-Match": before.headers["ETag"]})
    assert "Measured with ECC off." in after.content.decode()
    assert RunNote.objects.get().text == "Measured with ECC off."
    assert OutboxEntry.objects.filter(topic="noted", run=run).exists()
    assert "Measured with ECC off." in client.get(reverse("report-receipt", args=[report.id, secret])).content.decode()
    notice = Notice.objects.get(user=ada)
    assert "Measured with ECC off." in signed_in(ada).get(notice.path).content.decode()


def test_a_supersession_leads_to_the_corrected_record(run, moderator, ada):
    draft = submissions.create(ada, document=reproduction(), note="")
    submissions.submit(ada, draft.id, version=1)
    corrected = decide_submission(moderator, draft.id, "accept", reason="x", version=2).run
    report, _ = file(run)
    with pytest.raises(Refused, match="did not publish"):
        report_decisions.accept(moderator, report.id, "superseded", reason="x", answer="y", successor="sha256:00")
    report.refresh_from_db()
    assert report.state == "open"
    report_decisions.accept(
        moderator, report.id, "superseded", reason="x", answer="Measured anew.", successor=corrected.digest
    )
    assert Supersession.objects.get(run=run).successor == corrected


def test_an_accepted_report_says_publicly_what_follows(run, moderator):
    report, _ = file(run)
    for outcome, answer in (("", "y"), ("noted", " "), ("verified", "y")):
        with pytest.raises(Refused, match="Say which"):
            report_decisions.accept(moderator, report.id, outcome, reason="x", answer=answer)
    assert not RunNote.objects.exists()


def test_merged_reports_share_what_becomes_of_one(client, run, moderator, ada):
    first, _ = file(run)
    second, secret = file(run, "198.51.100.1")
    third, _ = file(run, reporter=ada)
    report_decisions.merge(moderator, third.id, second.id, reason="Same.")
    report_decisions.merge(moderator, second.id, first.id, reason="Same.")
    third.refresh_from_db()
    assert third.merged_into == first  # there is never a chain
    report_decisions.accept(moderator, first.id, "retracted", reason="x", answer="All zeros, indeed.")
    receipt = client.get(reverse("report-receipt", args=[second.id, secret])).content.decode()
    assert "All zeros, indeed." in receipt
    assert "together with another report" in receipt
    assert Notice.objects.filter(user=ada, facts="All zeros, indeed.").exists()


def test_reports_on_different_runs_are_not_merged(run, other_run, moderator):
    (one, _), (other, _) = file(run), file(other_run)
    for report, into in ((one, other), (one, one)):
        with pytest.raises(Refused, match="same run"):
            report_decisions.merge(moderator, report.id, into.id, reason="x")


def test_a_decided_report_is_not_decided_again(run, moderator):
    report, _ = file(run)
    report_decisions.dismiss(moderator, report.id, reason="x", answer="It is as it should be.")
    with pytest.raises(Refused):
        report_decisions.accept(moderator, report.id, "retracted", reason="x", answer="y")
    assert not Run.objects.filter(retraction__isnull=False).exists()


def test_whose_run_it_is_does_not_decide_on_it(run, moderator, ada):
    draft = submissions.create(moderator, document=reproduction(), note="")
    submissions.submit(moderator, draft.id, version=1)
    other = person("other", "moderator")
    own = decide_submission(other, draft.id, "accept", reason="x", version=2).run
    report, _ = file(own)
    with pytest.raises(Refused, match="your own"):
        report_decisions.dismiss(moderator, report.id, reason="x")
