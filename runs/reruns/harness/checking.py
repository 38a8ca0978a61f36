"""The check of a job: run on fresh seeds by the executor, compared by the checker, neither seeing the other's part.

Jobs that differ in their mode alone are each checked, although their callable is the same: a seed follows from the
job's own digest, so that whoever holds the job and its result can derive it, which a check shared between jobs would
not allow.
"""

import secrets
from collections.abc import Mapping
from typing import Any

from runs.reruns.harness.processes import Child, ChildFailed
from runs.reruns.harness.sampling import choose_blocks
from runs.reruns.harness.seeds import derive_seed


class ReferenceFailed(Exception):  # reads as what happened
    """The checker could not compute a reference: no fault of the implementation."""


def check_purpose(index: int) -> str:
    """The purpose the seed of the index-th check is derived for."""
    return f"check/{index}"


def run_check(
    executor: Child,
    checker: Child,
    job: Mapping[str, Any],
    *,
    seed: bytes,
    distribution: str,
    timeout_s: float,
) -> dict[str, Any]:
    """One check of one job: {distribution, seed, passed, late, missing, changed_inputs, outputs, run_s}.

    Raises ChildFailed where the executor failed, ReferenceFailed where the checker did. The stretches compared are
    chosen here, from fresh random bits, once the executor holds its outputs.
    """
    common = {"job": dict(job), "seed": seed.hex(), "distribution": distribution}
    ran = executor.request({"op": "check", **common}, timeout_s=timeout_s).header
    blocks = {name: choose_blocks(elements_of(output), secrets.randbits(64)) for name, output in ran["outputs"].items()}
    fetched = executor.request({"op": "fetch", "blocks": blocks}, timeout_s=timeout_s)
    request = {
        "op": "compare",
        **common,
        "outputs": ran["outputs"],
        "fingerprints": ran["fingerprints"],
        "blocks": blocks,
        "tensors": fetched.header["tensors"],
    }
    try:
        compared = checker.request(request, [fetched.payload], timeout_s=timeout_s).header
    except ChildFailed as failure:
        raise ReferenceFailed(f"{failure.code}: {failure}") from failure
    matched = all(output["matched"] for output in compared["outputs"].values())
    return {
        "distribution": distribution,
        "seed": seed.hex(),
        "passed": matched and not ran["late"] and not compared["changed_inputs"],
        "late": ran["late"],
        "missing": ran["missing"],
        "changed_inputs": compared["changed_inputs"],
        "outputs": compared["outputs"],
        "run_s": ran["run_s"],
    }


def elements_of(output: Mapping[str, Any]) -> int:
    """How many elements an output of a stated shape has."""
    count = 1
    for size in output["shape"]:
        count *= int(size)
    return count


def seed_of(runner_bytes: bytes, salt: bytes, digest: str, purpose: str) -> bytes:
    """The seed of one purpose of one job."""
    return derive_seed(runner_bytes, site_salt=salt, job_digest=digest, purpose=purpose)


def faults(check: Mapping[str, Any]) -> list[str]:
    """Why a check did not pass, as words: late, changed_inputs, missing, not_finite, shape, mismatch."""
    found = []
    if check["late"]:
        found.append("late")
    if check["changed_inputs"]:
        found.append("changed_inputs")
    for name, output in check["outputs"].items():
        if output["matched"]:
            continue
        if output.get("absent"):
            found.append(f"missing:{name}")
        elif "expected_shape" in output:
            found.append(f"shape:{name}")
        elif output["not_finite"]:
            found.append(f"not_finite:{name}")
        else:
            found.append(f"mismatch:{name}")
    return found
