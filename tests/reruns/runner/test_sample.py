"""The sample claim of this host's CPU is one that the site imports and can have rerun."""

from __future__ import annotations

import json

import pytest

from runs.manifests.manifest import parse_manifest
from runs.reruns.claims import Claim, read_claim
from runs.reruns.harness.environment import environment_spec
from runs.reruns.runner import sample
from runs.sources.liger.archive import read_local
from runs.sources.liger.build import build_bundle


def measured(hidden: int) -> dict:
    rounds = [{"event_ns": {"median": 1e6 * middle, "p20": 9e5, "p80": 2e6}} for middle in (1, 2, 4)]
    return {"kind": "result", "id": str(hidden), "status": "measured", "reason": None, "rounds": rounds}


def test_a_sample_is_imported_and_can_be_rerun_on_a_cpu(tmp_path, monkeypatch):
    environment = environment_spec({}, {"python": "3.11.7", "torch": "2.13.0"}, None, None)
    seen = []

    def execute(jobs, **_):
        seen.extend(jobs)
        return iter([*(measured(int(job["id"])) for job in jobs), {"kind": "batch", "environment": environment}])

    monkeypatch.setattr(sample, "execute_batch", execute)
    assert sample.main([str(tmp_path)]) == 0
    local = read_local(tmp_path / "claim.csv", retrieved_at="2026-12-01T00:00:00.000Z")
    described = parse_manifest(json.loads((tmp_path / "environment.json").read_text())).document()
    bundle, report = build_bundle(local.files, local.snapshot, environment=described)
    assert (report.rows, report.published) == (2, 2)
    records = {record.manifest["kind"]: record.manifest for record in bundle.records}
    run = records["BenchmarkRun"]
    assert run["spec"]["timing"]["latencyNs"]["median"] == 2_000_000  # the geometric mean of 1, 2 and 4 ms
    claim = read_claim("liger-rms-norm", run["spec"], run["metadata"], records["ExecutionEnvironment"]["spec"])
    assert isinstance(claim, Claim)
    assert claim.product == "cpu"
    assert ("torch", "2.13.0", "the environment's software") in claim.versions
    workloads = [record.manifest["spec"] for record in bundle.records if record.manifest["kind"] == "WorkloadCase"]
    assert [{"axes": w["axes"], "tensors": w["tensors"]} for w in workloads] == [
        {"axes": job["workload"]["axes"], "tensors": job["workload"]["tensors"]} for job in seen
    ]


def test_a_host_that_measures_nothing_says_so(tmp_path, monkeypatch):
    failed = {"kind": "result", "id": "1", "status": "crashed", "reason": {"code": "crashed", "message": "gone"}}
    monkeypatch.setattr(sample, "execute_batch", lambda *_, **__: iter([failed, {"kind": "batch"}]))
    with pytest.raises(SystemExit, match="gone"):
        sample.main([str(tmp_path)])
