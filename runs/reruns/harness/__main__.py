"""``python -m runs.reruns.harness``: run a batch from a file, or say everything about a new GPU host in one call."""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from runs.reruns.harness.batch import execute_batch
from runs.reruns.harness.errors import HarnessError
from runs.reruns.harness.limits import Limits


def main(arguments: list[str] | None = None) -> int:
    """Run the jobs of a file and write one JSON line for each result and one for the batch; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m runs.reruns.harness", description=main.__doc__)
    parser.add_argument("jobs", type=Path, help="a JSON list of jobs")
    parser.add_argument("--out", type=Path, required=True, help="where results go, one JSON line each")
    parser.add_argument("--device", default="cuda:0", help="cpu or cuda:N")
    parser.add_argument("--salt", default="", help="the site's salt, hexadecimal")
    parser.add_argument("--rounds", type=int, default=Limits.rounds, help="fresh processes for each job")
    parser.add_argument("--seconds", type=float, default=Limits.batch_s, help="the batch ends within this time")
    parser.add_argument("--journal", type=Path, default=None, help="a file that lets a batch that was cut go on")
    parser.add_argument("--uid", type=int, default=None, help="the user id implementations run as")
    options = parser.parse_args(arguments)
    jobs = json.loads(options.jobs.read_text(encoding="utf-8"))
    limits = Limits(batch_s=options.seconds, rounds=options.rounds)
    with tempfile.TemporaryDirectory() as scratch, options.out.open("w", encoding="utf-8") as out:
        Path(scratch).chmod(0o711)  # the executor's user has to reach its home in there
        results = execute_batch(
            jobs,
            salt=bytes.fromhex(options.salt),
            device=options.device,
            limits=limits,
            journal_path=options.journal,
            scratch_parent=Path(scratch),
            uid=options.uid,
        )
        try:
            for result in results:
                out.write(json.dumps(result, allow_nan=False) + "\n")
                out.flush()
                print(_line(result), flush=True)
        except HarnessError as error:
            print(f"{error.code}: {error}")
            return 2
    return 0


def _line(result: dict[str, Any]) -> str:
    """One line for a person."""
    if result["kind"] == "batch":
        shown = {key: result[key] for key in ("void", "cut", "rounds", "restarts", "phases", "sentinels", "canaries")}
        return json.dumps(shown)
    summary = result["summary"]
    if summary is None:
        return f"{result['id']}  {result['status']}  {result['reason']}"
    microseconds = {name: round(summary[f"{name}_ns"] / 1000, 2) for name in ("event", "device", "host")}
    bound = "  launch-bound" if summary["launch_bound"] else ""
    return f"{result['id']}  {result['status']}  µs {microseconds}  rounds {summary['rounds']}{bound}"


if __name__ == "__main__":
    raise SystemExit(main())
