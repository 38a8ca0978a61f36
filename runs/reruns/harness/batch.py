"""A batch of reruns from beginning to end. ``execute_batch`` is the harness's interface."""

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runs.reruns.harness.errors import HarnessError
from runs.reruns.harness.jobs import MEASURED, job_digest, read_jobs, result_of
from runs.reruns.harness.journal import Journal
from runs.reruns.harness.limits import CHECK_DISTRIBUTIONS, Limits
from runs.reruns.harness.processes import make_scratch, remove_scratch
from runs.reruns.harness.seeds import RUNNER_BYTES
from runs.reruns.harness.session import Session

HARNESS_VERSION = "1.0.0"

Result = dict[str, Any]


def execute_batch(
    jobs: Sequence[Mapping[str, Any]],
    *,
    salt: bytes,
    device: str = "cpu",
    limits: Limits | None = None,
    journal_path: Path | None = None,
    scratch_parent: Path,
    uid: int | None = None,
    undecided: Callable[[Result], bool] | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Iterator[Result]:
    """Check and time a batch of jobs; yields one result for each, then one document about the batch.

    A job is {id, operation: slug, provider, mode, workload: WorkloadCase spec, claimed: {liger_version, …}} and
    optionally {recipe: {id, version}, digest, canary}. ``salt`` is the site's. ``device`` is cpu or cuda:N. With
    ``journal_path`` a batch that was cut short goes on where it stopped. ``uid`` is the user the executor runs as where
    the host allows it. ``undecided`` is asked, with a job's result after ``limits.rounds``, whether it needs
    ``limits.more_rounds``. ``progress`` hears {phase, done, of, id}.

    A result is plain JSON-able values::

        {kind: "result", id, job_digest, status, reason: {code, message} | None, recipe: {id, version, schedule},
         claimed, executed: {python, torch, triton, "liger-kernel", …}, implementation: {package, version} | None,
         correctness: {passed, wanted, checks: [{distribution, seed, passed, late, missing, changed_inputs, run_s,
             outputs: {name: {matched, dtype, scaled_error, set_aside, max_scaled_error, relative_norm,
             max_absolute_error, matched_ratio, element_tolerance, norm_tolerance, checked, elements,
             not_finite}}}]},
         rounds: [{round, pid, event_ns: {median, p20, p80, minimum, maximum, n, samples}, device_ns, device_activities,
             device_calls, host_ns, void: [reason]}],
         graphs: [{round, ns | None, reason | None}],
         complete, summary: {rounds, event_ns, event_medians_ns, device_ns, device_medians_ns, graph_ns, host_ns,
             launch_bound} | None, log}

    ``status`` is measured, incorrect, crashed, out_of_memory, timeout, runtime_error (or the code of a HarnessError),
    invalid_reference, not_rerunnable or not_run. ``complete`` is false where the time limit left rounds out. Times are
    ns. A check's seed and ``runner_bytes`` are hexadecimal.

    The batch document is::

        {kind: "batch", harness_version, device, gpu_uuid, environment: ExecutionEnvironment spec, runner_bytes,
         started_at, ended_at (UTC, milliseconds), void: [reason], cut: bool, rounds,
         sentinels: {before: {copy_ns, matmul_ns, launch_ns}, after: …}, canaries: {name: {caught, by, job}},
         telemetry: {available, hertz, columns, samples, summary},
         phases: {startup_s, compile_s, build_s, check_s, timing_s, timing_needed_s, device_time_s, host_time_s,
                  sentinels_s, ending_s, other_s, whole_s}, restarts}

    ``void`` holds canary_passed, no_canary, throttled, company, telemetry_missing, sentinels_missing: a void batch
    verifies nothing. Raises HarnessError for jobs that cannot be read, a journal of another batch or one that was begun
    with other packages or on another device, and a process that does not start.
    """
    limits = limits or Limits()
    states = read_jobs(jobs)
    journal = Journal(journal_path)
    session = Session(
        states,
        journal=journal,
        runner_bytes=_begin(journal, jobs, salt),
        salt=salt,
        device=device,
        limits=limits,
        scratch=make_scratch(scratch_parent, uid),
        uid=uid,
        progress=progress or (lambda _event: None),
    )
    try:
        yield from _steps(session, limits, undecided)
    finally:
        session.close()
        remove_scratch(session.scratch)


def _begin(journal: Journal, jobs: Sequence[Mapping[str, Any]], salt: bytes) -> bytes:
    """The runner's 32 bytes: those of the journal where it holds this batch, else fresh ones, drawn now."""
    identity = {"jobs": sorted(job_digest(job) for job in jobs), "salt": salt.hex()}
    for record in journal.records():
        if record["kind"] == "begun":
            if {key: record[key] for key in identity} != identity:
                raise HarnessError("journal_of_another_batch", "The journal belongs to other jobs.")
            return bytes.fromhex(record["runner_bytes"])
    runner_bytes = secrets.token_bytes(RUNNER_BYTES)
    journal.append({"kind": "begun", **identity, "runner_bytes": runner_bytes.hex(), "pid": os.getpid()})
    return runner_bytes


def _steps(session: Session, limits: Limits, undecided: Callable[[Result], bool] | None) -> Iterator[Result]:
    started_at = time.time()
    wanted_checks = len(CHECK_DISTRIBUTIONS)

    def results(*, final: bool) -> Iterator[Result]:
        for state in session.states:
            if not state.yielded and (final or state.status is not None):
                state.yielded = True
                yield result_of(
                    state, session.versions, wanted_checks=wanted_checks, wanted_rounds=session.wanted_rounds(state)
                )

    session.resume()
    session.run_checks()
    session.run_canaries()
    yield from results(final=False)
    session.run_rounds(limits.rounds, session.timeable())
    if undecided is not None:
        open_states = []
        for state in session.timeable():
            result = result_of(state, session.versions, wanted_checks=wanted_checks, wanted_rounds=limits.rounds)
            if result["status"] == MEASURED and result["complete"] and undecided(result):
                open_states.append(state)
        session.run_rounds(limits.more_rounds, open_states)
    session.finish()
    yield from results(final=True)
    yield session.report(HARNESS_VERSION, started_at)
