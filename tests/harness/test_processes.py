import os
from pathlib import Path

import pytest

from runs.reruns.harness.errors import HarnessError
from runs.reruns.harness.processes import PASSED_ON, Child, make_scratch, remove_scratch, scrubbed_environment


def start(role: str, folder: Path) -> Child:
    (folder / role).mkdir()
    child = Child.launch(role, "cpu", folder, [], uid=None)
    child.begin(timeout_s=60)
    return child


def test_only_listed_names_pass_to_a_child(tmp_path):
    environment = {"PATH": "/bin", "BROKER_URL": "amqp://x", "AWS_SECRET_ACCESS_KEY": "x", "HOME": "/root"}
    scrubbed = scrubbed_environment(environment, tmp_path)
    assert "BROKER_URL" not in scrubbed
    assert "AWS_SECRET_ACCESS_KEY" not in scrubbed
    assert scrubbed["PATH"] == "/bin"
    assert scrubbed["HOME"] == str(tmp_path)


def test_no_name_that_passes_can_hold_a_credential():
    assert not [name for name in PASSED_ON if any(word in name for word in ("KEY", "TOKEN", "SECRET", "URL", "PASS"))]


def test_import_paths_pass_with_ours_first(tmp_path):
    paths = scrubbed_environment({"PYTHONPATH": f"/a{os.pathsep}/b"}, tmp_path)["PYTHONPATH"].split(os.pathsep)
    assert paths[1:] == ["/a", "/b"]
    assert Path(paths[0], "runs", "reruns").is_dir()


def test_each_role_has_a_home_and_the_executor_owns_its_own_alone(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    scratch = make_scratch(tmp_path, 65_534)
    assert scratch.stat().st_uid == 0
    assert (scratch / "executor").stat().st_uid == 65_534
    assert (scratch / "checker").stat().st_uid == 0
    assert (scratch / "checker").stat().st_mode & 0o077 == 0
    remove_scratch(scratch)
    assert not scratch.exists()


def test_a_user_who_may_not_run_python_is_the_hosts_failure(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.executable", str(tmp_path / "no-python"))
    with pytest.raises(HarnessError) as caught:
        start("executor", tmp_path)
    assert caught.value.code == "process_did_not_start"


def test_a_child_that_does_not_start_is_the_hosts_failure(tmp_path):
    (tmp_path / "no_such_role").mkdir()
    child = Child.launch("no_such_role", "cpu", tmp_path, [], uid=None)
    with pytest.raises(HarnessError) as caught:
        child.begin(timeout_s=60)
    assert caught.value.code == "process_did_not_start"
    assert "no_such_role" in str(caught.value)
    assert _is_gone(child.pid)


def _is_gone(pid: int) -> bool:
    """Whether a process has ended: one that nobody has waited for yet is a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True
