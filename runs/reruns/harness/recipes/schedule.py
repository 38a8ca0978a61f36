"""How each release's own benchmark script times an operation: the arguments are part of the protocol.

Three generations of scripts are told apart. Until 0.7.0 each script called ``triton.testing.do_bench`` itself; 0.8.0
moved seven of them to a shared runner; since 0.8.1 all of them use it. No source distribution before 0.5.3 holds the
scripts, so that what those releases measured cannot be repeated.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

FORWARD, BACKWARD, FULL, NO_GRAD = "forward", "backward", "full", "no-grad-forward"
MODES = (FORWARD, BACKWARD, FULL, NO_GRAD)
QUANTILES = (0.5, 0.2, 0.8)

FIRST_RELEASE_WITH_SCRIPTS = (0, 5, 3)
_FIRST_WITH_RUNNER = (0, 8, 0)
_FIRST_ALL_SHARED = (0, 8, 1)


@dataclass(frozen=True)
class Schedule:
    """The timing arguments of one script in one mode.

    ``warmup_ms`` and ``rep_ms`` are do_bench's. ``grad_to_none`` names the leaves whose gradient is cleared before each
    call; every other gradient accumulates, as it does in the script. ``upstream`` says where the gradient that is fed
    back comes from: ``fixed`` (one random tensor, drawn beforehand), ``drawn`` (a new one inside the timed call),
    ``unit`` (the implicit 1 of a scalar). ``outputs`` says whether the ``first`` output alone or ``all`` are
    differentiated, ``wrt`` names the arguments of ``torch.autograd.grad`` where the script calls it (empty: it calls
    ``backward``), ``retain_graph`` whether ``full`` keeps the graph.
    """

    warmup_ms: int = 25
    rep_ms: int = 10
    grad_to_none: tuple[str, ...] = ()
    upstream: str = "fixed"
    outputs: str = "first"
    wrt: tuple[str, ...] = ()
    retain_graph: bool = True

    def as_document(self) -> dict[str, Any]:
        """Plain JSON-able values, for a result."""
        document = asdict(self)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in document.items()}


@dataclass(frozen=True)
class ScriptTiming:
    """One script's schedules before the shared runner: forward, backward and full."""

    forward: Schedule
    backward: Schedule
    full: Schedule

    def of(self, mode: str) -> Schedule:
        """The schedule of a mode; a forward without gradients is timed as the forward is, and clears none."""
        if mode == NO_GRAD:
            return replace(self.forward, grad_to_none=())
        return {FORWARD: self.forward, BACKWARD: self.backward, FULL: self.full}[mode]


def _same_for_all(schedule: Schedule, **full_changes: Any) -> ScriptTiming:
    return ScriptTiming(schedule, schedule, replace(schedule, **full_changes))


def _loss(leaf: str, *, retain_graph: bool, cleared: bool = True) -> ScriptTiming:
    """The losses measured for 100 ms, cleared no gradient but in backward, and fed the implicit 1 back.

    ``cleared`` is false where the script clears the gradient of a tensor that is no leaf, which has none.
    """
    plain = Schedule(rep_ms=100, upstream="unit", retain_graph=retain_graph)
    return ScriptTiming(plain, replace(plain, grad_to_none=(leaf,) if cleared else ()), plain)


_NORM = _same_for_all(Schedule(rep_ms=500, grad_to_none=("x",)))
_MLP = _same_for_all(Schedule(rep_ms=10, grad_to_none=("x",)), upstream="drawn")
_ROPE = _same_for_all(Schedule(rep_ms=400, outputs="all", wrt=("q", "k")), retain_graph=False)
_EMBEDDING = Schedule(rep_ms=100, upstream="drawn")

# Releases until 0.7.0, by kernel name; 0.8.0 too for those that the shared runner had not taken over.
OWN_SCRIPTS: Mapping[str, ScriptTiming] = {
    "rms_norm": _NORM,
    "layer_norm": _NORM,
    "group_norm": _NORM,
    "softmax": _NORM,
    "sparsemax": _NORM,
    "poly_norm": _NORM,
    "relu_squared": _NORM,
    "dyt": _same_for_all(Schedule(rep_ms=500, grad_to_none=("x",)), retain_graph=False),
    "fused_add_rms_norm": _same_for_all(
        Schedule(rep_ms=500, grad_to_none=("x", "residual"), outputs="all"), retain_graph=False
    ),
    "swiglu": _MLP,
    "geglu": _MLP,
    "rope": _ROPE,
    "llama4_rope": _ROPE,
    "cross_entropy": _loss("logits", retain_graph=False),
    "kl_div": _loss("student_logits", retain_graph=True, cleared=False),
    "jsd": _loss("student_logits", retain_graph=True, cleared=False),
    "tvd": _loss("student_logits", retain_graph=True, cleared=False),
    "fused_linear_cross_entropy": _loss("x", retain_graph=False),
    "fused_linear_jsd": _loss("student_input", retain_graph=False),
    "embedding": ScriptTiming(_EMBEDDING, _EMBEDDING, replace(_EMBEDDING, retain_graph=False)),
}

_SHARED_IN_0_8_0 = frozenset({"rms_norm", "layer_norm", "group_norm", "swiglu", "geglu", "dyt", "poly_norm"})

# The shared runner clears the gradient of the first argument. Where that is no leaf (rope's transposed view, a loss's
# log-softmax) or needs none (embedding's indices), nothing is cleared and the leaf's gradient accumulates.
_CLEARED_BY_RUNNER: Mapping[str, tuple[str, ...]] = {
    "cross_entropy": ("logits",),
    "fused_linear_jsd": ("student_input",),
    "llama4_rope": ("q",),
    "rope": (),
    "kl_div": (),
    "jsd": (),
    "tvd": (),
    "embedding": (),
}

# In 0.7.0 and before, the torch side of fused_linear_jsd cleared the gradients of its two matrices as well.
_JSD_TORCH_CLEARS = ("student_input", "student_weight", "teacher_weight")


def parse_release(version: str) -> tuple[int, ...]:
    """``0.8.5`` as (0, 8, 5); raises ValueError for anything but numbers and dots."""
    return tuple(int(part) for part in version.split("."))


def schedule_for(kernel: str, provider: str, mode: str, release: tuple[int, ...]) -> Schedule | None:
    """The timing arguments of a release's script, None for a release whose script nobody published."""
    if release < FIRST_RELEASE_WITH_SCRIPTS:
        return None
    if release >= _FIRST_ALL_SHARED or (release >= _FIRST_WITH_RUNNER and kernel in _SHARED_IN_0_8_0):
        return _shared_runner(kernel, mode)
    schedule = OWN_SCRIPTS[kernel].of(mode)
    if kernel == "fused_linear_jsd" and mode == BACKWARD and release < _FIRST_WITH_RUNNER and provider == "torch":
        return replace(schedule, grad_to_none=_JSD_TORCH_CLEARS)
    return schedule


def _shared_runner(kernel: str, mode: str) -> Schedule:
    cleared = _CLEARED_BY_RUNNER.get(kernel, ("x",)) if mode != NO_GRAD else ()
    return Schedule(grad_to_none=cleared, upstream="drawn" if mode == FULL else "fixed")
