"""The error rates that the documentation states, on fewer draws."""

import io
import random

import pytest

from runs.policy import verdict_simulation
from runs.policy.verdict import Verdict
from runs.policy.verdict_simulation import Kernel, honest, off_by, report

TRIALS = 600


@pytest.mark.parametrize("device_bound", [False, True])
@pytest.mark.parametrize(("noise", "least", "most"), [(0.01, 1, 1), (0.05, 0.99, 1), (0.10, 0.7, 0.9), (0.50, 0, 0.01)])
def test_a_true_claim_is_reproduced_where_the_noise_allows_it(noise, least, most, device_bound):
    share = off_by(Kernel(noise, device_bound), 1.0, TRIALS, random.Random(1))[Verdict.REPRODUCED]
    assert least <= share <= most


@pytest.mark.parametrize("noise", [0.01, 0.05, 0.10, 0.50])
@pytest.mark.parametrize(
    ("claim", "most"), [(0.5, 0), (0.8, 0.01), (0.88, 0.025), (1.12, 0.025), (1.2, 0.01), (1.5, 0)]
)
def test_a_claim_outside_the_tolerance_is_hardly_ever_reproduced(noise, claim, most):
    assert off_by(Kernel(noise, True), claim, TRIALS, random.Random(2))[Verdict.REPRODUCED] <= most


def test_a_steady_kernel_contradicts_what_is_below_it():
    verdicts = off_by(Kernel(0.01, True), 0.8, TRIALS, random.Random(3))
    assert verdicts[Verdict.CONTRADICTED] == 1.0


def test_a_launch_bound_claim_is_never_contradicted_by_its_host():
    verdicts, plain = honest(Kernel(0.50, False), TRIALS, random.Random(4))
    assert (verdicts[Verdict.CONTRADICTED], plain) == (0.0, 0.0)


def test_honest_claims_about_a_scattering_kernel_are_contradicted_far_less_often_than_by_the_plain_interval():
    verdicts, plain = honest(Kernel(0.10, True), 1_000, random.Random(5))
    assert plain > 0.03
    assert verdicts[Verdict.CONTRADICTED] <= 0.01


def test_the_report_has_a_row_for_every_noise():
    out = io.StringIO()
    report(out, trials=2, seed=1)
    lines = out.getvalue().splitlines()
    for noise in verdict_simulation.NOISES:
        assert sum(f"| {noise:.0%} |" in line for line in lines) >= 4
