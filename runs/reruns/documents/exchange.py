"""Signing and verifying jobs and results: every check that needs no database, each refusing with a code."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from runs.reruns.documents import job as jobs
from runs.reruns.documents import result as results
from runs.reruns.documents.base import moment, product_slug
from runs.reruns.documents.envelope import Opened, open_envelope, seal, statement
from runs.reruns.documents.job import Job
from runs.reruns.documents.keys import KeySet, PrivateKey, PublicKey, Role
from runs.reruns.documents.refusals import Refusal
from runs.reruns.documents.result import Result
from runs.reruns.harness.seeds import derive_seed

CLOCK_SKEW: Final = timedelta(minutes=5)
"""How far the clocks of two hosts may differ."""


@dataclass(frozen=True, slots=True)
class VerifiedJob:
    """A job whose dispatcher is known."""

    job: Job
    digest: str
    """`sha256:…` of the signed payload: the identity of the job."""
    key: PublicKey


@dataclass(frozen=True, slots=True)
class VerifiedResult:
    """A result whose runner is known, with the job that it answers."""

    result: Result
    digest: str
    """`sha256:…` of the signed payload: the identity of the result."""
    key: PublicKey
    job: VerifiedJob


def sign_job(job: Job, key: PrivateKey) -> dict[str, Any]:
    """The envelope of a job. Raises `Refusal` TOO_LARGE."""
    content = statement(jobs.PREDICATE_TYPE, _job_subjects(job), job.plain())
    return seal(content, key, limit=jobs.MAX_PAYLOAD_BYTES)


def sign_result(result: Result, key: PrivateKey) -> dict[str, Any]:
    """The envelope of a result. Raises `Refusal` TOO_LARGE."""
    content = statement(results.PREDICATE_TYPE, {"job": result.job_digest}, result.plain())
    return seal(content, key, limit=results.MAX_PAYLOAD_BYTES)


def verify_job(
    envelope: Mapping[str, Any],
    keys: KeySet,
    now: datetime,
    *,
    product: str | None = None,
    seen: Container[str] = frozenset(),
) -> VerifiedJob:
    """A job that may be executed now.

    `product` is the runner's own, where a runner asks; `seen` holds the digests of jobs that were taken before. Raises
    `Refusal`: of the envelope, of the key, EXPIRED, CLOCK, OTHER_PRODUCT, REPLAYED.
    """
    verified = _open_job(envelope, keys, now)
    job = verified.job
    verified.key.require("dispatcher", at=now, now=now)
    if moment(job.issued_at) > now + CLOCK_SKEW:
        raise Refusal("CLOCK", f"issued at {job.issued_at}")
    _require_unexpired(job, now)
    if product is not None and job.product != product:
        raise Refusal("OTHER_PRODUCT", f"{job.product}, not {product}")
    if verified.digest in seen:
        raise Refusal("REPLAYED", verified.digest)
    return verified


def verify_result(
    envelope: Mapping[str, Any],
    job_envelope: Mapping[str, Any],
    keys: KeySet,
    now: datetime,
    *,
    seen: Container[str] = frozenset(),
) -> VerifiedResult:
    """A result that may be published now.

    `seen` holds the digests of results that were taken before. That a job has one result only is for the caller's
    database to see to. Raises `Refusal`: of both envelopes and keys, of `audit_result`, EXPIRED, CLOCK, REPLAYED.
    """
    verified = audit_result(envelope, job_envelope, keys, now)
    verified.key.require("runner", at=now, now=now)
    _require_unexpired(verified.job.job, now)
    if moment(verified.result.finished_at) > now + CLOCK_SKEW:
        raise Refusal("CLOCK", f"finished at {verified.result.finished_at}")
    if verified.digest in seen:
        raise Refusal("REPLAYED", verified.digest)
    return verified


def audit_result(
    envelope: Mapping[str, Any], job_envelope: Mapping[str, Any], keys: KeySet, now: datetime
) -> VerifiedResult:
    """A result that was in order when it was made, whenever that was; keys that are revoked by `now` do not count.

    Raises `Refusal`: of both envelopes and keys, OTHER_JOB, NONCE_MISMATCH, OTHER_RUNNER, OTHER_PRODUCT, OTHER_RECIPE,
    SEED_MISMATCH, TOO_LARGE, EXPIRED, CLOCK.
    """
    job = _open_job(job_envelope, keys, now)
    opened = _open(envelope, keys, "runner", results.PREDICATE_TYPE, results.MAX_PAYLOAD_BYTES)
    result = Result.read(opened.statement["predicate"])
    _require_subjects(opened, {"job": result.job_digest})
    opened.key.require("runner", at=moment(result.finished_at), now=now)
    _require_answer(result, job)
    _require_runner(result, job.job, opened.key)
    _require_times(result, job.job)
    _require_seeds(result, job)
    return VerifiedResult(result, opened.digest, opened.key, job)


def _open_job(envelope: Mapping[str, Any], keys: KeySet, now: datetime) -> VerifiedJob:
    opened = _open(envelope, keys, "dispatcher", jobs.PREDICATE_TYPE, jobs.MAX_PAYLOAD_BYTES)
    job = Job.read(opened.statement["predicate"])
    _require_subjects(opened, _job_subjects(job))
    opened.key.require("dispatcher", at=moment(job.issued_at), now=now)
    return VerifiedJob(job, opened.digest, opened.key)


def _open(envelope: Mapping[str, Any], keys: KeySet, role: Role, predicate_type: str, limit: int) -> Opened:
    return open_envelope(envelope, find=_finder(keys, role), predicate_type=predicate_type, limit=limit)


def _finder(keys: KeySet, role: Role) -> Callable[[str], PublicKey]:
    def find(keyid: str) -> PublicKey:
        key = keys.find(keyid)
        if key.role != role:
            raise Refusal("WRONG_ROLE", f"{key.name} is a {key.role}")
        return key

    return find


def _job_subjects(job: Job) -> dict[str, str]:
    return {role: manifest.digest for role, manifest in job.manifests.parsed.items()}


def _require_subjects(opened: Opened, subjects: Mapping[str, str]) -> None:
    if opened.statement["subject"] != statement("", subjects, {})["subject"]:
        raise Refusal("MANIFEST_MISMATCH", "the statement's subject is not what it speaks about")


def _require_unexpired(job: Job, at: datetime) -> None:
    if at > moment(job.expires_at):
        raise Refusal("EXPIRED", f"on {job.expires_at}")


def _require_answer(result: Result, verified: VerifiedJob) -> None:
    job = verified.job
    if result.job_digest != verified.digest or result.job_id != job.job_id:
        raise Refusal("OTHER_JOB", f"{result.job_id}, {result.job_digest}")
    if result.nonce != job.nonce:
        raise Refusal("NONCE_MISMATCH")
    if result.executed.recipe != job.recipe or result.executed.harness_version != job.harness_version:
        raise Refusal("OTHER_RECIPE", f"{result.executed.recipe.id} {result.executed.recipe.version}")
    if len(result.log) > job.limits.log_characters:
        raise Refusal("TOO_LARGE", f"a log of {len(result.log):,} characters, at most {job.limits.log_characters:,}")


def _require_runner(result: Result, job: Job, key: PublicKey) -> None:
    if result.runner != key.name:
        raise Refusal("OTHER_RUNNER", f"{result.runner}, signed by {key.name}")
    products = {"job": job.product, "result": result.product, "key": key.product}
    if result.environment is not None:
        products["environment"] = product_slug(result.environment["spec"]["hardware"])
    if len(set(products.values())) != 1:
        raise Refusal("OTHER_PRODUCT", ", ".join(f"{name}: {product}" for name, product in products.items()))


def _require_times(result: Result, job: Job) -> None:
    if moment(result.accepted_at) < moment(job.issued_at) - CLOCK_SKEW:
        raise Refusal("CLOCK", f"accepted at {result.accepted_at}, issued at {job.issued_at}")
    _require_unexpired(job, moment(result.finished_at))


def _require_seeds(result: Result, verified: VerifiedJob) -> None:
    if result.correctness is None:
        return
    runner_bytes = bytes.fromhex(result.correctness.runner_bytes)
    site_salt = bytes.fromhex(verified.job.site_salt)
    for purpose, seed in {(check.purpose, check.seed) for check in result.correctness.checks}:
        derived = derive_seed(runner_bytes, site_salt=site_salt, job_digest=verified.digest, purpose=purpose)
        if derived.hex() != seed:
            raise Refusal("SEED_MISMATCH", purpose)
