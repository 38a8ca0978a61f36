"""Whole batches on the CPU, with real processes."""

import json
import os
from pathlib import Path

import pytest

pytest.importorskip("torch")

from runs.reruns.harness.batch import execute_batch
from runs.reruns.harness.canary_names import CANARIES
from runs.reruns.harness.limits import CHECK_DISTRIBUTIONS, Limits
from runs.reruns.harness.seeds import derive_seed
from tests.harness.workloads import job

QUICK = Limits(rounds=2, more_rounds=3, job_s=20.0)


def run(jobs, folder: Path, **options):
    """Results by id, and the batch document."""
    options = {"salt": b"site", "limits": QUICK, "scratch_parent": folder, **options}
    *results, batch = execute_batch(jobs, **options)
    assert batch["kind"] == "batch"
    json.dumps([results, batch], allow_nan=False)
    return {result["id"]: result for result in results}, batch


HEALTHY = [
    job("liger-softmax", "torch", "forward"),
    job("liger-layer-norm", "torch", "backward"),
    job("liger-softmax", "liger", "forward"),
    job("liger-fused-add-rms-norm", "torch", "full", "0.2.1"),
    job("liger-layer-norm", "torch", "full", id="late", canary="late"),
]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("healthy")
    asked: list[str] = []

    def undecided(result) -> bool:
        asked.append(result["id"])
        return result["id"].startswith("liger-softmax")

    results, batch = run(HEALTHY, folder, undecided=undecided)
    return {"results": results, "batch": batch, "asked": asked, "folder": folder}


def test_a_job_that_passes_is_timed_in_fresh_processes(healthy):
    result = healthy["results"]["liger-layer-norm/torch/backward"]
    assert result["status"] == "measured"
    assert result["complete"]
    assert len({entry["pid"] for entry in result["rounds"]}) == 2
    for entry in result["rounds"]:
        event = entry["event_ns"]
        assert event["n"] == len(event["samples"])
        assert event["minimum"] <= event["p20"] <= event["median"] <= event["p80"] <= event["maximum"]
        assert entry["device_ns"] > 0
        assert entry["host_ns"] > 0


def test_jobs_of_a_round_share_a_process(healthy):
    first, second = (healthy["results"][name] for name in ("liger-softmax/torch/forward", HEALTHY[1]["id"]))
    assert first["rounds"][0]["pid"] == second["rounds"][0]["pid"]


def test_only_what_is_undecided_gets_more_rounds(healthy):
    assert sorted(healthy["asked"]) == ["liger-layer-norm/torch/backward", "liger-softmax/torch/forward"]
    assert len(healthy["results"]["liger-softmax/torch/forward"]["rounds"]) == 3
    assert len(healthy["results"]["liger-layer-norm/torch/backward"]["rounds"]) == 2


def test_seeds_are_revealed_and_can_be_derived_again(healthy):
    result, batch = healthy["results"]["liger-layer-norm/torch/backward"], healthy["batch"]
    checks = result["correctness"]["checks"]
    assert [check["distribution"] for check in checks] == list(CHECK_DISTRIBUTIONS)
    for check in checks:
        seed = derive_seed(
            bytes.fromhex(batch["runner_bytes"]),
            site_salt=b"site",
            job_digest=result["job_digest"],
            purpose=check["purpose"],
        )
        assert check["seed"] == seed.hex()
    assert len({check["seed"] for check in checks}) == len(checks) >= 3


def test_every_canary_is_caught(healthy):
    canaries = healthy["batch"]["canaries"]
    assert set(canaries) == set(CANARIES)
    assert all(canary["caught"] and canary["by"] for canary in canaries.values())
    assert "late" in canaries["late"]["by"]
    assert healthy["batch"]["void"] == []


def test_a_canary_as_a_job_is_incorrect_and_never_timed(healthy):
    result = healthy["results"]["late"]
    assert result["status"] == "incorrect"
    assert result["reason"]["code"] == "check_failed"
    assert result["rounds"] == []
    assert result["summary"] is None


def test_an_implementation_that_is_not_installed_is_the_jobs_failure(healthy):
    assert healthy["results"]["liger-softmax/liger/forward"]["status"] in ("package_missing", "runtime_error")


def test_a_claim_without_a_recipe_is_not_rerunnable(healthy):
    result = healthy["results"]["liger-fused-add-rms-norm/torch/full"]
    assert (result["status"], result["reason"]["code"]) == ("not_rerunnable", "protocol_unpublished")


def test_the_environment_is_read_off_the_host(healthy):
    environment = healthy["batch"]["environment"]
    assert environment["hardware"]["product"] == "CPU"
    assert environment["hardware"]["memoryBytes"] > 1 << 30
    assert environment["software"]["framework"]["name"] == "torch"
    assert environment["software"]["kernel"] == os.uname().release
    assert healthy["batch"]["gpu_uuid"] is None


def test_phases_account_for_the_whole(healthy):
    phases = dict(healthy["batch"]["phases"])
    whole, _needed = phases.pop("whole_s"), phases.pop("timing_needed_s")
    assert sum(phases.values()) == pytest.approx(whole, abs=0.01)
    assert phases["timing_s"] > 0


def test_nothing_is_left_of_a_batch(healthy):
    assert list(healthy["folder"].glob("batch-*")) == []
