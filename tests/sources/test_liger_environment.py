"""An environment given for a file stands in for what its rows say of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.manifests.canonical import manifest_digest
from runs.sources.liger.build import build_bundle
from tests.sources.expected import identities
from tests.sources.lines import document, line

H200 = {
    "apiVersion": "kernelindex.dev/v1alpha1",
    "kind": "ExecutionEnvironment",
    "metadata": {"name": "lab-h200", "title": "Lab · H200"},
    "spec": {
        "hardware": {"vendor": "nvidia", "product": "NVIDIA H200", "architecture": "sm_90"},
        "software": {"driver": "580.159.04", "framework": {"name": "torch", "version": "2.11.0+cu130"}},
    },
}


def test_the_runs_refer_to_the_environment_given():
    bundle, _ = build_bundle({"f.csv": document(line())}, environment=H200)
    (identity,) = identities(bundle).values()
    assert identity["environment"] == manifest_digest(H200)
    assert [each.manifest for each in bundle.records if each.manifest["kind"] == "ExecutionEnvironment"] == [H200]


def test_a_row_of_another_gpu_is_held_back():
    _, report = build_bundle({"f.csv": document(line(), line(gpu_name="NVIDIA B200"))}, environment=H200)
    assert report.outcomes() == {"published": 1, "environment_other_gpu": 1}


@pytest.mark.parametrize("gpu", ["NVIDIA H100 PCIe", "NVIDIA H100 NVL"])
def test_the_product_is_enough_where_the_driver_adds_a_form_factor(gpu):
    h100 = {**H200, "spec": {"hardware": {"vendor": "nvidia", "product": "NVIDIA H100", "architecture": "sm_90"}}}
    _, report = build_bundle({"f.csv": document(line(gpu_name=gpu))}, environment=h100)
    assert report.published == 1


def test_an_environment_makes_a_gpu_known():
    spec = {"hardware": {"vendor": "nvidia", "product": "NVIDIA Z9", "architecture": "sm_200"}, "software": {}}
    _, report = build_bundle({"f.csv": document(line(gpu_name="NVIDIA Z9"))}, environment={**H200, "spec": spec})
    assert report.published == 1


def test_without_one_the_environment_is_the_gpu_alone():
    bundle, _ = build_bundle({"f.csv": document(line(gpu_name="NVIDIA H100 PCIe"))})
    (environment,) = (each.manifest for each in bundle.records if each.manifest["kind"] == "ExecutionEnvironment")
    assert environment["metadata"] == {
        "name": "liger-bench-nvidia-h100-pcie",
        "title": "Liger benchmark host · H100 PCIe",
    }
    assert environment["spec"]["software"] == {}


def test_a_path_is_read_like_its_bytes(tmp_path: Path):
    path = tmp_path / "f.csv"
    path.write_bytes(document(line()))
    assert build_bundle({"f.csv": path}) == build_bundle({"f.csv": path.read_bytes()})
