"""`python -m runs.reruns.runner`: keygen, execute (jobs and results as files), work (a queue).

Exit status of execute: 0 every job has a result, 1 some were refused, 2 something cannot be read or used, 3 the time
was up before all jobs had one: the same command goes on where this one stopped.
"""

from __future__ import annotations

import argparse
import logging
import pwd
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runs.reruns.documents.keys import generate_private_key, load_private_key
from runs.reruns.documents.refusals import Refusal
from runs.reruns.files import read_jobs, write_results
from runs.reruns.harness.errors import HarnessError
from runs.reruns.runner.identity import Identity
from runs.reruns.runner.spool import Spool
from runs.reruns.runner.work import BATCH_S, JOBS_PER_BATCH, Host, Served, serve

DONE, REFUSED, UNUSABLE, UNFINISHED = 0, 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    try:
        status: int = options.run(options)
    except (OSError, Refusal, HarnessError) as error:
        sys.stderr.write(f"{error}\n")
        return UNUSABLE
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runs.reruns.runner", description="Rerun benchmark claims on this host's device."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    keygen = commands.add_parser("keygen", help="make a key pair")
    keygen.add_argument("file", type=Path, metavar="FILE", help="the new private key file")
    keygen.set_defaults(run=_keygen)
    execute = commands.add_parser("execute", help="execute a file of jobs, without a network")
    execute.add_argument("jobs", type=Path, metavar="JOBS.json")
    execute.add_argument("--out", type=Path, required=True, metavar="RESULTS.json")
    execute.add_argument("--seconds", type=float, help="end by then; the same command goes on later")
    _add_host(execute)
    execute.set_defaults(run=_execute)
    work = commands.add_parser("work", help="take jobs from this product's queue")
    work.add_argument("--broker", required=True, metavar="URL", help="redis://…, amqp://… or filesystem:///folder")
    _add_host(work)
    work.set_defaults(run=_work)
    return parser


def _add_host(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--key", type=Path, required=True, metavar="FILE", help="this runner's private key")
    parser.add_argument("--keys", type=Path, required=True, metavar="KEYS.json", help="the site's published keys")
    parser.add_argument("--spool", type=Path, default=Path("spool"), metavar="FOLDER", help="what is kept between runs")
    parser.add_argument("--device", default="cpu", help="cpu (the default) or cuda:0")
    parser.add_argument("--executor-user", metavar="NAME", help="the user that implementations run as")
    parser.add_argument("--batch-seconds", type=float, default=BATCH_S, help=argparse.SUPPRESS)
    parser.add_argument("--batch-jobs", type=int, default=JOBS_PER_BATCH, help="jobs that share one start, at most")


def host_of(options: argparse.Namespace) -> Host:
    """The host that a command line describes."""
    return Host(
        Identity(load_private_key(options.key), options.keys),
        Spool(options.spool),
        device=options.device,
        uid=pwd.getpwnam(options.executor_user).pw_uid if options.executor_user else None,
        batch_s=options.batch_seconds,
        jobs_per_batch=options.batch_jobs,
    )


def _keygen(options: argparse.Namespace) -> int:
    key = generate_private_key(options.file)
    sys.stdout.write(f"private key  {options.file} (keep it on this host)\npublic key   {key.public}\n")
    return DONE


def _execute(options: argparse.Namespace) -> int:
    host, served = host_of(options), Served()
    envelopes = read_jobs(options.jobs)
    messages = []
    for message in serve(envelopes, host, served, seconds=options.seconds, report=_tell):
        messages.append(message)
        write_results(options.out, messages)
    write_results(options.out, messages)
    for digest, refusal in served.refused.items():
        sys.stderr.write(f"refused {digest}: {refusal.code}: {refusal}\n")
    missing = len(envelopes) - len(messages) - len(served.refused)
    sys.stderr.write(f"{len(messages)} results, {len(served.refused)} refused, {missing} to go\n")
    if missing:
        return UNFINISHED
    return REFUSED if served.refused else DONE


def _work(options: argparse.Namespace) -> int:
    from runs.reruns.runner.worker import run_worker  # noqa: PLC0415  (Celery is not needed to serve by files)

    return run_worker(options.broker, host_of(options))


def _tell(_jobs: Sequence[str], event: Mapping[str, Any]) -> None:
    sys.stderr.write(f"{event['phase']} {event['done']} of {event['of']} {event['id'] or ''}\n")
