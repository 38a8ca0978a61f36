"""The job document: what cannot be built."""

import pytest
from pydantic import ValidationError

from runs.reruns.documents.job import Job
from runs.reruns.documents.refusals import Refusal
from tests.reruns.examples import environment, instant, job_document, manifests


def test_a_job_reads_its_claim_from_its_manifests():
    job = Job.read(job_document(claim_ns=123_456))
    assert (job.claim.value, job.claim.statistic) == (123_456, "median")
    assert job.claimed_product == "nvidia-h200"
    assert job.claimed_version("torch") == "2.11.0+cu130"
    assert job.claimed_version("transformers") is None


def test_a_job_survives_a_round_trip():
    document = job_document()
    assert Job.read(document).plain() == document


@pytest.mark.parametrize(
    "changes",
    [
        {"installCommand": "pip install anything"},
        {"nonce": "AB" * 32},
        {"nonce": "ab" * 31},
        {"expiresAt": instant(-10)},
        {"issuedAt": "2026-06-01T12:00:00+02:00"},
        {"recipe": {"id": "../x/y", "version": 1}},
        {"recipe": {"id": "a/b", "version": 1}},
        {"recipe": {"id": "a/b/c/d", "version": 1}},
        {"recipe": {"id": "a/b/c", "version": 0}},
        {"recipe": {"id": "a/b/c", "version": 1, "path": "/x"}},
        {"limits": {"seconds": 0, "memoryBytes": 1, "logCharacters": 1}},
        {"limits": {"seconds": "480", "memoryBytes": 1, "logCharacters": 1}},
        {"siteSalt": None},
    ],
)
def test_it_refuses_what_is_out_of_form(changes):
    with pytest.raises(Refusal) as refusal:
        Job.read(job_document(**changes))
    assert refusal.value.code == "MALFORMED"


def test_it_refuses_two_versions_of_one_package():
    versions = [{"package": "torch", "version": version, "readFrom": "a label"} for version in ("2.10.0", "2.11.0")]
    with pytest.raises(Refusal, match="two claimed versions"):
        Job.read(job_document(claimedVersions=versions))


@pytest.mark.parametrize("role", ["workload", "implementation", "protocol", "environment"])
def test_it_refuses_manifests_that_do_not_belong_together(role):
    found = manifests()
    found["run"]["spec"][f"{role}Digest"] = "sha256:" + "0" * 64
    with pytest.raises(Refusal, match=f"does not refer to this {role}"):
        Job.read(job_document(manifests=found))


def test_it_refuses_a_manifest_of_another_kind():
    with pytest.raises(Refusal, match="workload manifest is a ExecutionEnvironment"):
        Job.read(job_document(manifests={**manifests(), "workload": environment()}))


def test_it_refuses_an_invalid_manifest():
    found = manifests()
    found["run"]["spec"]["extra"] = 1
    with pytest.raises(Refusal, match="a manifest is not valid"):
        Job.read(job_document(manifests=found))


def test_it_refuses_a_claim_that_is_no_latency():
    found = manifests()
    del found["run"]["spec"]["timing"]
    with pytest.raises(Refusal, match="only a positive latency"):
        Job.read(job_document(manifests=found))


def test_it_refuses_a_statistic_that_no_process_can_repeat():
    found = manifests()
    del found["run"]["spec"]["timing"]
    found["run"]["spec"]["measurements"] = [{"metric": "latency", "unit": "ns", "statistic": "p99", "value": 5}]
    with pytest.raises(Refusal, match="only a median or a mean"):
        Job.read(job_document(manifests=found))


def test_a_job_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Job.read(job_document()).job_id = "other"
