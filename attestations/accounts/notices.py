"""Telling people: from the outbox of the evidence to those who follow, and directly to one person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from attestations.accounts.following import run_name, subjects_of
from attestations.accounts.models import Follow, Notice, OutboxCursor, User
from runs.models import OutboxEntry, Run
from runs.reads.format import figure
from runs.reads.values import Figure

BATCH: Final = 200  # outbox entries read in one transaction
CURSOR: Final = "notices"

# What happened to a run, in words. A topic that is not here is nobody's news.
TOPICS: Final = {
    "new_run": "New run",
    "new_record": "New rank 1 in its comparison group",
    "retracted": "Run retracted",
    "superseded": "Run superseded",
    "below_floor": "Run faster than its physical floor",
    "below_floor_confirmed": "Run found to be below its physical floor",
    "verified": "Run verified by a controlled rerun",
    "replicated": "Run replicated by controlled reruns",
    "reported": "Run back at the level reported",
    "disputed": "Run disputed by a controlled rerun",
    "undisputed": "Run no longer disputed",
    "noted": "Public note on a run",
    "redacted": "Run removed by law",
}


def notify(
    user: User, topic: str, *, key: str, subject: str, path: str, facts: str = "", at: datetime | None = None
) -> bool:
    """Tell one person something, once: `key` says what happened (`statement:7:accepted`), and a second call with the
    same key changes nothing. `path` is the page to look at. True when this call made the notice."""
    if not user.is_active:
        return False
    _, made = Notice.objects.get_or_create(
        user=user,
        key=key,
        defaults={"topic": topic, "subject": subject[:400], "facts": facts, "path": path, "at": at or timezone.now()},
    )
    return made


def fan_out() -> int:
    """Read the outbox from where the last reader stopped, and tell those who follow. Yields the entries read.

    The cursor moves in the transaction that writes the notices, and a notice has its entry as its key, so a batch that
    is delivered twice, or by two workers at once, tells nobody twice. Publication writes in turns, so entries become
    visible in the order of their ids.
    """
    total = 0
    while read := _fan_out_batch():
        total += read
    return total


@transaction.atomic
def _fan_out_batch() -> int:
    OutboxCursor.objects.get_or_create(name=CURSOR)
    cursor = OutboxCursor.objects.select_for_update().get(name=CURSOR)
    entries = list(
        OutboxEntry.objects.filter(id__gt=cursor.position)
        .select_related("run__operation", "run__implementation", "run__environment", "run__workload")
        .order_by("id")[:BATCH]
    )
    if not entries:
        return 0
    Notice.objects.bulk_create(_notices(entries), ignore_conflicts=True, batch_size=500)
    cursor.position = entries[-1].id
    cursor.save(update_fields=["position"])
    return len(entries)


def _notices(entries: Sequence[OutboxEntry]) -> list[Notice]:
    subjects = {entry.id: _subjects(entry) for entry in entries if entry.topic in TOPICS}
    followers = _followers({subject for chosen in subjects.values() for subject in chosen})
    notices = []
    for entry in entries:
        told: set[int] = set()
        for subject in subjects.get(entry.id, ()):
            for user_id, since in followers.get(subject, ()):
                if user_id not in told and since <= entry.at:
                    told.add(user_id)
                    notices.append(_notice(entry, user_id))
    return notices


def _subjects(entry: OutboxEntry) -> list[tuple[str, str]]:
    """Whose followers hear of it. Those of a run that was displaced hear of the run that displaced it."""
    if entry.run is None:
        return [(Follow.Kind.GROUP, entry.comparison_key)] if entry.comparison_key else []
    chosen = subjects_of(entry.run)
    if displaced := entry.payload.get("displaced"):
        chosen.append((Follow.Kind.RUN, str(displaced)))
    return chosen


def _followers(subjects: set[tuple[str, str]]) -> dict[tuple[str, str], list[tuple[int, datetime]]]:
    keys: dict[str, list[str]] = {}
    for kind, key in subjects:
        keys.setdefault(kind, []).append(key)
    wanted = Q(pk__in=[])
    for kind, chosen in keys.items():
        wanted |= Q(kind=kind, key__in=chosen)
    followers: dict[tuple[str, str], list[tuple[int, datetime]]] = {}
    rows = Follow.objects.filter(wanted, user__is_active=True).values_list("kind", "key", "user_id", "at")
    for kind, key, user_id, since in rows:
        followers.setdefault((kind, key), []).append((user_id, since))
    return followers


def _notice(entry: OutboxEntry, user_id: int) -> Notice:
    run = entry.run
    return Notice(
        user_id=user_id,
        key=f"outbox:{entry.id}",
        topic=entry.topic,
        subject=f"{TOPICS[entry.topic]}: {run_name(run)}" if run else TOPICS[entry.topic],
        facts=_facts(run) if run else "",
        path=reverse("run", args=[run.id]) if run else reverse("runs"),
        at=entry.at,
    )


def _facts(run: Run) -> str:
    parts = [run.workload.summary, run.environment.product]
    if run.value is not None:
        parts.insert(0, f"{figure(_measured(run, run.value))} {run.statistic}")
    return ", ".join(parts)


def _measured(run: Run, value: float) -> Figure:
    return Figure(metric=run.metric, statistic=run.statistic, unit=run.unit, value=value)
