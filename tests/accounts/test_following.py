"""Following, and the page of what one follows."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from django.test import Client

from attestations.accounts import following
from attestations.accounts.models import Follow, Notice
from attestations.accounts.notices import notify
from runs.models import Run
from tests.accounts.conftest import add_person, sign_in
from tests.accounts.evidence import publish_runs

pytestmark = pytest.mark.django_db


def subjects_of_a_run() -> list[tuple[str, str]]:
    run = Run.objects.select_related("operation", "implementation").first()
    return following.subjects_of(run)


def address(kind: str, key: str, verb: str = "follow") -> str:
    return f"/{verb}/{kind}/{quote(key, safe='')}/"


def test_everything_that_a_run_belongs_to_can_be_followed_and_unfollowed(ada):
    publish_runs(3)
    browser = sign_in(ada)
    for kind, key in subjects_of_a_run():
        assert "<button" in browser.get(address(kind, key)).content.decode()
        for _ in range(2):
            assert browser.post(address(kind, key))["Location"] == "/following/"
        assert Follow.objects.get(kind=kind, key=key).user == ada
        page = browser.get("/following/").content.decode()
        named = following.find(kind, key)
        assert named is not None
        assert browser.get(named.path).status_code == 200
        assert "Unfollow" in page
        assert browser.post(address(kind, key, "unfollow")).status_code == 302
    assert not Follow.objects.exists()


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("run", "00000000-0000-0000-0000-000000000000"),
        ("run", "x"),
        ("run", "00000000000000000000000000000000"),
        ("group", "sha256:00"),
        ("operation", "none"),
        ("implementation", "none"),
        ("hardware", "none"),
        ("person", "ada"),
        ("user", "1"),
    ],
)
def test_what_is_not_there_cannot_be_followed(ada, kind, key):
    browser = sign_in(ada)
    assert browser.get(address(kind, key)).status_code == 404
    assert browser.post(address(kind, key)).status_code == 404
    assert not Follow.objects.exists()


def test_who_is_not_signed_in_is_asked_to_and_comes_back(client):
    publish_runs(1)
    kind, key = subjects_of_a_run()[0]
    where = client.get(address(kind, key))["Location"]
    assert where.startswith("/account/login/?next=/follow/run/")
    assert client.post(address(kind, key)).status_code == 302
    assert not Follow.objects.exists()


def test_nobody_unfollows_for_another(ada, grace):
    Follow.objects.create(user=ada, kind="hardware", key="h100")
    assert sign_in(grace).post(address("hardware", "h100", "unfollow")).status_code == 404
    assert Client().post(address("hardware", "h100", "unfollow")).status_code == 302
    assert sign_in(ada).get(address("hardware", "h100", "unfollow")).status_code == 405
    assert Follow.objects.exists()


def test_what_is_gone_can_still_be_unfollowed(ada):
    Follow.objects.create(user=ada, kind="hardware", key="gone")
    browser = sign_in(ada)
    assert "gone" in browser.get("/following/").content.decode()
    assert browser.post(address("hardware", "gone", "unfollow")).status_code == 302
    assert not Follow.objects.exists()


def test_nobody_follows_more_than_so_much(ada, monkeypatch):
    publish_runs(2)
    monkeypatch.setattr(following, "MOST", 1)
    browser = sign_in(ada)
    first, second = (str(pk) for pk in Run.objects.values_list("id", flat=True)[:2])
    browser.post(address("run", first))
    page = browser.post(address("run", second), follow=True).content.decode()
    assert "as many as one may" in page
    browser.post(address("run", first))
    assert list(Follow.objects.values_list("key", flat=True)) == [first]


def test_notices_are_ones_own_and_are_marked_seen_up_to_what_was_shown(ada, grace):
    for user in (ada, grace):
        notify(user, "decided", key="statement:1", subject=f"For {user.username}", path="/")
    browser = sign_in(ada)
    page = browser.get("/following/").content.decode()
    assert "For ada" in page
    assert "For grace" not in page
    shown = Notice.objects.get(user=ada)
    notify(ada, "decided", key="statement:2", subject="Later", path="/")
    browser.post("/following/seen/", {"newest": shown.pk})
    assert set(Notice.objects.filter(seen_at=None).values_list("subject", flat=True)) == {"For grace", "Later"}
    browser.post("/following/seen/", {"newest": Notice.objects.get(user=grace).pk + 100})
    assert Notice.objects.get(user=grace).seen_at is None
    for newest in ("", "x", "-1", "9" * 40):
        assert browser.post("/following/seen/", {"newest": newest}).status_code == 400


def test_earlier_notices_are_on_further_pages(ada):
    for number in range(60):
        notify(ada, "decided", key=f"statement:{number}", subject=f"Number {number}.", path="/")
    browser = sign_in(ada)
    first = browser.get("/following/").content.decode()
    assert "Number 59." in first
    assert "Number 9." not in first
    before = Notice.objects.get(subject="Number 10.").pk
    assert f"?before={before}" in first
    assert "Number 9." in browser.get(f"/following/?before={before}").content.decode()
    assert browser.get("/following/?before=x").status_code == 400


def test_a_page_of_much_takes_as_many_queries_as_one_of_little(ada, django_assert_max_num_queries):
    publish_runs(6)
    browser = sign_in(ada)
    for run in Run.objects.all():
        Follow.objects.create(user=ada, kind="run", key=str(run.pk))
    for number in range(40):
        notify(ada, "decided", key=f"statement:{number}", subject="x", path="/")
    with django_assert_max_num_queries(12):
        browser.get("/following/")


@pytest.mark.parametrize("path", ["/following/", "/following/seen/", "/following/digest/", "/following/feed/rotate/"])
def test_nobody_gets_nothing(client, path):
    add_person("ada")
    for response in (client.get(path), client.post(path)):
        assert response.status_code in {302, 405}
        assert response.get("Location", "/account/login/").startswith("/account/login/")
