"""The ExecutionEnvironment of this host, read off it and never configured."""

import contextlib
import os
import platform
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from runs.reruns.harness.telemetry import nvml

CPU_PRODUCT = "CPU"


def environment_spec(
    device_facts: Mapping[str, Any], versions: Mapping[str, str], handle: Any | None, clocks: tuple[float, float] | None
) -> dict[str, Any]:
    """An ExecutionEnvironment spec: hardware, software, settings; what cannot be read is absent.

    ``device_facts`` is what torch says of the GPU (empty on the CPU), ``handle`` NVML's, ``clocks`` the least and
    greatest SM clock seen in the batch: clocks that moved were not locked, clocks that did not may or may not be.
    """
    gpu = bool(device_facts)
    hardware = _gpu_hardware(device_facts, handle) if gpu else _cpu_hardware()
    libraries = {name: value for name, value in versions.items() if name != "torch"}
    software: dict[str, Any] = {
        "operatingSystem": _operating_system(),
        "kernel": platform.release(),
        # Named as the package is, so that a claim about the package can be read off it.
        "framework": {"name": "torch", "version": versions["torch"]},
        "libraries": libraries,
    }
    settings: dict[str, Any] = {}
    if gpu:
        if device_facts.get("cuda"):
            software["cudaToolkit"] = str(device_facts["cuda"])
        if handle is not None:
            software |= _nvml_values({"driver": lambda library: str(library.nvmlSystemGetDriverVersion())})
            settings = _nvml_settings(handle)
        if clocks is not None and clocks[0] != clocks[1]:
            settings["clocksLocked"] = False
    spec: dict[str, Any] = {"hardware": hardware, "software": software}
    if settings:
        spec["settings"] = settings
    return spec


def _nvml_values(readers: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """What each reader gives, without those that NVML does not support here."""
    library = nvml()
    values: dict[str, Any] = {}
    for name, reader in readers.items():
        with contextlib.suppress(library.NVMLError):
            values[name] = reader(library)
    return values


def _gpu_hardware(facts: Mapping[str, Any], handle: Any | None) -> dict[str, Any]:
    hardware = {
        "vendor": "nvidia",
        "product": facts["name"],
        "architecture": facts["architecture"],
        "memoryBytes": int(facts["memory_bytes"]),
        "count": 1,
    }
    if handle is not None:
        hardware |= _nvml_values({"memoryBytes": lambda library: int(library.nvmlDeviceGetMemoryInfo(handle).total)})
    return hardware


def _nvml_settings(handle: Any) -> dict[str, Any]:
    return _nvml_values(
        {
            "powerLimitWatts": lambda library: round(library.nvmlDeviceGetPowerManagementLimit(handle) / 1000),
            "persistenceMode": lambda library: bool(library.nvmlDeviceGetPersistenceMode(handle)),
            "eccEnabled": lambda library: bool(library.nvmlDeviceGetEccMode(handle)[0]),
        }
    )


def _cpu_hardware() -> dict[str, Any]:
    architecture = re.sub(r"[^a-z0-9_]", "_", platform.machine().lower()) or "unknown"
    return {
        "vendor": _cpu_vendor(),
        "product": CPU_PRODUCT,
        "architecture": architecture,
        "memoryBytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }


def _cpu_vendor() -> str:
    with contextlib.suppress(OSError):
        found = re.search(r"vendor_id\s*:\s*(\S+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        if found:
            return {"GenuineIntel": "intel", "AuthenticAMD": "amd"}.get(found.group(1), "other")
    return "arm" if platform.machine() in ("aarch64", "arm64") else "other"


def _operating_system() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return platform.system()


def gpu_uuid(facts: Mapping[str, Any]) -> str | None:
    """The physical GPU's UUID as NVML writes it; None on the CPU."""
    uuid = facts.get("uuid")
    return None if uuid is None else f"GPU-{uuid}".replace("GPU-GPU-", "GPU-")
