"""From the outbox to those who follow: everybody once, whatever is delivered how often."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from attestations.accounts import notices
from attestations.accounts.models import Follow, Notice, OutboxCursor, User
from attestations.accounts.notices import fan_out, notify
from attestations.accounts.tasks import fan_out as task
from runs.models import OutboxEntry, Run
from runs.policy.level import EvidenceLevel
from runs.publication import retract
from tests.accounts.evidence import publish_faster, publish_runs

pytestmark = pytest.mark.django_db


def follow(user: User, kind: str, key: str) -> None:
    Follow.objects.create(user=user, kind=kind, key=key)


def told(user: User) -> list[str]:
    return list(Notice.objects.filter(user=user).order_by("id").values_list("topic", flat=True))


def test_followers_are_told_once_of_a_run_that_they_follow_in_many_ways(ada, grace):
    publish_runs(3)
    run = Run.objects.select_related("operation").first()
    fan_out()
    for kind, key in (("run", str(run.pk)), ("hardware", run.hardware), ("operation", run.operation.slug)):
        follow(ada, kind, key)
    retract(run.digest, reason="r", actor="a")
    task()
    assert told(ada) == ["retracted"]
    assert told(grace) == []
    notice = Notice.objects.get()
    assert notice.subject.startswith("Run retracted: ")
    assert notice.path == f"/runs/{run.pk}/"
    assert run.environment.product in notice.facts


def test_a_second_delivery_tells_nobody_twice(ada):
    publish_runs(3)
    run = Run.objects.first()
    follow(ada, "hardware", run.hardware)
    retract(run.digest, reason="r", actor="a")
    fan_out()
    OutboxCursor.objects.update(position=0)  # a backup of the cursor was put back, say
    fan_out()
    assert told(ada) == ["retracted"]


def test_nothing_new_writes_nothing(ada):
    publish_runs(2)
    assert fan_out() == 2
    assert fan_out() == 0


def test_the_outbox_is_read_in_batches_to_its_end(ada, monkeypatch):
    monkeypatch.setattr(notices, "BATCH", 2)
    Follow.objects.create(user=ada, kind="hardware", key="none", at=timezone.now() - timedelta(days=1))
    publish_runs(5)
    assert fan_out() == 5
    assert OutboxCursor.objects.get().position == OutboxEntry.objects.latest("id").id


def test_what_happened_before_one_followed_is_no_news(ada):
    publish_runs(3)
    follow(ada, "hardware", Run.objects.first().hardware)
    fan_out()
    assert told(ada) == []


def test_new_runs_are_told_to_those_who_follow_the_gpu(ada):
    slug = publish_and_forget()
    Follow.objects.create(user=ada, kind="hardware", key=slug, at=timezone.now() - timedelta(days=1))
    fan_out()
    assert set(told(ada)) == {"new_run"}


def publish_and_forget() -> str:
    publish_runs(2)
    return Run.objects.first().hardware


def test_a_new_rank_1_is_told_to_the_group_and_to_those_of_the_run_that_it_displaced(ada, grace):
    bundle = publish_runs(6)
    first = Run.objects.filter(standing__rank=1).first()
    follow(ada, "group", first.comparison_key)
    follow(grace, "run", str(first.pk))
    publish_faster(bundle)
    fan_out()
    assert "new_record" in told(ada)
    assert told(grace) == ["new_record"]


def test_entries_that_nobody_knows_are_passed_over(ada):
    publish_runs(1)
    run = Run.objects.first()
    follow(ada, "hardware", run.hardware)
    OutboxEntry.objects.create(topic="something_else", run=run, comparison_key="", at=timezone.now())
    OutboxEntry.objects.create(topic="retracted", run=None, comparison_key="", at=timezone.now())
    fan_out()
    assert told(ada) == []
    assert fan_out() == 0


def test_an_entry_about_a_group_alone_is_told_to_its_followers(ada):
    publish_runs(1)
    key = Run.objects.first().comparison_key
    follow(ada, "group", key)
    OutboxEntry.objects.create(topic="disputed", run=None, comparison_key=key, at=timezone.now())
    fan_out()
    assert told(ada) == ["disputed"]


def test_who_is_suspended_is_told_nothing(ada):
    publish_runs(1)
    run = Run.objects.first()
    follow(ada, "run", str(run.pk))
    User.objects.update(is_active=False)
    retract(run.digest, reason="r", actor="a")
    fan_out()
    ada.refresh_from_db()
    assert not notify(ada, "decided", key="k", subject="s", path="/")
    assert told(ada) == []


def test_one_is_told_of_a_decision_once(ada):
    assert notify(ada, "decided", key="statement:1:accepted", subject="Accepted", path="/", facts="f")
    assert not notify(ada, "decided", key="statement:1:accepted", subject="Accepted again", path="/")
    assert Notice.objects.get().subject == "Accepted"


def test_telling_many_takes_no_more_queries_than_telling_one(ada, grace, django_assert_max_num_queries):
    publish_runs(6)
    fan_out()
    for run in Run.objects.all():
        follow(ada, "run", str(run.pk))
        follow(grace, "run", str(run.pk))
        retract(run.digest, reason="r", actor="a")
    with django_assert_max_num_queries(14):
        assert fan_out() == 6
    assert Notice.objects.count() == 12


def test_everything_that_publication_announces_is_somebodys_news():
    source = "".join(path.read_text() for path in (settings.BASE_DIR / "runs").rglob("*.py"))
    announced = set(re.findall(r'(?:announce|_entry)\("([a-z_]+)"', source))
    assert {"new_run", "retracted"} <= announced
    assert announced | {level.slug for level in EvidenceLevel} | {"disputed", "undisputed"} <= set(notices.TOPICS)
