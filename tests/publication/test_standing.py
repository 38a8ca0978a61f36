"""Ranks, retractions and supersessions as publication writes them."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from runs.models import ComparisonGroup, Run, Standing
from runs.publication import publish, retract, supersede
from runs.refusals import PublicationRefused
from runs.sources.synthetic import synthesize

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> list[Run]:
    """The ranked runs of one comparison group, best first."""
    publish(synthesize(0, 60))
    key = ComparisonGroup.objects.filter(ranked_count=6).order_by("key").first().key
    return [s.run for s in Standing.objects.filter(group=key).order_by("rank").select_related("run")]


def ranks(group: list[Run]) -> list[int | None]:
    found = dict(Standing.objects.filter(run__in=group).values_list("run_id", "rank"))
    return [found[run.id] for run in group]


def test_it_ranks_by_the_primary_measurement(group):
    assert [run.value for run in group] == sorted(run.value for run in group)
    assert ranks(group) == [1, 2, 3, 4, 5, 6]


def test_a_failed_run_says_why_it_does_not_rank():
    publish(synthesize(0, 600))
    failed = Standing.objects.filter(run__status="runtime_error")
    assert failed.count() > 3
    assert {tuple(standing.reasons) for standing in failed} == {("NOT_PASSED",)}
    assert not failed.exclude(rank=None).exists()


def test_a_retracted_run_loses_its_rank_and_keeps_its_record(group):
    version = group[0].standing.group.version
    retract(group[0].digest, reason="measured another kernel", actor="a moderator")
    assert ranks(group) == [None, 1, 2, 3, 4, 5]
    standing = Standing.objects.get(run=group[0])
    assert standing.reasons == ["RETRACTED"]
    assert standing.version == 2
    assert Run.objects.filter(id=group[0].id).exists()
    assert ComparisonGroup.objects.get(key=group[0].comparison_key).version == version + 1


def test_a_superseded_run_leaves_its_rank_to_its_successor(group):
    supersede(group[0].digest, group[1].digest, reason="wrong clock", actor="the source")
    assert ranks(group) == [None, 1, 2, 3, 4, 5]
    assert Standing.objects.get(run=group[0]).reasons == ["SUPERSEDED"]


@pytest.mark.parametrize(
    ("attempt", "code"),
    [
        (lambda g: retract("sha256:" + "0" * 64, reason="r", actor="a"), "UNKNOWN_RUN"),
        (lambda g: retract(g[0].digest, reason=" ", actor="a"), "NO_REASON"),
        (lambda g: retract(g[0].digest, reason="r", actor=""), "NO_REASON"),
        (lambda g: supersede(g[0].digest, g[0].digest, reason="r", actor="a"), "SUPERSEDED_BY_ITSELF"),
        (lambda g: supersede(g[0].digest, "sha256:" + "0" * 64, reason="r", actor="a"), "UNKNOWN_RUN"),
    ],
)
def test_it_refuses_with_a_reason(group, attempt, code):
    with pytest.raises(PublicationRefused) as refused:
        attempt(group)
    assert [refusal.code for refusal in refused.value.refusals] == [code]
    assert ranks(group) == [1, 2, 3, 4, 5, 6]


def test_nothing_is_retracted_or_superseded_twice(group):
    retract(group[0].digest, reason="r", actor="a")
    with pytest.raises(PublicationRefused, match="already retracted"):
        retract(group[0].digest, reason="r", actor="a")
    supersede(group[1].digest, group[2].digest, reason="r", actor="a")
    with pytest.raises(PublicationRefused, match="already superseded"):
        supersede(group[1].digest, group[3].digest, reason="r", actor="a")


def test_supersession_never_goes_round_in_a_circle(group):
    supersede(group[0].digest, group[1].digest, reason="r", actor="a")
    supersede(group[1].digest, group[2].digest, reason="r", actor="a")
    with pytest.raises(PublicationRefused, match="cannot supersede itself"):
        supersede(group[2].digest, group[0].digest, reason="r", actor="a")


def test_the_database_refuses_a_run_that_supersedes_itself(group):
    from django.utils import timezone

    from runs.models import Supersession

    with pytest.raises(IntegrityError), transaction.atomic():
        Supersession.objects.create(run=group[0], successor=group[0], reason="r", actor="a", at=timezone.now())
