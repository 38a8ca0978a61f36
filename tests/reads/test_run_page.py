import uuid
from datetime import UTC, datetime

import pytest

from runs.manifests.bundle import Record
from runs.models import Run
from runs.publication import publish, retract, supersede
from runs.reads.run_page import changed_at, run_page, run_state
from runs.reads.values import ArtifactRow, Fact, Figure, Tensor
from tests import factories

pytestmark = pytest.mark.django_db


def page_of(manifest):
    found = run_page(Run.objects.get(digest=factories.digest(manifest)).id)
    assert found is not None
    return found[0]


def test_the_seed_record_shows_what_its_public_page_shows():
    publish(factories.seed_bundle())
    page = page_of(factories.SEED)
    assert page.title == (
        "Transformers · GroupNorm · batch = 128 · hidden = 512 · channels = 64 · channels_per_group = 4 · fp32"
    )
    assert page.primary == Figure("latency", "median", "ns", 73728)
    assert page.spread == (Figure("latency", "p20", "ns", 71712), Figure("latency", "p80", "ns", 73926))
    assert page.measurements == (page.primary, *page.spread)
    assert (page.rank, page.tied, page.ranked, page.group_runs, page.reasons) == (2, 0, 2, 2, ())
    assert page.source_native
    assert page.observed == "2026-02-28T00:23:31.000Z"
    assert page.observed_at == datetime(2026, 2, 28, 0, 23, 31, tzinfo=UTC)
    assert page.native_metrics == (
        ("ms_20", 0.07171200215816498),
        ("ms_50", 0.07372800260782242),
        ("ms_80", 0.0739263966679573),
    )
    assert (page.implementation.name, page.project.name, page.revision) == (
        "Transformers",
        "Hugging Face Transformers",
        None,
    )
    assert page.comparison_key.startswith(factories.SEED_KEY)
    assert (page.source.name, page.source.license) == ("Liger-Kernel benchmarks", "BSD-2-Clause")
    assert page.external_id == (
        "group_norm/backward/huggingface/nvidia-b200/batch128-channels64-channels_per_group4-hidden512-fp32/"
        "2026-02-28-00-23-31"
    )
    assert page.correctness == ()
    assert page.correctness_note == "Marked passed by the source; the correctness policy was not published."
    assert page.axes == (("batch", 128), ("hidden", 512), ("channels", 64), ("channels_per_group", 4))
    assert page.tensors == (
        Tensor("x", "fp32", (128, 64, 512)),
        Tensor("bias", "fp32", (64,)),
        Tensor("weight", "fp32", (64,)),
    )
    assert page.scalars == (Fact("eps", "fp32 1e-06"),)
    assert page.comparator == "not_asserted"
    assert page.protocol[:4] == (
        Fact("harness", "Liger-Kernel benchmark scripts"),
        Fact("timer", "cuda_events"),
        Fact("primaryStatistic", "median"),
        Fact("comparabilityFamily", "liger_kernel_bench"),
    )
    assert page.environment == (Fact("gpu", "NVIDIA B200 (sm_100)"),)
    assert page.artifacts == ()
    assert (page.level, page.status, page.illustrative, page.events) == ("reported", "passed", False, ())
    assert page.snapshot == Fact("all_benchmark_data.csv 0.8.4", "sha256:" + "1" * 64)


def test_the_manifest_is_shown_in_the_order_of_the_public_page():
    publish(factories.seed_bundle())
    manifest = page_of(factories.SEED).manifest
    assert list(manifest) == ["run", "protocol", "environment"]
    assert list(manifest["run"]) == ["kind", "spec", "metadata", "apiVersion"]
    assert list(manifest["run"]["spec"]) == [
        "status",
        "timing",
        "observedAt",
        "measurements",
        "sourceNative",
        "protocolDigest",
        "workloadDigest",
        "environmentDigest",
        "implementationDigest",
    ]
    assert list(manifest["protocol"]["spec"]) == ["harness", "measurement", "comparability"]
    assert manifest["run"]["metadata"]["labels"] == {"liger_version": "0.7.0"}


@pytest.mark.parametrize("others", [0, 30])
def test_a_page_takes_three_statements_whatever_stands_beside_it(others, django_assert_num_queries):
    publish(factories.seed_bundle())
    publish(factories.crowd(others, ties=others // 2))
    run = Run.objects.get(digest=factories.digest(factories.SEED))
    with django_assert_num_queries(3):
        found = run_page(run.id)
    assert found is not None
    assert (found[0].rank, found[0].tied, found[0].group_runs) == (2, others // 2, others + 2)
    with django_assert_num_queries(1):
        assert run_state(run.id) == found[1]


def test_there_is_no_page_of_a_run_that_does_not_exist():
    assert run_page(uuid.uuid4()) is None
    assert run_state(uuid.uuid4()) is None


def test_the_state_changes_when_another_run_joins_the_group():
    publish(factories.seed_bundle())
    run = Run.objects.get(digest=factories.digest(factories.SEED))
    before = run_state(run.id)
    publish(factories.filler(3))
    assert run_state(run.id) == before
    publish(factories.crowd(1))
    after = run_state(run.id)
    assert after != before
    assert changed_at(after) > changed_at(before)


def test_a_retracted_run_says_so_and_does_not_rank():
    publish(factories.seed_bundle())
    digest = factories.digest(factories.SEED)
    before = run_state(Run.objects.get(digest=digest).id)
    retract(digest, reason="measured the wrong kernel", actor="the source")
    page = page_of(factories.SEED)
    assert [(event.kind, event.reason, event.actor) for event in page.events] == [
        ("retracted", "measured the wrong kernel", "the source")
    ]
    assert (page.rank, page.tied, [reason.code for reason in page.reasons]) == (None, 0, ["RETRACTED"])
    assert page.reasons[0].sentence == "The run was retracted."
    assert run_state(page.id) != before


def test_a_superseded_run_names_its_successor():
    publish(factories.seed_bundle())
    supersede(
        factories.digest(factories.FIRST), factories.digest(factories.SEED), reason="corrected", actor="the source"
    )
    page = page_of(factories.FIRST)
    assert page.events[0].kind == "superseded"
    assert page.events[0].successor == page_of(factories.SEED).id
    assert page_of(factories.SEED).rank == 1


def test_a_failed_run_has_a_page_without_a_figure():
    failed = factories.run(
        factories.LIGER,
        factories.workload(),
        name="failed",
        title="failed",
        median=None,
        observed_at="2026-03-01T00:00:00Z",
        status="compile_error",
        evidence={"logs": {"uri": "https://example.org/log.txt", "digest": "sha256:" + "a" * 64}},
    )
    publish(factories.bundle(failed))
    page = page_of(failed)
    assert (page.primary, page.spread, page.measurements, page.interval) == (None, (), (), None)
    assert [reason.code for reason in page.reasons] == ["NOT_PASSED", "NO_PRIMARY_MEASUREMENT"]
    assert (
        page.correctness_note
        == "The contributor reports that the implementation did not compile; no result was checked."
    )
    assert page.artifacts == (ArtifactRow("logs", "https://example.org/log.txt", "sha256:" + "a" * 64),)
    assert not page.source_native


def test_a_full_record_shows_samples_interval_settings_and_errors():
    measured = factories.run(
        factories.LIGER,
        factories.workload(),
        name="full",
        title="full",
        median=None,
        observed_at="2026-03-01T00:00:00Z",
        environment=factories.H100,
        timing={
            "primaryStatistic": "median",
            "samples": 40,
            "latencyNs": {"median": 5000, "mean": 5100, "mad": 20, "confidence95": [4950, 5050]},
        },
        measurements=[{"metric": "peak_memory", "statistic": "maximum", "unit": "bytes", "value": 2**20}],
        correctness={"comparator": "allclose", "maximumAbsoluteError": 1e-06},
    )
    publish(factories.bundle(measured))
    page = page_of(measured)
    assert page.primary == Figure("latency", "median", "ns", 5000, 40)
    assert page.interval == (4950, 5050)
    assert {(figure.statistic, figure.value) for figure in page.spread} == {("mean", 5100), ("mad", 20)}
    assert page.measurements[-1] == Figure("peak_memory", "maximum", "bytes", 2**20)
    assert page.environment == (
        Fact("gpu", "NVIDIA H100 PCIe (sm_90)"),
        Fact("driver", "580.1"),
        Fact("framework", "pytorch 2.11"),
        Fact("libraries", "a 1 · b 2"),
        Fact("clocksLocked", "false"),
        Fact("powerLimitWatts", "350"),
    )
    assert page.correctness == (Fact("comparator", "allclose"), Fact("maximum absolute error", "1e-06"))
    assert page.correctness_note == (
        "Marked passed by the contributor, which states how far the result was from the reference."
    )
    assert page.hardware.slug == "nvidia-h100-pcie"
    assert page.hardware.name == "NVIDIA H100 PCIe"


def test_a_suite_shows_its_cases_and_keeps_a_score_as_it_is():
    suite = factories.manifest(
        "WorkloadSuite",
        "suite",
        {
            "operationSpecDigest": factories.digest(factories.GROUP_NORM),
            "cases": [
                {"externalId": "0", "axes": {"k": 16384, "seed": 1111}},
                {"externalId": "1", "axes": {"k": 7168}},
            ],
            "aggregation": {"metric": "score", "statistic": "geomean"},
            "correctness": {"comparator": "eval", "description": "all cases must pass"},
        },
    )
    scored = factories.run(
        factories.LIGER,
        suite,
        name="scored",
        title="scored",
        median=None,
        observed_at="2026-03-01T00:00:00Z",
        measurements=[{"metric": "score", "statistic": "geomean", "unit": "s", "value": 2.184426697471969e-05}],
        sourceNative={"source": "board"},
    )
    publish(factories.bundle(scored, subjects=(*factories.SUBJECTS, Record(suite))))
    page = page_of(scored)
    assert page.cases == (("0", "k = 16384 · seed = 1111"), ("1", "k = 7168"))
    assert (page.axes, page.tensors, page.workload) == ((), (), "suite of 2 cases")
    assert page.measurements == (Figure("score", "geomean", "s", 2.184426697471969e-05),)
    assert page.correctness == (Fact("rule", "all cases must pass"),)
    assert page.correctness_note == (
        "Marked passed by the source under the comparator eval; the errors themselves were not published."
    )
    assert page.spread == ()


def test_an_illustrative_run_says_so():
    publish(factories.filler(1, illustrative=True))
    assert run_page(Run.objects.get().id)[0].illustrative
