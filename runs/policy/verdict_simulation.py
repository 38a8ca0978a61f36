"""How often a verdict is wrong, by simulation; `python -m runs.policy.verdict_simulation` prints the docs' tables.

Process medians are log-normal around the truth; `noise` is the standard deviation of their logarithm. Two kinds of
kernel are simulated. In a *launch-bound* one the noise is the host's, and device time is a fifth of event time and
scatters by 1 %. In a *device-bound* one the noise is the kernel's own, and device time is 98 % of event time in each
process. Correctness, telemetry and versions are in order throughout, so that times alone decide.
"""

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TextIO

from runs.policy.statistics import confidence_interval
from runs.policy.verdict import (
    FIRST_LOOK,
    HIGH,
    LOOK_CONFIDENCE,
    REQUIRED_CANARIES,
    SECOND_LOOK,
    Batch,
    Calibration,
    Correctness,
    Decision,
    Facts,
    ProcessTimes,
    Stated,
    Telemetry,
    Verdict,
    decide,
)

NOISES: Final = (0.01, 0.05, 0.10, 0.50)
CLAIMS: Final = (0.5, 0.8, 0.88, 1.0, 1.12, 1.2, 1.5)
"""The claim over the truth: off by 50, 20 and 12 % either way, and true."""
TRUTH_NS: Final = 100_000.0

_BATCH = Batch(
    telemetry=Telemetry(samples=1_000, seconds=100.0, throttled=False, power_capped=False, other_processes=False),
    has_gpu=True,
    calibration=Calibration.INSIDE,
    canaries_caught=REQUIRED_CANARIES,
)


@dataclass(frozen=True, slots=True)
class Kernel:
    """What is simulated: the process noise, and whether it is the kernel's own."""

    noise: float
    device_bound: bool

    def processes(self, rng: random.Random, host: float = 1.0) -> tuple[ProcessTimes, ...]:
        """The medians of 15 processes on a host that is `host` times as slow as the usual one."""
        return tuple(self._process(rng, host) for _ in range(SECOND_LOOK))

    def _process(self, rng: random.Random, host: float) -> ProcessTimes:
        event = TRUTH_NS * host * math.exp(rng.gauss(0.0, self.noise))
        if self.device_bound:
            return ProcessTimes(event, 0.98 * event)
        # A call cannot end before its kernels do, however lucky the host.
        device = 0.2 * TRUTH_NS * math.exp(rng.gauss(0.0, 0.01))
        return ProcessTimes(max(event, device), device)


def rerun(claim_ns: float, processes: tuple[ProcessTimes, ...]) -> Decision:
    """The verdict after the first look, or after the second where the first asks for it."""
    decision = decide(_facts(claim_ns, processes[:FIRST_LOOK]))
    return decide(_facts(claim_ns, processes)) if decision.needs_more_processes else decision


def _facts(claim_ns: float, processes: tuple[ProcessTimes, ...]) -> Facts:
    return Facts(
        claim_ns=claim_ns,
        processes=processes,
        product=Stated("product", "NVIDIA H200", "NVIDIA H200"),
        implementation=Stated("liger-kernel", "0.8.5", "0.8.5"),
        torch=Stated("torch", "2.11.0+cu130", "2.11.0+cu130"),
        triton=Stated("triton", "3.6.0", "3.6.0"),
        correctness=Correctness.PASSED,
        batch=_BATCH,
    )


def shares(trials: int, draw: Callable[[], Verdict]) -> Mapping[Verdict, float]:
    """How often each verdict comes out of `trials` draws."""
    counts = Counter(draw() for _ in range(trials))
    return {verdict: counts[verdict] / trials for verdict in Verdict}


def off_by(
    kernel: Kernel, claim: float, trials: int, rng: random.Random, host_noise: float = 0.0
) -> dict[Verdict, float]:
    """Verdicts on a claim that is `claim` times the truth, on hosts that differ by `host_noise` from each other."""

    def draw() -> Verdict:
        host = math.exp(rng.gauss(0.0, host_noise)) if host_noise else 1.0
        return rerun(claim * TRUTH_NS, kernel.processes(rng, host)).verdict

    return dict(shares(trials, draw))


def honest(kernel: Kernel, trials: int, rng: random.Random) -> tuple[dict[Verdict, float], float]:
    """Verdicts on honest claims, each the median of one process, and how often the plain interval would contradict.

    The plain interval is the confidence interval of D/C alone, without regard to the claim's own scatter.
    """
    plainly_contradicted = 0

    def draw() -> Verdict:
        nonlocal plainly_contradicted
        claim_ns = kernel.processes(rng)[0].event_ns
        processes = kernel.processes(rng)
        plainly_contradicted += _plainly_contradicted(claim_ns, processes)
        return rerun(claim_ns, processes).verdict

    verdicts = dict(shares(trials, draw))
    return verdicts, plainly_contradicted / trials


def _plainly_contradicted(claim_ns: float, processes: tuple[ProcessTimes, ...]) -> bool:
    devices = [process.device_ns for process in processes if process.device_ns is not None]
    return any(
        confidence_interval(devices[:look], claim_ns, LOOK_CONFIDENCE).low > HIGH for look in (FIRST_LOOK, SECOND_LOOK)
    )


def report(out: TextIO, trials: int, seed: int) -> None:
    """Write the tables as Markdown."""
    rng = random.Random(seed)  # noqa: S311  (a simulation wants repeatable numbers, not secret ones)
    heads = " | ".join(f"C = {claim:g} × truth" for claim in CLAIMS)
    for device_bound in (False, True):
        out.write(
            f"\n{'Device' if device_bound else 'Launch'}-bound: share *reproduced* ({trials:,} reruns a cell)\n\n"
        )
        out.write(f"| process noise | {heads} |\n|---{'|---' * len(CLAIMS)}|\n")
        for noise in NOISES:
            kernel = Kernel(noise, device_bound)
            cells = (off_by(kernel, claim, trials, rng)[Verdict.REPRODUCED] for claim in CLAIMS)
            out.write(f"| {noise:.0%} | " + " | ".join(f"{cell:.2%}" for cell in cells) + " |\n")
    out.write("\nDevice-bound, hosts that differ by 1.5 %: share *reproduced*\n\n")
    out.write(f"| process noise | {heads} |\n|---{'|---' * len(CLAIMS)}|\n")
    for noise in NOISES[:2]:
        cells = (off_by(Kernel(noise, True), claim, trials, rng, 0.015)[Verdict.REPRODUCED] for claim in CLAIMS)
        out.write(f"| {noise:.0%} | " + " | ".join(f"{cell:.2%}" for cell in cells) + " |\n")
    out.write(
        "\nHonest claims, each the median of one process; the last column is the rule without the claim's scatter\n\n"
    )
    columns = [verdict for verdict in Verdict if verdict not in (Verdict.VOID, Verdict.MISMATCH, Verdict.INCORRECT)]
    out.write("| kernel | process noise | " + " | ".join(columns) + " | contradicted by D/C alone |\n")
    out.write(f"|---|---{'|---' * (len(columns) + 1)}|\n")
    for device_bound in (False, True):
        for noise in NOISES:
            verdicts, plain = honest(Kernel(noise, device_bound), trials, rng)
            row = " | ".join(f"{verdicts[verdict]:.2%}" for verdict in columns)
            out.write(f"| {'device' if device_bound else 'launch'}-bound | {noise:.0%} | {row} | {plain:.2%} |\n")


if __name__ == "__main__":
    report(sys.stdout, trials=2_000, seed=20_261_201)
