"""How a batch goes, with processes that stand in for those that need torch."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from runs.reruns.harness.batch import execute_batch
from runs.reruns.harness.errors import HarnessError
from runs.reruns.harness.limits import Limits
from runs.reruns.harness.pool import CHECKER, EXECUTOR
from tests.harness.stand_in import done, install
from tests.harness.workloads import job

SECRETS = {"BROKER_URL": "amqp://user:secret@broker", "RUNNER_KEY": "secret", "DJANGO_SECRET_KEY": "secret"}
QUICK = Limits(rounds=2, more_rounds=3, job_s=1.5)
HEALTHY = ["one", "two", "three"]


@pytest.fixture
def log(monkeypatch, tmp_path):
    return install(monkeypatch, tmp_path)


def started(names, folder: Path, **options):
    """The documents of a batch of jobs with these ids, one at a time."""
    jobs = [job("liger-softmax", "torch", "forward", id=name) for name in names]
    return execute_batch(jobs, **{"salt": b"site", "limits": QUICK, "scratch_parent": folder, **options})


def run(names, folder: Path, **options):
    """Results by id, and the batch document."""
    *results, batch = started(names, folder, **options)
    json.dumps([results, batch], allow_nan=False)
    return {result["id"]: result for result in results}, batch


def pids(log: Path, role: str = EXECUTOR, did: str = "import") -> list[int]:
    return [entry["pid"] for entry in done(log) if entry["role"] == role and entry["did"] == did]


def is_gone(pid: int) -> bool:
    """Whether a process has ended: one that nobody has waited for yet is a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def nobody_is_left(log: Path) -> bool:
    return all(is_gone(entry["pid"]) for entry in done(log))


# Failures


@pytest.fixture(scope="module")
def misbehaving(tmp_path_factory):
    folder = tmp_path_factory.mktemp("misbehaving")
    names = [
        "crash in check",
        "hang in check",
        "out_of_memory in check",
        "device_lost in check",
        "raise in check",
        "write garbage in check",
        "raise in reference",
        "crash in timing",
        "crash in device time",
        "crash in graph",
        "print in check",
        "spawn in timing",
    ]
    with pytest.MonkeyPatch.context() as patch:
        log = install(patch, folder)
        for name, value in SECRETS.items():
            patch.setenv(name, value)
        results, batch = run(names, folder)
    return {"results": results, "batch": batch, "log": log}


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("crash in check", "crashed"),
        ("hang in check", "timeout"),
        ("out_of_memory in check", "out_of_memory"),
        ("device_lost in check", "crashed"),
        ("raise in check", "runtime_error"),
        ("write garbage in check", "protocol_broken"),
        ("raise in reference", "invalid_reference"),
        ("crash in timing", "crashed"),
        ("crash in device time", "crashed"),
    ],
)
def test_a_failure_is_charged_to_the_job_that_ran(misbehaving, name: str, status: str):
    result = misbehaving["results"][name]
    assert result["status"] == status
    assert result["reason"]["message"]
    assert result["rounds"] == []


@pytest.mark.parametrize("name", ["print in check", "spawn in timing", "crash in graph"])
def test_the_batch_goes_on_after_every_failure(misbehaving, name: str):
    result = misbehaving["results"][name]
    assert (result["status"], result["complete"]) == ("measured", True)
    assert misbehaving["batch"]["restarts"] >= 5
    assert misbehaving["batch"]["void"] == []


def test_a_capture_that_ends_its_process_is_charged_to_nobody(misbehaving):
    graphs = misbehaving["results"]["crash in graph"]["graphs"]
    assert {graph["reason"] for graph in graphs} == {"crashed"}


def test_a_crash_while_timing_keeps_the_checks(misbehaving):
    assert misbehaving["results"]["crash in timing"]["correctness"]["passed"]


def test_the_executor_knows_no_secret(misbehaving):
    environments = [entry["environment"] for entry in done(misbehaving["log"]) if entry["did"] == "hello"]
    assert environments
    for environment in environments:
        assert not set(SECRETS) & set(environment)
        assert not any("secret" in value for value in environment.values())


def test_what_an_implementation_started_ends_with_its_process(misbehaving):
    children = [entry["child"] for entry in done(misbehaving["log"]) if entry["did"] == "spawn"]
    assert children
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and not all(is_gone(child) for child in children):
        time.sleep(0.02)
    assert all(is_gone(child) for child in children)
    assert nobody_is_left(misbehaving["log"])


# Processes that are started ahead


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """A batch whose first job stays undecided, with what its processes did."""
    folder = tmp_path_factory.mktemp("long")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("runs.reruns.harness.pool._BESIDE_CHECKS", 2)
        patch.setattr("runs.reruns.harness.pool._ALONE", 2)
        log = install(patch, folder)
        limits = Limits(rounds=3, more_rounds=7, job_s=5)
        names = [*HEALTHY, "four", "five", "six", "seven", "eight"]
        results, batch = run(names, folder, limits=limits, undecided=lambda result: result["id"] == "one")
    return {"results": results, "batch": batch, "done": done(log), "log": log}


def test_every_round_has_a_process_of_its_own(long):
    rounds = long["results"]["one"]["rounds"]
    assert [entry["round"] for entry in rounds] == list(range(7))
    assert len({entry["pid"] for entry in rounds}) == 7
    for other in HEALTHY[1:]:
        assert [entry["pid"] for entry in long["results"][other]["rounds"]] == [entry["pid"] for entry in rounds[:3]]


def test_the_processes_of_the_first_rounds_import_while_checks_run(long):
    last_check = max(entry["at"] for entry in long["done"] if entry["did"] == "check")
    ahead = {entry["pid"] for entry in long["done"] if entry["did"] == "import" and entry["at"] < last_check}
    assert {entry["pid"] for entry in long["results"]["two"]["rounds"]} <= ahead


def test_no_process_imports_while_another_is_timed_or_the_sentinels_run(long):
    importing: set[int] = set()
    for entry in long["done"]:
        if entry["did"] == "import":
            importing.add(entry["pid"])
        elif entry["did"] == "imported":
            importing.discard(entry["pid"])
        elif entry["did"] in ("time", "timed", "sentinels"):
            assert not importing


def test_a_waiting_process_is_let_on_the_device_only_when_its_turn_has_come(long):
    on_device: list[int] = []
    for entry in long["done"]:
        if entry["did"] == "hello" and entry["role"] == EXECUTOR:
            on_device.append(entry["pid"])
        elif entry["did"] == "time":
            assert on_device[-1] == entry["pid"]
    assert len(on_device) == 1 + 7


def test_time_is_counted_as_startup_only_while_the_batch_waits(long):
    phases = long["batch"]["phases"]
    starts = len({entry["pid"] for entry in long["done"]})
    assert starts == 1 + 7 + 2
    imports_s = sum({"import": -1, "imported": 1}.get(entry["did"], 0) * entry["at"] for entry in long["done"])
    assert 0 < phases["startup_s"] < imports_s
    whole, _needed = phases.pop("whole_s"), phases.pop("timing_needed_s")
    assert sum(phases.values()) == pytest.approx(whole, abs=0.01)


def test_nobody_is_left_of_a_batch(long):
    assert nobody_is_left(long["log"])


def test_a_process_that_ends_while_it_waits_is_replaced(log, tmp_path):
    killed: list[int] = []

    def kill_one(event) -> None:
        greeted = pids(log, did="hello")
        waiting = [pid for pid in pids(log, did="imported") if pid not in greeted]
        if event["phase"] == "timing" and waiting and not killed:
            os.kill(waiting[0], signal.SIGKILL)
            killed.append(waiting[0])

    results, _batch = run([*HEALTHY, "four", "five", "six"], tmp_path, progress=kill_one)
    assert killed
    for result in results.values():
        assert (result["status"], result["complete"]) == ("measured", True)
        assert killed[0] not in [entry["pid"] for entry in result["rounds"]]


def test_a_batch_that_nobody_reads_to_the_end_leaves_nobody(log, tmp_path):
    documents = started(["raise in check", *HEALTHY], tmp_path, limits=Limits(rounds=5, job_s=5))
    # The first result comes once all checks are done, when processes wait for their rounds.
    assert next(documents)["id"] == "raise in check"
    assert not nobody_is_left(log)
    documents.close()
    assert nobody_is_left(log)
    assert list(tmp_path.glob("batch-*")) == []


@pytest.mark.parametrize("role", [EXECUTOR, CHECKER])
def test_a_host_that_cannot_start_a_process_is_told_and_nobody_is_left(monkeypatch, tmp_path, role: str):
    log = install(monkeypatch, tmp_path, broken=role)
    with pytest.raises(HarnessError, match="a library is missing") as caught:
        run(HEALTHY, tmp_path)
    assert caught.value.code == "process_did_not_start"
    assert nobody_is_left(log)


# Batches that are cut and go on


def test_a_finished_batch_is_taken_over_from_its_journal(log, tmp_path):
    journal = tmp_path / "journal"
    first, batch = run(HEALTHY, tmp_path, journal_path=journal)
    before = len(pids(log))
    again, taken = run(HEALTHY, tmp_path, journal_path=journal)
    assert again == first
    assert len(pids(log)) == before
    for name in ("runner_bytes", "canaries", "environment"):
        assert taken[name] == batch[name]


@pytest.mark.parametrize(("rounds", "role"), [(1, CHECKER), (2, EXECUTOR)])
def test_a_batch_does_not_go_on_with_other_packages_or_on_another_device(log, tmp_path, rounds: int, role: str):
    journal = tmp_path / "journal"
    run(HEALTHY, tmp_path, journal_path=journal, limits=Limits(rounds=1))
    wrong, other = {CHECKER: ('"device":{}', '"device":{"uuid":"x"}'), EXECUTOR: ('"torch":"2"', '"torch":"1"')}[role]
    text = journal.read_text()
    assert wrong in text
    journal.write_text(text.replace(wrong, other))
    with pytest.raises(HarnessError) as caught:
        run(HEALTHY, tmp_path, journal_path=journal, limits=Limits(rounds=rounds))
    assert caught.value.code == "other_host"
    assert nobody_is_left(log)


def test_a_journal_of_other_jobs_is_refused(log, tmp_path):
    journal = tmp_path / "journal"
    run(HEALTHY, tmp_path, journal_path=journal)
    with pytest.raises(HarnessError) as caught:
        run(HEALTHY[:1], tmp_path, journal_path=journal)
    assert caught.value.code == "journal_of_another_batch"


def test_a_batch_that_is_cut_says_so_and_goes_on_later(log, tmp_path):
    journal = tmp_path / "journal"
    results, batch = run(HEALTHY, tmp_path, journal_path=journal, limits=Limits(batch_s=0.1, rounds=1))
    assert batch["cut"]
    assert {result["status"] for result in results.values()} == {"not_run"}
    assert {result["reason"]["code"] for result in results.values()} == {"batch_cut"}
    assert nobody_is_left(log)
    with journal.open("ab") as file:
        file.write(b'{"kind":"check","id":"torn')
    results, again = run(HEALTHY, tmp_path, journal_path=journal, limits=Limits(rounds=1))
    assert {result["status"] for result in results.values()} == {"measured"}
    assert again["runner_bytes"] == batch["runner_bytes"]
    assert not again["cut"]


def test_a_batch_that_goes_on_after_its_checks_has_sentinels_before_its_rounds(log, tmp_path):
    journal = tmp_path / "journal"
    run(HEALTHY, tmp_path, journal_path=journal, limits=Limits(rounds=1))
    earlier = len(done(log))
    results, batch = run(HEALTHY, tmp_path, journal_path=journal, limits=Limits(rounds=2))
    assert all(len(result["rounds"]) == 2 for result in results.values())
    order = [entry["did"] for entry in done(log)[earlier:] if entry["did"] in ("sentinels", "time")]
    assert order == ["sentinels", *["time"] * 3, "sentinels"]
    assert batch["void"] == []
