"""Evidence levels by value and by property."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.policy.level import CONCLUSIVE, DISPUTING, EvidenceLevel, Rerun, derive
from runs.policy.verdict import Verdict

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(day):
    return START + timedelta(days=day)


def rerun(key="a", verdict=Verdict.REPRODUCED, *, day=0, operator="one", device="gpu-1", **changes):
    return Rerun(
        **{
            "key": key,
            "verdict": verdict,
            "finished_at": at(day),
            "operator": operator,
            "device": device,
            "hardware_equal": True,
            "approved": True,
            **changes,
        }
    )


def test_without_reruns_a_run_is_reported():
    derivation = derive([])
    assert (derivation.level, derivation.disputed, derivation.supporting) == (EvidenceLevel.REPORTED, False, ())


def test_levels_are_ordered():
    assert EvidenceLevel.REPORTED < EvidenceLevel.VERIFIED < EvidenceLevel.REPLICATED
    assert [level.slug for level in EvidenceLevel] == ["reported", "verified", "replicated"]


def test_a_reproduced_rerun_verifies_and_is_named():
    derivation = derive([rerun("a")])
    assert (derivation.level, derivation.supporting) == (EvidenceLevel.VERIFIED, ("a",))


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - {Verdict.REPRODUCED}))
def test_no_other_verdict_verifies(verdict):
    assert derive([rerun(verdict=verdict)]).level is EvidenceLevel.REPORTED


@pytest.mark.parametrize("change", [{"hardware_equal": False}, {"approved": False}, {"revoked_at": at(1)}])
def test_it_needs_the_claims_hardware_and_a_trusted_runner(change):
    assert derive([rerun(**change)]).level is EvidenceLevel.REPORTED


def test_two_operators_on_two_devices_replicate():
    derivation = derive([rerun("a"), rerun("b", operator="two", device="gpu-2")])
    assert (derivation.level, derivation.supporting) == (EvidenceLevel.REPLICATED, ("a", "b"))


@pytest.mark.parametrize(
    "other",
    [
        {"operator": "one", "device": "gpu-2"},
        {"operator": "two", "device": "gpu-1"},
        {"operator": "two", "device": None},
        {"operator": "two", "device": "gpu-2", "revoked_at": at(3)},
        {"operator": "two", "device": "gpu-2", "hardware_equal": False},
    ],
)
def test_a_second_rerun_that_is_not_independent_does_not_replicate(other):
    assert derive([rerun("a"), rerun("b", **other)]).level is EvidenceLevel.VERIFIED


def test_three_reruns_that_differ_in_one_respect_each_do_not_replicate():
    star = [rerun("a"), rerun("b", operator="two"), rerun("c", device="gpu-2")]
    # b and c differ in both, though neither does from a
    assert derive(star).supporting == ("b", "c")
    assert derive(star[:2]).level is EvidenceLevel.VERIFIED


def test_one_record_listed_twice_counts_once():
    twice = rerun("a"), replace(rerun("a"), operator="two", device="gpu-2")
    assert derive(twice).level is EvidenceLevel.VERIFIED
    assert derive(twice).conclusive == 1


@pytest.mark.parametrize("verdict", [Verdict.CONTRADICTED, Verdict.INCORRECT])
def test_a_contradiction_disputes_and_takes_the_level_away(verdict):
    supporters = [rerun("a"), rerun("b", operator="two", device="gpu-2")]
    derivation = derive([*supporters, rerun("c", verdict)])
    assert (derivation.level, derivation.disputed) == (EvidenceLevel.REPORTED, True)
    assert (derivation.supporting, derivation.disputing, derivation.conclusive) == ((), ("c",), 3)


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - set(DISPUTING)))
def test_no_other_verdict_disputes(verdict):
    derivation = derive([rerun("a"), rerun("b", verdict)])
    assert (derivation.level, derivation.disputed) == (EvidenceLevel.VERIFIED, False)


def test_revoking_the_disputing_runner_does_not_by_itself_restore_the_level():
    reruns = [rerun("a", day=2), rerun("b", Verdict.CONTRADICTED, day=1, revoked_at=at(3))]
    assert derive(reruns).disputed


def test_a_rerun_after_that_revocation_ends_the_dispute():
    reruns = [rerun("a", day=4), rerun("b", Verdict.CONTRADICTED, day=1, revoked_at=at(3))]
    assert (derive(reruns).level, derive(reruns).disputed) == (EvidenceLevel.VERIFIED, False)
    assert derive([*reruns, rerun("c", Verdict.INCORRECT, day=1)]).disputed


def test_a_runner_that_is_revoked_itself_ends_no_dispute():
    reruns = [rerun("a", day=4, revoked_at=at(5)), rerun("b", Verdict.CONTRADICTED, day=1, revoked_at=at(3))]
    assert derive(reruns).disputed


def test_inconclusive_reruns_are_not_counted():
    reruns = [rerun(verdict.value, verdict) for verdict in Verdict]
    assert derive(reruns).conclusive == len(CONCLUSIVE) == len(Verdict) - 3


reruns_of_one_run = st.lists(
    st.builds(
        rerun,
        st.uuids().map(str),
        st.sampled_from([Verdict.REPRODUCED] * 4 + list(Verdict)),
        day=st.integers(0, 9),
        operator=st.sampled_from(["one", "two", "three"]),
        device=st.sampled_from(["gpu-1", "gpu-2", "gpu-3", None]),
        hardware_equal=st.booleans() | st.just(True),
        revoked_at=st.sampled_from([None, None, None, at(5)]),
    ),
    max_size=8,
)


@given(reruns_of_one_run, st.randoms())
def test_the_order_of_reruns_does_not_matter(reruns, rng):
    shuffled = list(reruns)
    rng.shuffle(shuffled)
    assert derive(shuffled) == derive(reruns)


@given(reruns_of_one_run, st.data())
def test_revoking_a_runner_never_raises_a_level_nor_ends_a_dispute(reruns, data):
    operator = data.draw(st.sampled_from(["one", "two", "three"]))
    now = at(10)
    after = [
        replace(item, revoked_at=now) if item.operator == operator and item.revoked_at is None else item
        for item in reruns
    ]
    assert derive(after).level <= derive(reruns).level
    assert derive(after).disputed >= derive(reruns).disputed


@given(reruns_of_one_run, st.sampled_from(sorted(DISPUTING)))
def test_a_further_contradiction_always_takes_verified_away(reruns, verdict):
    derivation = derive([*reruns, rerun("against", verdict, day=9)])
    assert (derivation.level, derivation.disputed) == (EvidenceLevel.REPORTED, True)


@given(reruns_of_one_run, reruns_of_one_run)
def test_further_reruns_that_reproduce_never_lower_a_level(reruns, more):
    reproduced = [item for item in more if item.verdict is Verdict.REPRODUCED]
    assert derive([*reruns, *reproduced]).level >= derive(reruns).level


@given(reruns_of_one_run)
def test_a_level_is_carried_by_reruns_that_support_it(reruns):
    derivation = derive(reruns)
    carrying = [item for item in reruns if item.key in derivation.supporting]
    assert len(carrying) == int(derivation.level)
    assert all(item.supports for item in carrying)
    assert len({item.operator for item in carrying}) == len({item.device for item in carrying}) == len(carrying)
    assert derivation.disputed == bool(derivation.disputing)
