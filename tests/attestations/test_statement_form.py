"""The form of a statement on a run's page, from the first look to the posted statement."""

from __future__ import annotations

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from attestations.models import Statement, StatementRevision
from attestations.reads.statements import run_statements
from attestations.services import moderation
from tests.attestations.conftest import signed_in

pytestmark = pytest.mark.django_db


def form_url(run) -> str:
    return reverse("statement-new", args=[run.id])


def said(**fields) -> dict[str, str]:
    return {"kind": "reproduced", "note": "The same here.", "action": "post", **fields}


def test_nobody_sees_a_form_without_signing_in(client, run):
    page = client.get(reverse("run", args=[run.id])).content.decode()
    assert "No attestations yet." in page
    assert "They never change the evidence level" in page
    assert "<textarea" not in page
    assert form_url(run) in page


def test_a_person_finds_the_form_on_the_page_and_posts(ada, run):
    client = signed_in(ada)
    page = client.get(reverse("run", args=[run.id])).content.decode()
    assert f'action="{form_url(run)}"' in page
    answer = client.post(form_url(run), said(value="74000", unit="ns", statistic="median", samples="100"))
    made = Statement.objects.get()
    assert answer.headers["Location"].endswith(f"#statement-{made.id}")
    assert (made.author, made.run, made.state) == (ada, run, "waiting")
    page = client.get(reverse("run", args=[run.id])).content.decode()
    assert "The same here." in page
    assert "waiting for a moderator" in page
    assert "1.00 × the run" in page


def test_it_is_seen_by_others_once_a_moderator_published_it(client, ada, run, moderator):
    signed_in(ada).post(form_url(run), said())
    url = reverse("run", args=[run.id])
    before = client.get(url)
    assert "The same here." not in before.content.decode()
    moderation.decide_statement(moderator, Statement.objects.get().id, "publish", reason="Fine.")
    after = client.get(url, headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert "The same here." in after.content.decode()


def test_what_people_who_are_known_post_appears_at_once(client, known, other_run):
    made = signed_in(known).post(form_url(other_run), said())
    assert made.status_code == 302
    assert "The same here." in client.get(reverse("run", args=[other_run.id])).content.decode()


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"kind": "verified"}, "kind"),
        ({"kind": "owner_reply"}, "kind"),
        ({"note": "x" * 4001}, "note"),
        ({"value": "-1", "unit": "ns", "statistic": "median"}, "value"),
        ({"value": "nan", "unit": "ns", "statistic": "median"}, "value"),
        ({"value": "1e999", "unit": "ns", "statistic": "median"}, "value"),
        ({"value": "1", "unit": "", "statistic": "median"}, "unit"),
        ({"value": "1", "unit": "parsec", "statistic": "median"}, "unit"),
        ({"samples": "0"}, "samples"),
        ({"evidence_url": "http://example.org/"}, "evidence_url"),
        ({"evidence_url": "javascript:alert(1)"}, "evidence_url"),
        ({"evidence_url": "https://user:pass@example.org/"}, "evidence_url"),
        ({"evidence_url": "https://exаmple.org/"}, "evidence_url"),
        ({"libraries": "triton"}, "libraries"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_the_rest_is_kept(ada, run, fields, wrong):
    answer = signed_in(ada).post(form_url(run), said(gpu="NVIDIA B200", **fields))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'id="id_{wrong}_error"' in page
    assert 'value="NVIDIA B200"' in page
    assert not Statement.objects.exists()


def test_a_statement_says_something(ada, run):
    answer = signed_in(ada).post(form_url(run), said(note=" \u200b "))
    assert answer.status_code == 422
    assert "Say something" in answer.content.decode()


def test_a_preview_posts_nothing_and_shows_what_would_be(ada, run):
    answer = signed_in(ada).post(
        form_url(run),
        said(action="preview", note="*quite*", value="0.15", unit="ms", statistic="median", kind="regression_observed"),
    )
    page = answer.content.decode()
    assert "<em>quite</em>" in page
    assert "2.03 × the run" in page
    assert "outside the run’s spread (p20 to p80)" in page
    assert not Statement.objects.exists()


def test_reproduced_far_from_the_run_is_asked_about_first(ada, run):
    client = signed_in(ada)
    far = said(value="132710", unit="ns", statistic="median")
    answer = client.post(form_url(run), far)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Your value is 1.8 × the run" in page
    [confirmed] = re.findall(r'name="confirmed" value="([^"]+)"', page)
    assert not Statement.objects.exists()
    # Another value is asked about again.
    assert client.post(form_url(run), {**far, "value": "264000", "confirmed": confirmed}).status_code == 422
    assert client.post(form_url(run), {**far, "confirmed": confirmed}).status_code == 302
    [row] = run_statements(run.id, ada).waiting
    assert round(row.said.ratio.value, 2) == 1.8
    assert row.said.ratio.within is False


def test_a_paste_fills_the_fields_without_a_script(ada, run):
    paste = "Collecting environment information...\nPyTorch version: 2.11.0+cu130\nCUDA used to build PyTorch: 13.0\n"
    answer = signed_in(ada).post(form_url(run), said(action="fill", paste=paste, clocks="locked"))
    page = answer.content.decode()
    assert 'value="pytorch 2.11.0+cu130"' in page
    assert 'value="CUDA 13.0"' in page
    assert "The same here." in page
    assert not Statement.objects.exists()


def test_what_was_written_before_the_session_ended_is_there_after_signing_in(client, ada, run):
    answer = client.post(form_url(run), said(note="Three evenings of work.", gpu="NVIDIA B200"))
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(reverse("account_login"))
    client.force_login(ada)
    page = client.get(form_url(run)).content.decode()
    assert "Three evenings of work." in page
    assert 'value="NVIDIA B200"' in page
    assert "before you signed in" in page
    assert not Statement.objects.exists()


def test_what_one_person_wrote_is_not_given_to_the_next_one(client, ada, bob, run):
    client.force_login(ada)
    client.post(reverse("account_logout"))
    client.post(form_url(run), said(note="Three evenings of work."))
    client.force_login(ada)
    client.post(reverse("account_logout"))
    client.force_login(bob)
    assert "Three evenings" not in client.get(form_url(run)).content.decode()


@pytest.mark.parametrize(
    ("name", "content", "media_type"),
    [
        ("samples.json", b'{"samples": [1, 2]}', "application/json"),
        ("log.txt", "µs: 73".encode(), "text/plain"),
        ("page.html", b"<script>alert(1)</script>", "text/plain"),
    ],
)
def test_a_file_is_downloaded_and_never_shown(known, other_run, name, content, media_type):
    sent = SimpleUploadedFile(name, content, content_type="text/html")
    assert signed_in(known).post(form_url(other_run), said(attachment=sent)).status_code == 302
    statement = Statement.objects.latest("id")
    answer = Client().get(reverse("statement-attachment", args=[statement.id, 1]))
    assert answer.content == content
    assert answer.headers["Content-Type"] == f"{media_type}; charset=utf-8"
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]


def test_one_content_is_stored_once(known, other_run, run, bob):
    for person, each in ((known, other_run), (bob, run)):
        signed_in(person).post(form_url(each), said(attachment=SimpleUploadedFile("a.txt", b"the same bytes")))
    carried = StatementRevision.objects.exclude(attachment=None)
    assert carried.count() == 2
    assert len(set(carried.values_list("attachment", flat=True))) == 1


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("plot.json", b"\x89PNG\r\n\x1a\n\x00\x00", "neither JSON nor UTF-8 text"),
        ("plot.txt", b"\x89PNG\r\n\x1a\n\x00\x00", "neither JSON nor UTF-8 text"),
        ("null.txt", b"a\x00b", "control characters"),
        ("samples.json", b"samples: 1", "no JSON object"),
        ("samples.json", b'{"a": 1, "a": 2}', "no JSON"),
        ("samples.json", b"[" * 5000, "no JSON"),
        ("empty.txt", b" \n", "empty"),
        ("large.txt", b"x" * (1024 * 1024 + 1), "larger than 1 MiB"),
        ("larger.txt", b"x" * (3 * 1024 * 1024), "larger than 1 MiB"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_file_that_is_not_what_it_says_is_refused_and_the_text_kept(ada, run, name, content, why):
    sent = SimpleUploadedFile(name, content, content_type="application/json")
    answer = signed_in(ada).post(form_url(run), said(attachment=sent))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert why in page
    assert "The same here." in page
    assert not Statement.objects.exists()


def test_ten_megabytes_are_not_read_at_all(ada, run):
    sent = SimpleUploadedFile("large.txt", b"x" * (10 * 1024 * 1024))
    answer = signed_in(ada).post(form_url(run), said(attachment=sent))
    assert answer.status_code == 400
    answer = signed_in(ada).post(form_url(run), said(note="x" * (10 * 1024 * 1024)))
    assert answer.status_code == 400
    assert not Statement.objects.exists()
