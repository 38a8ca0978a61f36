"""What a rerun says about a claim: facts in, a verdict and its reasons out. Published and versioned as `verdict-v1`.

E is event time under the claim's own protocol, D device time, C the claim, all in ns. The rules are tried in this order
and the first that holds decides:

1. void          telemetry, calibration, canaries or the measurement itself are at fault
2. mismatch      another hardware product, or another version of the implementation's package than the claim names
3. incorrect     the output is wrong
4. contradicted  D/C is wholly above 1.1, one more process would still be, and product, implementation, torch and
                 triton are stated by the claim and equal here
5. slower here   D/C is wholly above 1.1, but one of those conditions fails: refutes nothing
6. reproduced    E/C lies wholly within 0.9 to 1.1
7. faster        E/C is wholly below 0.9
8. host-bound    E/C is wholly above 1.1 and D/C wholly below: another host might reach the claim
9. inconclusive  anything else

Intervals are Student's t intervals of the logarithms of process medians. A verdict is taken after 5 processes and, if
that decides nothing, once more after 15, each time at 97.5 %, so that the whole keeps 95 %. "One more process would
still be" is a prediction interval: the claim is itself the median of one process. Without it an honest claim about a
kernel whose device time scatters by 10 % is contradicted in about 5 cases of 100, with it in fewer than one
(`runs.policy.verdict_simulation`); where device time agrees within 1.5 %, the two rules agree.

The intervals know the scatter of processes on one host. How one host differs from the next they cannot know, which is
why a claim just outside the tolerance may be reproduced on a host that is faster or slower than most.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from runs.policy.statistics import Ratio, confidence_interval, prediction_interval
from runs.policy.verdict_reasons import VERDICT_REASONS

VERSION: Final = "verdict-v1"
FIRST_LOOK: Final = 5
SECOND_LOOK: Final = 15
FEWEST_VALID_AT_SECOND_LOOK: Final = 12
LOOK_CONFIDENCE: Final = 0.975
LOW: Final = 0.9
HIGH: Final = 1.1
LAUNCH_BOUND_SHARE: Final = 1.5
MAX_DEVICE_SHARE: Final = 1.03
"""D ≤ 1.03 E in one process; beyond that the sample is a measuring fault."""
MIN_TELEMETRY_HZ: Final = 10.0
REQUIRED_CANARIES: Final = frozenset({"zeros", "constant", "cached", "ignores_input", "late"})
"""Implementations that cheat: zeros, a constant, an old output, an ignored input, work after the timer has stopped."""


class Verdict(StrEnum):
    """The nine outcomes, in the order in which they are tried."""

    VOID = "void"
    MISMATCH = "mismatch"
    INCORRECT = "incorrect"
    CONTRADICTED = "contradicted"
    SLOWER_HERE = "slower_here"
    REPRODUCED = "reproduced"
    FASTER = "faster"
    HOST_BOUND = "host_bound"
    INCONCLUSIVE = "inconclusive"


class Correctness(StrEnum):
    """The outcome of comparing outputs with the reference."""

    PASSED = "passed"
    FAILED = "failed"
    UNCHECKED = "unchecked"


class Agreement(StrEnum):
    """How what was executed compares with what the claim states."""

    EQUAL = "equal"
    SAME_RELEASE = "same_release"
    """The claim names a version without its build (2.11.0), a build of it was executed (2.11.0+cu130)."""
    DIFFERENT = "different"
    UNSTATED = "unstated"


@dataclass(frozen=True, slots=True)
class Stated:
    """A product or a package version: as the claim states it, and as it was executed (None where not known)."""

    name: str
    claimed: str | None
    executed: str | None

    @property
    def agreement(self) -> Agreement:
        """Equal in every letter, the same release, different, or not comparable because one side is silent."""
        if self.claimed is None or self.executed is None:
            return Agreement.UNSTATED
        if self.claimed == self.executed:
            return Agreement.EQUAL
        if "+" not in self.claimed and self.executed.partition("+")[0] == self.claimed:
            return Agreement.SAME_RELEASE
        return Agreement.DIFFERENT

    def __str__(self) -> str:
        return f"{self.name}: claimed {self.claimed or 'nothing'}, executed {self.executed or 'unknown'}"


@dataclass(frozen=True, slots=True)
class ProcessTimes:
    """The medians of one process, in ns; device time is None where it could not be measured."""

    event_ns: float
    device_ns: float | None = None
    faulty: bool = False
    """Whether the harness found a fault, such as a timer that was tampered with."""

    def __post_init__(self) -> None:
        for value in (self.event_ns, self.device_ns):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ValueError("a process median is a number of ns that is not negative")

    @property
    def is_void(self) -> bool:
        """Whether it proves nothing: a fault, a time of zero, or kernels that outlast the call that launched them."""
        if self.faulty or self.event_ns == 0 or self.device_ns == 0:
            return True
        return self.device_ns is not None and self.device_ns > MAX_DEVICE_SHARE * self.event_ns


class Calibration(StrEnum):
    """How the sentinel kernels compare with the runner's own history."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    NO_HISTORY = "no_history"
    MISSING = "missing"
    """They did not run both before and after the batch."""


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What was watched while the batch ran."""

    samples: int
    seconds: float
    throttled: bool
    power_capped: bool
    other_processes: bool

    @property
    def hertz(self) -> float:
        """Samples a second."""
        return self.samples / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Batch:
    """The outcome of what is checked once a batch. `telemetry` is None where none was taken; a CPU needs none."""

    telemetry: Telemetry | None
    has_gpu: bool
    calibration: Calibration
    canaries_caught: frozenset[str]
    """The canaries that the checks caught, by name."""
    canaries_passed: frozenset[str] = frozenset()
    """The canaries that fooled the checks."""

    @property
    def canaries_missing(self) -> frozenset[str]:
        """The required canaries that did not run."""
        return REQUIRED_CANARIES - self.canaries_caught - self.canaries_passed


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a verdict depends on. `processes` holds every process that was executed, void ones included."""

    claim_ns: float
    processes: tuple[ProcessTimes, ...]
    product: Stated
    implementation: Stated
    torch: Stated
    triton: Stated
    correctness: Correctness
    batch: Batch

    def __post_init__(self) -> None:
        if not (math.isfinite(self.claim_ns) and self.claim_ns > 0):
            raise ValueError("a claim is a positive number of ns")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why: a code, its sentence, and what exactly (empty where the sentence says it all)."""

    code: str
    detail: str = ""

    @property
    def sentence(self) -> str:
        """The sentence of the code; an unknown code is a fault of ours and raises KeyError."""
        return VERDICT_REASONS[self.code]


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with what it rests on. Ratios are given wherever they could be computed, whatever the verdict."""

    verdict: Verdict
    reasons: tuple[Reason, ...]
    event: Ratio | None
    """E/C with its 97.5 % interval."""
    device: Ratio | None
    """D/C with its 97.5 % interval."""
    launch_bound: bool | None
    """E > 1.5 D; None where device time is not known."""
    processes: int
    """How many processes the ratios rest on."""
    needs_more_processes: bool
    """Whether the second look is still to be taken."""
    hardware_equal: bool
    """Whether the claim states the product that was used."""
    version: str = field(default=VERSION)


def decide(facts: Facts) -> Decision:
    """The verdict on a claim."""
    valid = tuple(process for process in facts.processes if not process.is_void)
    devices = [process.device_ns for process in valid if process.device_ns is not None]
    times = _Times(
        executed=len(facts.processes),
        valid=len(valid),
        claim_ns=facts.claim_ns,
        events=tuple(process.event_ns for process in valid),
        devices=tuple(devices) if len(devices) == len(valid) else (),
    )
    verdict, reasons, needs_more = _first_that_holds(facts, times)
    return Decision(
        verdict=verdict,
        reasons=(*reasons, *_notes(facts, times)),
        event=times.event,
        device=times.device,
        launch_bound=times.launch_bound,
        processes=times.valid,
        needs_more_processes=needs_more,
        hardware_equal=facts.product.agreement is Agreement.EQUAL,
    )


class _Times:
    """The intervals of one look."""

    def __init__(
        self, *, executed: int, valid: int, claim_ns: float, events: tuple[float, ...], devices: tuple[float, ...]
    ) -> None:
        self.executed = executed
        self.valid = valid
        self.event = confidence_interval(events, claim_ns, LOOK_CONFIDENCE) if len(events) > 1 else None
        self.device = confidence_interval(devices, claim_ns, LOOK_CONFIDENCE) if len(devices) > 1 else None
        self.next_device = prediction_interval(devices, claim_ns, LOOK_CONFIDENCE) if len(devices) > 1 else None

    @property
    def launch_bound(self) -> bool | None:
        if self.event is None or self.device is None:
            return None
        return self.event.estimate > LAUNCH_BOUND_SHARE * self.device.estimate


_Outcome = tuple[Verdict, tuple[Reason, ...], bool]


def _first_that_holds(facts: Facts, times: _Times) -> _Outcome:
    if voids := tuple(_void_reasons(facts)):
        return Verdict.VOID, voids, False
    if mismatches := tuple(_mismatches(facts)):
        return Verdict.MISMATCH, mismatches, False
    if facts.correctness is Correctness.FAILED:
        return Verdict.INCORRECT, (Reason("WRONG_OUTPUT"),), False
    return _from_times(facts, times)


def _void_reasons(facts: Facts) -> Iterator[Reason]:
    yield from _telemetry_faults(facts.batch)
    yield from _guard_faults(facts.batch, failed=facts.correctness is Correctness.FAILED)
    if facts.correctness is Correctness.UNCHECKED:
        yield Reason("CORRECTNESS_UNCHECKED")
    for stated in (facts.product, facts.implementation):
        if stated.executed is None:
            yield Reason("EXECUTED_UNKNOWN", str(stated))


def _telemetry_faults(batch: Batch) -> Iterator[Reason]:
    telemetry = batch.telemetry
    if telemetry is None:
        if batch.has_gpu:
            yield Reason("TELEMETRY_MISSING")
        return
    if telemetry.hertz < MIN_TELEMETRY_HZ:
        yield Reason("TELEMETRY_SPARSE", f"{telemetry.hertz:.1f} samples a second")
    if telemetry.throttled:
        yield Reason("THROTTLED")
    if telemetry.other_processes:
        yield Reason("OTHER_PROCESSES")


def _guard_faults(batch: Batch, *, failed: bool) -> Iterator[Reason]:
    if batch.calibration is Calibration.OUTSIDE:
        yield Reason("OUT_OF_CALIBRATION")
    if batch.canaries_passed:
        yield Reason("CANARY_PASSED", ", ".join(sorted(batch.canaries_passed)))
    # Where every job of a batch is wrong there is none to disguise a canary as, and nothing to time between sentinels:
    # a check that failed is believed without either.
    if failed:
        return
    if batch.calibration is Calibration.MISSING:
        yield Reason("SENTINELS_MISSING")
    if batch.canaries_missing:
        yield Reason("CANARIES_NOT_RUN", ", ".join(sorted(batch.canaries_missing)))


def _mismatches(facts: Facts) -> Iterator[Reason]:
    # A product has no builds, so that "the same release" of one is another product.
    if facts.product.agreement not in (Agreement.EQUAL, Agreement.UNSTATED):
        yield Reason("OTHER_PRODUCT", str(facts.product))
    if facts.implementation.agreement is Agreement.DIFFERENT:
        yield Reason("OTHER_VERSION", str(facts.implementation))


def _from_times(facts: Facts, times: _Times) -> _Outcome:
    first = times.executed == FIRST_LOOK
    if not first and times.executed != SECOND_LOOK:
        return Verdict.VOID, (Reason("PROCESS_COUNT", f"{times.executed} processes"),), False
    if times.valid < (FIRST_LOOK if first else FEWEST_VALID_AT_SECOND_LOOK):
        fault = (Reason("MEASURING_FAULT", f"{times.executed - times.valid} of {times.executed}"),)
        return (Verdict.INCONCLUSIVE, fault, True) if first else (Verdict.VOID, fault, False)
    assert times.event is not None
    if times.device is not None and times.device.low > HIGH:
        return _kernels_above_claim(facts, times, first=first)
    verdict, code = _from_event_time(times.event, times.device)
    return verdict, (Reason(code),), first and verdict is Verdict.INCONCLUSIVE


def _from_event_time(event: Ratio, device: Ratio | None) -> tuple[Verdict, str]:
    if event.within(LOW, HIGH):
        return Verdict.REPRODUCED, "WITHIN_TOLERANCE"
    if event.high < LOW:
        return Verdict.FASTER, "EVENT_TIME_BELOW_CLAIM"
    if event.low > HIGH and device is not None and device.high < HIGH:
        return Verdict.HOST_BOUND, "HOST_ABOVE_CLAIM"
    return Verdict.INCONCLUSIVE, "INTERVAL_TOO_WIDE"


def _kernels_above_claim(facts: Facts, times: _Times, *, first: bool) -> _Outcome:
    above = Reason("DEVICE_TIME_ABOVE_CLAIM")
    conditions = (facts.product, facts.implementation, facts.torch, facts.triton)
    open_points = tuple(
        Reason("ENVIRONMENT_DIFFERS" if stated.agreement is Agreement.DIFFERENT else "CLAIM_UNSTATED", str(stated))
        for stated in conditions
        if stated.agreement is not Agreement.EQUAL
    )
    if open_points:
        return Verdict.SLOWER_HERE, (above, *open_points), False
    assert times.next_device is not None
    if times.next_device.low > HIGH:
        return Verdict.CONTRADICTED, (above,), False
    scatter = Reason("DEVICE_TIME_SCATTERS")
    if first:
        return Verdict.INCONCLUSIVE, (scatter,), True
    return Verdict.SLOWER_HERE, (above, scatter), False


def _notes(facts: Facts, times: _Times) -> Iterator[Reason]:
    """What does not decide but belongs beside the verdict."""
    if times.launch_bound:
        yield Reason("LAUNCH_BOUND")
    if times.event is not None and times.device is None:
        yield Reason("NO_DEVICE_TIME")
    if times.valid < times.executed:
        yield Reason("PROCESSES_VOID", f"{times.executed - times.valid} of {times.executed}")
    if facts.batch.telemetry is not None and facts.batch.telemetry.power_capped:
        yield Reason("POWER_CAPPED")
    if facts.batch.calibration is Calibration.NO_HISTORY:
        yield Reason("NO_CALIBRATION_HISTORY")
