"""The offline check, as a reader runs it."""

import json
import subprocess
import sys

import pytest

from runs.manifests.canonical import canonical_json
from runs.reruns import verify
from runs.reruns.documents.bundle import compose
from runs.reruns.documents.exchange import audit_result
from tests.reruns.examples import KEYS, NOW, exchange, key_set, manifests, process, signed_job


@pytest.fixture
def files(tmp_path):
    """Writes a bundle and a KEYS file and runs the command on them: returns the exit status."""

    def run(bundle=None, keys=KEYS):
        (tmp_path / "bundle.json").write_bytes(composed() if bundle is None else bundle)
        (tmp_path / "KEYS").write_bytes(canonical_json(keys.plain()))
        return verify.main([str(tmp_path / "bundle.json"), "--keys", str(tmp_path / "KEYS")])

    run.folder = tmp_path
    return run


def composed(**changes):
    pair = exchange(**changes)
    return compose(pair.job, pair.result, audit_result(pair.result, pair.job, KEYS, NOW))


def changed(change):
    bundle = json.loads(composed())
    change(bundle)
    return canonical_json(bundle)


def test_a_bundle_that_holds_is_explained(files, capsys):
    assert files() == 0
    out = capsys.readouterr().out
    assert "signed by dispatcher site" in out
    assert "signed by runner h200-a, operated by KernelIndex" in out
    assert "claim      100,000 ns (median)" in out
    assert "event time: 100,200 ns, 1.002 of the claim" in out
    assert "verdict    reproduced (verdict-v1, 5 processes)" in out
    assert out.endswith("the verdict taken anew from the samples.\n")


def test_a_bundle_may_hold_another_verdict_than_reproduced(files, capsys):
    bundle = composed(processes=[process(index, 150_000, 30_000) for index in range(5)])
    assert files(bundle) == 0
    out = capsys.readouterr().out
    assert "verdict    host bound" in out
    assert "LAUNCH_BOUND" in out


def test_a_bundle_without_times_is_explained(files, capsys):
    assert files(composed(processes=[])) == 0
    assert "event time: not measured" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda bundle: bundle["verdict"].update(verdict="faster"), "VERDICT_MISMATCH"),
        (lambda bundle: bundle["verdict"]["event"].update(low=0.5), "VERDICT_MISMATCH"),
        (lambda bundle: bundle["verdict"].pop("device"), "VERDICT_MISMATCH"),
        (lambda bundle: bundle.update(manifests=manifests(50_000)), "MANIFEST_MISMATCH"),
        (lambda bundle: bundle.update(jobEnvelope=signed_job(jobId="rerun-2")), "OTHER_JOB"),
        (lambda bundle: bundle.update(keys=KEYS.plain()), "MALFORMED"),
        (lambda bundle: bundle["resultEnvelope"]["signatures"][0].update(sig="A" * 86 + "=="), "BAD_SIGNATURE"),
    ],
)
def test_a_changed_bundle_is_refused_with_a_code(files, capsys, change, code):
    assert files(changed(change)) == 1
    assert f"REFUSED {code}:" in capsys.readouterr().err


def test_editorial_changes_of_a_manifest_do_not_matter(files):
    assert files(changed(lambda bundle: bundle["manifests"]["run"]["metadata"].update(title="Better"))) == 0


def test_ratios_may_differ_in_the_last_bits(files):
    def nudge(bundle):
        bundle["verdict"]["event"]["low"] *= 1 + 1e-12

    assert files(changed(nudge)) == 0


def test_keys_never_come_from_the_bundle(files, capsys):
    others = key_set().plain()
    others["keys"] = others["keys"][2:]
    assert files(keys=type(KEYS).read(others)) == 1
    assert "UNKNOWN_KEY" in capsys.readouterr().err


def test_a_revoked_runner_no_longer_convinces(files, capsys):
    assert files(keys=key_set(runner={"revokedAt": "2020-01-01T00:00:00.000Z"})) == 1
    assert "KEY_REVOKED" in capsys.readouterr().err


@pytest.mark.parametrize("bundle", [b"", b"[]", b'{"version":1,"version":1}', b"{}"])
def test_a_file_that_is_no_bundle_is_refused(files, capsys, bundle):
    assert files(bundle) == 1
    assert "REFUSED MALFORMED" in capsys.readouterr().err


def test_a_file_that_is_too_large_is_refused_unread(files, capsys, monkeypatch):
    monkeypatch.setattr(verify.bundle, "MAX_BYTES", 100)
    assert files() == 1
    assert "REFUSED TOO_LARGE" in capsys.readouterr().err


def test_files_that_cannot_be_read_have_a_status_of_their_own(files, capsys):
    files()
    folder = files.folder
    assert verify.main([str(folder / "none"), "--keys", str(folder / "KEYS")]) == 2
    assert verify.main([str(folder / "bundle.json"), "--keys", str(folder / "none")]) == 2
    for content in (b"[]", b"{", b'{"version":2,"keys":[]}'):
        (folder / "KEYS").write_bytes(content)
        assert verify.main([str(folder / "bundle.json"), "--keys", str(folder / "KEYS")]) == 2
    assert capsys.readouterr().err.count("cannot read") == 5


def test_it_runs_as_a_module_without_django(files):
    files()
    code = (
        "import sys, runpy; sys.argv[1:] = sys.argv[1:]\n"
        "try: runpy.run_module('runs.reruns.verify', run_name='__main__')\n"
        "except SystemExit as end: sys.exit(3 if 'django' in sys.modules else end.code)"
    )
    command = [sys.executable, "-c", code, str(files.folder / "bundle.json"), "--keys", str(files.folder / "KEYS")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "HOLDS" in done.stdout) == (0, True), done.stderr
