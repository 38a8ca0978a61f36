"""What NVML says of a GPU while a batch runs: sampled by the parent, beyond the reach of what runs on the device."""

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

INTERVAL_S = 0.05
_COMPANY_GRACE_S = 3.0
_READS_PER_LOOK = 10

# Bits of NVML's clocks event reasons.
POWER_CAP = 0x04
THROTTLING = 0x08 | 0x20 | 0x40 | 0x80  # hardware slowdown, software and hardware thermal slowdown, power brake
COLUMNS = ("at_ms", "sm_mhz", "memory_mhz", "celsius", "watts", "reasons", "others")


@dataclass
class Family:
    """Processes of ours: their ids, which of them may hold the device, and when each ended."""

    launched: set[int] = field(default_factory=set)
    started: set[int] = field(default_factory=set)
    ended: dict[int, float] = field(default_factory=dict)

    def launch(self, pid: int) -> None:
        """A child was launched; it keeps off the device for now."""
        self.launched.add(pid)

    def start(self, pid: int) -> None:
        """A launched child is about to be let on the device."""
        self.started.add(pid)

    def remove(self, pid: int) -> None:
        """A child has ended; the driver may list it a moment longer."""
        self.ended[pid] = time.monotonic()

    def count(self) -> int:
        """How many of ours the driver may list now."""
        now = time.monotonic()
        return sum(now - self.ended.get(pid, now) < _COMPANY_GRACE_S for pid in self.started)

    def strangers(self, pids: list[int]) -> int:
        """How many of the listed processes are not ours.

        Where none of ours appears under its own id the driver numbers processes of another namespace: then the number
        of processes is all there is to compare, and one of ours that only waits must not stand for a stranger.
        """
        if any(pid in self.launched for pid in pids):
            return sum(pid not in self.launched for pid in pids)
        return max(0, len(pids) - self.count())


def nvml() -> Any:
    """NVML's Python module. Raises ImportError on a host without it."""
    return import_module("pynvml")


def find_device(uuid: str | None) -> Any | None:
    """The NVML handle of the GPU with this UUID (the first GPU without one); None where there is no NVML."""
    try:
        library = nvml()
    except ImportError:
        return None
    try:
        library.nvmlInit()
        handles = [library.nvmlDeviceGetHandleByIndex(index) for index in range(library.nvmlDeviceGetCount())]
        named = [handle for handle in handles if uuid is None or uuid in str(library.nvmlDeviceGetUUID(handle))]
    except library.NVMLError:
        return None
    return named[0] if named else None


class Telemetry:
    """Samples a GPU from a thread until stopped. ``read`` gives one row of COLUMNS after the first."""

    def __init__(self, read: Callable[[], tuple[float, ...]] | None) -> None:
        self._read = read
        self._rows: list[tuple[float, ...]] = []
        self._begun = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)

    def start(self) -> None:
        """Begin sampling at 20 Hz."""
        if self._read is not None:
            self._thread.start()

    def stop(self) -> None:
        """End sampling."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        assert self._read is not None
        due = time.monotonic()
        while not self._stop.is_set():
            with contextlib.suppress(Exception):  # one reading that fails is one sample less, which the rate shows
                self._rows.append((round((time.monotonic() - self._begun) * 1000), *self._read()))
            due += INTERVAL_S
            self._stop.wait(max(0.0, due - time.monotonic()))

    def void_since(self, since: float) -> list[str]:
        """Which of throttled and company showed since a moment of the monotonic clock; empty without samples."""
        begun_ms = (since - self._begun) * 1000
        rows = [row for row in self._rows if row[0] >= begun_ms]
        return _disturbances(summarise(rows)) if rows else []

    def report(self) -> dict[str, Any]:
        """Columns of samples and their summary, plain values: {available, hertz, columns, samples, summary}."""
        if self._read is None or not self._rows:
            return {"available": False}
        return {
            "available": True,
            "hertz": round(1000 * (len(self._rows) - 1) / max(1.0, self._rows[-1][0] - self._rows[0][0]), 2),
            "columns": list(COLUMNS),
            "samples": [list(column) for column in zip(*self._rows, strict=True)],
            "summary": summarise(self._rows),
        }


def summarise(rows: list[tuple[float, ...]]) -> dict[str, Any]:
    """Ranges of the samples, and how many throttled, were power-capped or had company."""
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    reasons = [int(value) for value in columns["reasons"]]
    return {
        **{f"{name}_range": [min(columns[name]), max(columns[name])] for name in COLUMNS[1:5]},
        "samples": len(rows),
        "throttled_samples": sum(bool(value & THROTTLING) for value in reasons),
        "power_capped_samples": sum(bool(value & POWER_CAP) for value in reasons),
        "samples_with_company": sum(value > 0 for value in columns["others"]),
    }


def void_reasons(report: dict[str, Any], *, gpu: bool) -> list[str]:
    """Why telemetry makes a batch void: throttled, company, telemetry_missing. A CPU runner has no such telemetry."""
    if not gpu:
        return []
    if not report["available"] or report["hertz"] < 10:
        return ["telemetry_missing"]
    return _disturbances(report["summary"])


def _disturbances(summary: dict[str, Any]) -> list[str]:
    found = []
    if summary["throttled_samples"]:
        found.append("throttled")
    if summary["samples_with_company"]:
        found.append("company")
    return found


def nvml_reader(handle: Any, family: Family) -> Callable[[], tuple[float, ...]]:
    """A function that reads one row of telemetry from NVML."""
    pynvml = nvml()
    reasons = getattr(pynvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
    reasons = reasons or pynvml.nvmlDeviceGetCurrentClocksThrottleReasons

    looks: list[int] = [0, 0]
    reads = 0

    def company() -> int:
        """Strangers that two looks in a row have seen: the list is read at 2 Hz, as reading it is slow."""
        nonlocal reads
        if reads % _READS_PER_LOOK == 0:
            pids = [process.pid for process in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)]
            looks[:] = [looks[1], family.strangers(pids)]
        reads += 1
        return min(looks)

    def read() -> tuple[float, ...]:
        return (
            pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM),
            pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM),
            pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
            round(pynvml.nvmlDeviceGetPowerUsage(handle) / 1000, 1),
            int(reasons(handle)),
            company(),
        )

    return read
