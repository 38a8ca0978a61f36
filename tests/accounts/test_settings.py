"""Settings of accounts, mail and background work."""

from __future__ import annotations

import re
from pathlib import Path

import allauth
import pytest
from django.conf import settings

from kernelindex.celery import app
from tests.test_settings import PRODUCTION, manage

GITHUB = {
    "KERNELINDEX_DEBUG": "1",  # static files by their own names, none of them collected
    "KERNELINDEX_GITHUB_CLIENT_ID": "an id",
    "KERNELINDEX_GITHUB_CLIENT_SECRET": "a secret",
}
LOOK = """
from django.test import Client
page = Client().get('/account/login/?next=/runs/')
print(page.status_code, 'Continue with GitHub' in page.content.decode(), page['Content-Security-Policy'])
there = Client().post('/account/connections/github/login/', {'next': '/runs/'})
print(there.status_code, there.get('Location'))
"""


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"KERNELINDEX_EMAIL_URL": "pigeon://x"}, "KERNELINDEX_EMAIL_URL"),
        ({"KERNELINDEX_EMAIL_URL": "smtp://"}, "KERNELINDEX_EMAIL_URL"),
        ({"KERNELINDEX_GITHUB_CLIENT_ID": "alone"}, "KERNELINDEX_GITHUB_CLIENT_SECRET"),
        ({"KERNELINDEX_GITHUB_CLIENT_SECRET": "alone"}, "KERNELINDEX_GITHUB_CLIENT_ID"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(environment, named):
    done = manage("check", **PRODUCTION, **environment)
    assert done.returncode != 0
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_github_is_offered_with_its_keys_and_the_policy_lets_the_form_go_there(database):
    database.environment |= GITHUB
    lines = database.manage("shell", "-c", LOOK).splitlines()
    page, there = lines[-2:]
    assert page.startswith("200 True")
    assert "form-action 'self' https://github.com" in page
    assert there.startswith("302 https://github.com/login/oauth/authorize?")


def test_github_is_not_offered_without_them(client, db):
    assert "GitHub" not in client.get("/account/login/").content.decode()


def test_a_mail_can_be_written_to_a_file(tmp_path):
    state = {"KERNELINDEX_ENV": "development", "KERNELINDEX_STATE_DIR": str(tmp_path), "KERNELINDEX_EMAIL_URL": "file:"}
    assert manage("sendtestemail", "ada@example.org", **state).returncode == 0
    (mail,) = (tmp_path / "mail").iterdir()
    assert "To: ada@example.org" in mail.read_text()


def test_what_beat_starts_is_there_to_be_started():
    app.loader.import_default_modules()
    started = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert {"accounts.fan_out", "accounts.send_digests", "accounts.tidy"} <= started <= set(app.tasks)


def test_workers_take_json_alone():
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == "json"


# What is not offered (codes by mail, telephones, trusted browsers, sign-up by passkey), and the library's own layouts.
NOT_NEEDED = re.compile(
    r"base_|base\.html|snippets/|phone|code(_sent|_subject|_message)?\.|trust|passkey|password_set[._]|signup_(closed|form)"
)
NOT_REACHED = {"account/email.html", "account/verified_email_required.html", "socialaccount/login_redirect.html"}


def test_every_page_and_mail_of_the_library_that_can_be_reached_is_ours():
    ours, theirs = settings.BASE_DIR / "templates", Path(allauth.__path__[0]) / "templates"
    folders = ("account", "mfa", "usersessions", "socialaccount")
    names = [path.relative_to(theirs) for folder in folders for path in (theirs / folder).rglob("*.*")]
    assert len(names) > 100
    missing = {str(name) for name in names if not (ours / name).exists() and not NOT_NEEDED.search(str(name))}
    assert missing == NOT_REACHED
