import os
import time

from runs.reruns.harness.telemetry import COLUMNS, Family, Telemetry, nvml_reader, summarise, void_reasons

STEADY = (1980, 3201, 40, 300.0, 0, 0)


def _report(*rows, hertz: float = 20.0):
    return {
        "available": True,
        "hertz": hertz,
        "summary": summarise([(index * 50, *row) for index, row in enumerate(rows)]),
    }


def test_a_steady_gpu_voids_nothing():
    assert void_reasons(_report(STEADY, STEADY), gpu=True) == []


def test_a_power_cap_is_reported_but_is_no_throttling():
    report = _report((1700, 3201, 60, 700.0, 0x04, 0), STEADY)
    assert report["summary"]["power_capped_samples"] == 1
    assert void_reasons(report, gpu=True) == []


def test_thermal_and_hardware_slowdowns_void():
    for reason in (0x08, 0x20, 0x40, 0x80):
        assert void_reasons(_report(STEADY, (1500, 3201, 88, 650.0, reason, 0)), gpu=True) == ["throttled"]


def test_company_voids():
    assert void_reasons(_report(STEADY, (1980, 3201, 40, 300.0, 0, 1)), gpu=True) == ["company"]


def test_a_gpu_without_telemetry_or_with_too_little_of_it_is_void():
    assert void_reasons({"available": False}, gpu=True) == ["telemetry_missing"]
    assert void_reasons(_report(STEADY, hertz=9.0), gpu=True) == ["telemetry_missing"]
    assert void_reasons({"available": False}, gpu=False) == []


def test_it_samples_at_ten_hertz_or_better_until_stopped():
    telemetry = Telemetry(lambda: STEADY)
    telemetry.start()
    time.sleep(1.0)
    telemetry.stop()
    report = telemetry.report()
    assert report["hertz"] > 10
    assert report["columns"] == list(COLUMNS)
    assert len(report["samples"]) == len(COLUMNS)
    assert report["summary"]["sm_mhz_range"] == [1980, 1980]


def test_a_reading_that_fails_is_one_sample_less():
    readings = iter([STEADY])
    telemetry = Telemetry(lambda: next(readings))
    telemetry.start()
    time.sleep(0.2)
    telemetry.stop()
    assert telemetry.report()["summary"]["samples"] == 1


def test_only_what_came_since_voids_a_round():
    rows = iter([(1500, 3201, 88, 650.0, 0x20, 0), STEADY, STEADY])
    read_at: list[float] = []

    def read():
        read_at.append(time.monotonic())
        return next(rows)

    telemetry = Telemetry(read)
    begun = time.monotonic()
    telemetry.start()
    time.sleep(0.3)
    telemetry.stop()
    assert telemetry.void_since(begun - 1) == ["throttled"]
    assert telemetry.void_since(read_at[0] + 0.002) == []


def test_our_own_processes_are_no_company():
    family = Family()
    family.launch(10)
    assert family.strangers([10]) == 0
    assert family.strangers([10, 11]) == 1


def test_where_ids_differ_the_number_of_processes_decides():
    family = Family()
    family.launch(10)
    family.start(10)
    assert family.strangers([4001]) == 0
    assert family.strangers([4001, 4002]) == 1
    family.ended[10] = time.monotonic() - 60
    assert family.strangers([4001]) == 1


def test_a_process_of_ours_that_waits_off_the_device_hides_no_stranger():
    family = Family()
    for pid in (10, 11, 12):
        family.launch(pid)
    family.start(10)
    assert family.strangers([4001, 4002]) == 1
    assert family.strangers([10, 4002]) == 1


class _FakeNvml:
    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    def __init__(self):
        self.pids = [os.getpid()]

    def nvmlDeviceGetComputeRunningProcesses(self, _handle):
        return [type("Process", (), {"pid": pid}) for pid in self.pids]

    def nvmlDeviceGetClockInfo(self, _handle, which):
        return {1: 1980, 2: 3201}[which]

    def nvmlDeviceGetTemperature(self, _handle, _sensor):
        return 41

    def nvmlDeviceGetPowerUsage(self, _handle):
        return 345_678

    def nvmlDeviceGetCurrentClocksEventReasons(self, _handle):
        return 4


def test_a_row_is_read_off_nvml_and_company_has_to_be_seen_twice(monkeypatch):
    fake = _FakeNvml()
    monkeypatch.setattr("runs.reruns.harness.telemetry.nvml", lambda: fake)
    monkeypatch.setattr("runs.reruns.harness.telemetry._READS_PER_LOOK", 1)
    family = Family()
    family.launch(os.getpid())
    read = nvml_reader(object(), family)
    assert read() == (1980, 3201, 41, 345.7, 4, 0)
    fake.pids.append(77)
    assert read()[-1] == 0
    assert read()[-1] == 1
