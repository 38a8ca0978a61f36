import sys
from importlib.metadata import version
from types import SimpleNamespace

import pytest

from runs.reruns.harness import environment
from runs.reruns.harness.environment import environment_spec, gpu_uuid
from runs.reruns.harness.versions import package_versions

FACTS = {
    "name": "NVIDIA H200",
    "architecture": "sm_90",
    "memory_bytes": 150_000_000_000,
    "uuid": "01234567-89ab-cdef-0123-456789abcdef",
    "count": 8,
    "cuda": "13.0",
}
VERSIONS = {"python": "3.12.3", "torch": "2.11.0+cu130", "triton": "3.6.0", "liger-kernel": "0.8.5"}


class _NvmlError(Exception):
    pass


class _FakeNvml:
    NVMLError = _NvmlError

    def nvmlSystemGetDriverVersion(self):
        return "580.159.04"

    def nvmlDeviceGetMemoryInfo(self, _handle):
        return type("Memory", (), {"total": 143_771 << 20})

    def nvmlDeviceGetPowerManagementLimit(self, _handle):
        return 700_000

    def nvmlDeviceGetPersistenceMode(self, _handle):
        return 1

    def nvmlDeviceGetEccMode(self, _handle):
        raise _NvmlError("not supported")


@pytest.fixture
def nvml(monkeypatch):
    monkeypatch.setattr(environment, "nvml", _FakeNvml)


def test_a_gpu_host_is_read_off_torch_and_nvml(nvml):
    spec = environment_spec(FACTS, VERSIONS, object(), (345.0, 1980.0))
    assert spec["hardware"] == {
        "vendor": "nvidia",
        "product": "NVIDIA H200",
        "architecture": "sm_90",
        "memoryBytes": 143_771 << 20,
        "count": 1,
    }
    assert spec["software"]["driver"] == "580.159.04"
    assert spec["software"]["cudaToolkit"] == "13.0"
    assert spec["software"]["framework"] == {"name": "torch", "version": "2.11.0+cu130"}
    assert spec["software"]["libraries"] == {"python": "3.12.3", "triton": "3.6.0", "liger-kernel": "0.8.5"}
    assert spec["settings"] == {"powerLimitWatts": 700, "persistenceMode": True, "clocksLocked": False}


def test_what_cannot_be_read_is_absent(nvml):
    spec = environment_spec(FACTS, VERSIONS, object(), (1980.0, 1980.0))
    assert "eccEnabled" not in spec["settings"]
    assert "clocksLocked" not in spec["settings"]
    assert "settings" not in environment_spec(FACTS, VERSIONS, None, None)


def test_a_host_without_a_gpu_is_the_product_cpu():
    spec = environment_spec({}, VERSIONS, None, None)
    assert spec["hardware"]["product"] == "CPU"
    assert "driver" not in spec["software"]
    assert "settings" not in spec


@pytest.mark.parametrize("uuid", ["01234567", "GPU-01234567"])
def test_the_uuid_is_written_as_nvml_writes_it(uuid: str):
    assert gpu_uuid({"uuid": uuid}) == "GPU-01234567"
    assert gpu_uuid({}) is None


def test_an_imported_package_says_its_version_itself_with_the_build(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__="2.11.0+cu130"))
    monkeypatch.setattr("runs.reruns.harness.versions.PACKAGES", ("torch", "pytest", "no-such-package"))
    found = package_versions()
    assert found["torch"] == "2.11.0+cu130"
    assert found["pytest"] == version("pytest")
    assert set(found) == {"python", "torch", "pytest"}
