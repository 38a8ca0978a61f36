"""What publication tells others, in the transaction of what happened."""

from __future__ import annotations

import copy
import dataclasses

import pytest

from runs.manifests.bundle import Bundle
from runs.models import OutboxEntry, Run
from runs.publication import publish, retract, supersede
from runs.sources.synthetic import synthesize

pytestmark = pytest.mark.django_db


def real(bundle: Bundle) -> Bundle:
    return dataclasses.replace(bundle, illustrative=False)


def topics() -> list[str]:
    return list(OutboxEntry.objects.order_by("id").values_list("topic", flat=True))


def faster(bundle: Bundle, factor: float, number: int) -> Bundle:
    """The bundle with one more run: its last one, with its time multiplied."""
    manifest = copy.deepcopy(bundle.records[-1].manifest)
    latency = manifest["spec"]["timing"]["latencyNs"]
    latency["median"] = int(latency["median"] * factor)
    manifest["spec"]["status"] = "passed"
    manifest["spec"]["sourceNative"]["externalId"] = f"another/{number}"
    return dataclasses.replace(
        bundle, records=[*bundle.records, dataclasses.replace(bundle.records[-1], manifest=manifest)]
    )


def test_new_runs_are_told_of_once():
    publish(real(synthesize(0, 6)))
    publish(real(synthesize(0, 6)))
    assert topics() == ["new_run"] * 6


def test_made_up_runs_are_no_news():
    publish(synthesize(0, 6))
    assert topics() == []


def test_a_new_first_names_what_it_displaced():
    bundle = real(synthesize(0, 6))
    publish(bundle)
    first = Run.objects.get(standing__rank=1)
    publish(faster(bundle, 0.001, 1))
    entry = OutboxEntry.objects.get(topic="new_record")
    assert entry.payload["displaced"] == str(first.id)
    assert entry.payload["displacedValue"] == first.value
    assert entry.run.standing.rank == 1
    assert entry.payload["value"] == entry.run.value


def test_a_slower_run_is_no_record():
    bundle = real(synthesize(0, 6))
    publish(bundle)
    publish(faster(bundle, 1000, 1))
    assert topics() == ["new_run"] * 7


def test_retraction_and_supersession_are_told_of():
    publish(real(synthesize(0, 6)))
    first, second, third = Run.objects.order_by("id")[:3]
    retract(first.digest, reason="r", actor="a")
    supersede(second.digest, third.digest, reason="r", actor="a")
    assert topics()[6:] == ["retracted", "superseded"]
