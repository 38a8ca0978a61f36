"""Stands in for executor and checker: speaks their protocol without torch, and misbehaves as a job's id asks.

Started through a small shell script in place of Python (see ``install``); each process writes what it does, with the
time, to the file that the script names.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from runs.reruns.harness.frames import Frame
from runs.reruns.harness.server import Fatal, Reply, open_channel, serve

IMPORT_S, CHECK_S, TIME_S = 0.2, 0.02, 0.02


def install(patch, folder: Path, *, broken: str = "") -> Path:
    """Let children of this process be stand-ins; gives the file of what they do. ``broken`` names a role that fails."""
    log, script = folder / "stand-ins.jsonl", folder / "python"
    script.write_text(
        f'#!/bin/sh\nSTAND_IN_LOG={log} STAND_IN_BROKEN={broken} exec {sys.executable} -P {__file__} "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    log.touch()
    patch.setattr("sys.executable", str(script))
    return log


def done(log: Path) -> list[dict]:
    """What the stand-ins have done so far: {pid, role, did, at (monotonic seconds)} and more, in order."""
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def note(did: str, **more) -> None:
    record = {"pid": os.getpid(), "role": ROLE, "did": did, "at": time.monotonic(), **more}
    with Path(os.environ["STAND_IN_LOG"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def misbehave(job: dict, when: str) -> None:
    """What a job's id asks for: nothing, unless it names this moment."""
    how, _, moment = job["id"].partition(" in ")
    if moment != when or "canary" in job:
        return
    if how == "crash":
        os.abort()
    if how == "hang":
        time.sleep(3600)
    if how == "print":
        print("KIX1 this is no frame")
        os.write(1, b"KIX1\0\0\0\2{}")
    if how == "write garbage":
        os.write(CHANNEL.writing, b"this is no frame either")
    if how == "raise":
        raise ValueError("this shape is not supported")
    if how == "spawn":
        note("spawn", child=subprocess.Popen(["/bin/sleep", "600"]).pid)
    if how in ("out_of_memory", "device_lost"):
        raise Fatal({"ok": False, "error": how, "message": "Nothing is left."})


def check(request: Frame) -> Reply:
    note("check")
    time.sleep(CHECK_S)
    misbehave(request.header["job"], "check")
    outputs = {"y": {"shape": [4], "dtype": "fp32"}}
    return {"outputs": outputs, "missing": [], "late": False, "fingerprints": {}, "run_s": CHECK_S}, []


def fetch(_request: Frame) -> Reply:
    return {"tensors": [{"name": "y", "dtype": "fp32", "shape": [4], "bytes": 16}]}, [bytes(16)]


def compare(request: Frame) -> Reply:
    misbehave(request.header["job"], "reference")
    matched = "canary" not in request.header["job"]
    return {"outputs": {"y": {"matched": matched, "not_finite": 0}}, "changed_inputs": []}, []


def sentinels(_request: Frame) -> Reply:
    note("sentinels")
    return {"sentinels": {"copy_ns": 1, "matmul_ns": 1, "launch_ns": 1}}, []


def event_time(request: Frame) -> Reply:
    note("time")
    time.sleep(TIME_S)
    misbehave(request.header["job"], "timing")
    note("timed")
    seconds = dict.fromkeys(("wall_s", "needed_s", "host_s", "build_s", "compile_s"), 0.0)
    return {"samples": [100, 101, 102], "tampered": False, "host_ns": 50, **seconds}, []


def device_time(request: Frame) -> Reply:
    misbehave(request.header["job"], "device time")
    device = {"device_ns": 90, "activities": 1.0, "calls": 5}
    return {**device, "tampered": False, "device_s": 0.0, "build_s": 0.0}, []


def graph_time(request: Frame) -> Reply:
    misbehave(request.header["job"], "graph")
    return {"ns": None, "reason": "no graphs", "graph_s": 0.0, "build_s": 0.0}, []


def hello(_request: Frame) -> Reply:
    note("hello", environment=dict(os.environ))
    return {"versions": {"python": "3", "torch": "2"}, "device": {}}, []


HANDLERS = (hello, check, fetch, compare, sentinels, event_time, device_time, graph_time)

if __name__ == "__main__":
    _p, _m, MODULE, *ARGUMENTS = sys.argv[1:]
    ROLE = MODULE.rpartition(".")[2]
    CHANNEL = open_channel(ARGUMENTS)
    note("import")
    time.sleep(IMPORT_S)
    if os.environ["STAND_IN_BROKEN"] == ROLE:
        raise ImportError("a library is missing")
    note("imported")
    CHANNEL.send({"ok": True})
    serve(CHANNEL, {handler.__name__: handler for handler in HANDLERS})
