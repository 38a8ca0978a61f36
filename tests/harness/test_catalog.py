import subprocess
import sys

import pytest

from runs.reruns.harness.recipes.catalog import OPERATIONS, NotRerunnable, Recipe, find_recipe
from runs.reruns.harness.recipes.schedule import OWN_SCRIPTS
from tests.harness.workloads import WORKLOADS


def _recipe(*arguments: str) -> Recipe:
    found = find_recipe(*arguments)  # type: ignore[arg-type]
    assert isinstance(found, Recipe)
    return found


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("liger-fused-moe", "liger", "forward", "0.8.5"), "operation_without_recipe"),
        (("liger-rms-norm", "megatron", "forward", "0.8.5"), "provider_without_recipe"),
        (("liger-rms-norm", "liger", "sideways", "0.8.5"), "mode_without_recipe"),
        (("liger-rms-norm", "liger", "forward", None), "release_unknown"),
        (("liger-rms-norm", "liger", "forward", "main"), "release_unknown"),
        (("liger-rms-norm", "liger", "forward", "0.2.1"), "protocol_unpublished"),
    ],
)
def test_it_says_why_a_claim_cannot_be_rerun(arguments, code: str):
    found = find_recipe(*arguments)
    assert isinstance(found, NotRerunnable)
    assert found.code == code
    assert found.reason.endswith(".")


def test_every_operation_has_timing_arguments_and_a_tested_workload():
    assert {entry.kernel for entry in OPERATIONS.values()} == set(OWN_SCRIPTS)
    assert set(OPERATIONS) == set(WORKLOADS)


def test_looking_a_recipe_up_needs_no_torch():
    code = "import sys; import runs.reruns.harness.recipes.catalog; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("operation", "release", "mode", "warmup", "rep"),
    [
        ("liger-rms-norm", "0.7.0", "forward", 25, 500),
        ("liger-group-norm", "0.7.0", "backward", 25, 500),
        ("liger-rms-norm", "0.8.0", "forward", 25, 10),
        ("liger-rms-norm", "0.8.5", "full", 25, 10),
        ("liger-softmax", "0.8.0", "full", 25, 500),
        ("liger-softmax", "0.8.1", "full", 25, 10),
        ("liger-rope", "0.6.0", "full", 25, 400),
        ("liger-tvd", "0.7.0", "forward", 25, 100),
        ("liger-swiglu", "0.5.3", "forward", 25, 10),
    ],
)
def test_the_timing_arguments_are_those_of_the_releases_script(operation, release, mode, warmup, rep):
    schedule = _recipe(operation, "liger", mode, release).schedule
    assert (schedule.warmup_ms, schedule.rep_ms) == (warmup, rep)


def test_the_shared_runner_draws_the_gradient_of_full_inside_the_timed_call():
    assert _recipe("liger-rms-norm", "liger", "full", "0.8.5").schedule.upstream == "drawn"
    assert _recipe("liger-rms-norm", "liger", "full", "0.7.0").schedule.upstream == "fixed"
    assert _recipe("liger-rms-norm", "liger", "backward", "0.8.5").schedule.upstream == "fixed"


def test_the_shared_runner_clears_no_gradient_where_the_first_argument_is_no_leaf():
    assert _recipe("liger-rms-norm", "liger", "backward", "0.8.5").schedule.grad_to_none == ("x",)
    assert _recipe("liger-rope", "liger", "backward", "0.8.5").schedule.grad_to_none == ()
    assert _recipe("liger-jsd", "liger", "full", "0.8.5").schedule.grad_to_none == ()


def test_losses_cleared_the_gradient_in_backward_alone():
    for mode, cleared in (("forward", ()), ("backward", ("logits",)), ("full", ())):
        assert _recipe("liger-cross-entropy", "torch", mode, "0.7.0").schedule.grad_to_none == cleared


def test_the_torch_side_of_fused_linear_jsd_cleared_its_matrices_too():
    cleared = _recipe("liger-fused-linear-jsd", "torch", "backward", "0.7.0").schedule.grad_to_none
    assert cleared == ("student_input", "student_weight", "teacher_weight")
    assert _recipe("liger-fused-linear-jsd", "liger", "backward", "0.7.0").schedule.grad_to_none == ("student_input",)


def test_a_recipe_names_the_package_its_code_comes_from():
    assert _recipe("liger-swiglu", "huggingface", "full", "0.8.5").package == "transformers"
    assert _recipe("liger-rms-norm", "huggingface", "full", "0.8.5").package == "torch"
    assert _recipe("liger-fused-add-rms-norm", "liger_rms_norm", "full", "0.8.5").package == "liger-kernel"
