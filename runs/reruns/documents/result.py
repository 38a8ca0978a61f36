"""The result: what was executed for a job, and all that was measured. Signed by the runner."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from runs.manifests.errors import ManifestError
from runs.manifests.fields import Digest, Instant, Items, Maybe, Name, Number, Slug, Token
from runs.manifests.manifest import parse_manifest
from runs.reruns.documents.base import Document, Hex32, Log, Phrase, Version, moment
from runs.reruns.documents.job import Recipe

PREDICATE_TYPE = "https://kernelindex.dev/rerun-result/v1"
MAX_PAYLOAD_BYTES = 8 * 1024 * 1024
MAX_PROCESSES = 15

Nanoseconds = Annotated[int, Field(ge=0, le=2**53 - 1)]
Samples = Annotated[Items[Nanoseconds], Field(min_length=1, max_length=50_000)]
"""Single measurements in ns, in the order in which they were taken."""
Count = Annotated[int, Field(ge=0, le=2**53 - 1)]
Phrases = Annotated[Items[Phrase], Field(max_length=100)]
Column = Annotated[Items[Number], Field(max_length=5_000)]


class Executed(Document):
    """What ran."""

    recipe: Recipe
    """The recipe."""
    schedule: Annotated[dict[Phrase, str | int | bool | Items[str]], Field(max_length=50)]
    """The timing arguments of the claim's own script, as the recipe has them."""
    harness_version: Version
    """The version of the harness."""
    packages: Annotated[dict[Name, Version], Field(max_length=500)]
    """Installed packages with their versions, torch and triton among them."""


class Process(Document):
    """What one fresh process measured; times are ns a call."""

    index: Annotated[int, Field(ge=0, lt=1000)]
    """Its place in the order of processes."""
    event_ns: Samples
    """Event time under the claim's protocol: every sample."""
    device_ns: Maybe[Nanoseconds] = None
    """Device time: the union of busy intervals over all profiled calls, a call."""
    device_calls: Maybe[Count] = None
    """How many calls were profiled."""
    device_activities: Maybe[Number] = None
    """Kernels, copies and sets a call."""
    graph_ns: Maybe[Nanoseconds] = None
    """Replay of a captured graph; absent where it could not be captured."""
    graph_reason: Maybe[Phrase] = None
    """Why it could not be captured."""
    host_ns: Maybe[Nanoseconds] = None
    """Host time."""
    void: Phrases
    """The faults that the harness found in it; none in a sound one."""


class Difference(Document):
    """One output or gradient against the float64 reference."""

    output: Phrase
    """Which, such as y or grad.x."""
    dtype: Phrase
    """Its type."""
    metric: Token
    """The measure of the difference, such as scaled_error."""
    value: Maybe[Number] = None
    """The difference; absent where it is not a finite number, which fails."""
    tolerance: Number
    """The largest difference that passes."""
    checked: Count
    """How many elements were compared."""
    elements: Count
    """How many there are."""

    @property
    def passed(self) -> bool:
        """Whether the difference is a finite number within the tolerance."""
        return self.value is not None and self.value <= self.tolerance


class Check(Document):
    """One run on a fresh seed, with outputs poisoned beforehand."""

    purpose: Phrase
    """What the seed was derived for, such as check/0."""
    seed: Hex32
    """The seed."""
    distribution: Literal["normal", "hard"]
    """How inputs were drawn."""
    differences: Annotated[Items[Difference], Field(max_length=200)]
    """What was compared."""
    faults: Phrases
    """What else was wrong: late, changed_inputs, missing:y, not_finite:y, shape:y."""

    @property
    def passed(self) -> bool:
        """Whether something was compared, all of it within tolerance, and nothing else was wrong."""
        return bool(self.differences) and not self.faults and all(item.passed for item in self.differences)


class Correctness(Document):
    """How the output was checked."""

    runner_bytes: Hex32
    """What the runner drew after it had accepted the job; every seed follows from it."""
    checks: Annotated[Items[Check], Field(max_length=100)]
    """All checks."""


class Canary(Document):
    """An implementation that cheats on purpose."""

    name: Name
    """How it cheats, such as zeros or late."""
    caught: bool
    """Whether the checks caught it."""


class Sentinel(Document):
    """A kernel with a known time."""

    name: Name
    """Which: copy, matmul or launch."""
    before_ns: Maybe[Nanoseconds] = None
    """Its median before the batch; absent where it did not run."""
    after_ns: Maybe[Nanoseconds] = None
    """Its median after the batch; absent where it did not run."""
    band_ns: Maybe[Annotated[Items[Nanoseconds], Field(min_length=2, max_length=2)]] = None
    """Lowest and highest of the runner's own history; absent in a runner's first batches."""


class Telemetry(Document):
    """Columns of equal length over the batch, thinned to what a chart needs; reasons and others lose nothing by it."""

    at_ms: Column
    """Since the batch began."""
    sm_mhz: Column
    """SM clock."""
    memory_mhz: Column
    """Memory clock."""
    celsius: Column
    """GPU temperature."""
    watts: Column
    """Power draw."""
    reasons: Column
    """NVML's clocks event reasons, or-ed since the row before."""
    others: Column
    """The most processes of others since the row before."""

    @model_validator(mode="after")
    def _columns_are_equally_long(self) -> Self:
        columns = (getattr(self, name) for name in type(self).model_fields)
        if len({len(column) for column in columns}) != 1:
            raise ValueError("the columns differ in length")
        return self


class Watch(Document):
    """What telemetry saw over the whole batch."""

    samples: Count
    """How many samples."""
    seconds: Annotated[float, Field(ge=0, le=86_400)]
    """From the first to the last."""
    throttle_reasons: Count
    """NVML's clocks event reasons of all samples, or-ed."""
    samples_with_company: Count
    """Samples that saw a process on the device that was none of the runner's."""
    telemetry: Telemetry
    """The course of it."""


class Batch(Document):
    """What was checked once for all jobs that ran together."""

    batch_id: Slug
    """The batch."""
    jobs: Annotated[int, Field(ge=1, le=10_000)]
    """How many jobs it had."""
    canaries: Annotated[Items[Canary], Field(max_length=100)]
    """The canaries."""
    sentinels: Annotated[Items[Sentinel], Field(max_length=20)]
    """The sentinel kernels."""
    watch: Maybe[Watch] = None
    """Telemetry; absent where there was none."""


class Failure(Document):
    """Why nothing, or not everything, was measured."""

    code: Token
    """What happened, such as out_of_memory."""
    message: Phrase
    """In a sentence."""


class Result(Document):
    """The answer to one job."""

    job_digest: Digest
    """The SHA-256 of the signed payload of the job."""
    job_id: Slug
    """The job's id."""
    nonce: Hex32
    """The job's nonce."""
    runner: Name
    """The runner's name, as its key has it."""
    product: Slug
    """The hardware product that it ran on."""
    accepted_at: Instant
    """When the runner accepted the job, before it drew its bytes."""
    finished_at: Instant
    """When the last measurement of the job ended."""
    executed: Executed
    """What ran."""
    environment: Maybe[dict[str, Any]] = None
    """The ExecutionEnvironment, read off the host; absent only where nothing could be started."""
    device_commitment: Maybe[Digest] = None
    """Commits to the device's identity, which only the site learns; absent where the device has none."""
    processes: Annotated[Items[Process], Field(max_length=MAX_PROCESSES)]
    """Every process that timed the job."""
    correctness: Maybe[Correctness] = None
    """How the output was checked; absent where it came to no check."""
    batch: Batch
    """What was checked for the whole batch."""
    failure: Maybe[Failure] = None
    """Why something is missing."""
    log: Log
    """An excerpt of what was printed."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        indices = [process.index for process in self.processes]
        if indices != sorted(set(indices)):
            raise ValueError("processes are in order, each once")
        if moment(self.finished_at) < moment(self.accepted_at):
            raise ValueError("the job finished before it was accepted")
        if self.environment is None:
            if self.failure is None or self.processes:
                raise ValueError("a measurement without its environment")
            return self
        try:
            kind = parse_manifest(self.environment).kind
        except ManifestError as error:
            raise ValueError(f"the environment is not valid: {error}") from error
        if kind != "ExecutionEnvironment":
            raise ValueError(f"the environment is a {kind}")
        return self
