"""What is known of a run's correctness, and who says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runs.reads.values import Fact

NOT_ASSERTED: Final = "not_asserted"

# A sentence for every status of a run that did not pass; `{who}` reported it.
_FAILED: Final = {
    "incorrect_shape": "{who} reports a result of the wrong shape.",
    "incorrect_dtype": "{who} reports a result of the wrong dtype.",
    "incorrect_numerical": "{who} reports a result that differs from the reference by more than the policy allows.",
    "compile_error": "{who} reports that the implementation did not compile; no result was checked.",
    "runtime_error": "{who} reports an error while it ran; no result was checked.",
    "timeout": "{who} reports that it did not finish in time; no result was checked.",
    "resource_exceeded": "{who} reports that it needed more resources than there were; no result was checked.",
    "invalid_reference": "{who} reports that the reference itself was invalid, so that nothing could be checked.",
    "policy_violation": "{who} reports that the implementation broke the rules of the benchmark.",
    "suspected_reward_hack": "{who} suspects that the implementation deceives the benchmark.",
    "incomplete_evidence": "{who} reports that the evidence is incomplete.",
    "revoked": "{who} revoked the result.",
}

_ERRORS: Final = (
    ("maximumAbsoluteError", "maximum absolute error"),
    ("maximumRelativeError", "maximum relative error"),
    ("matchedRatio", "matched ratio"),
)
_LIMITS: Final = (
    ("maxAbsoluteError", "absolute error allowed"),
    ("maxRelativeError", "relative error allowed"),
    ("requiredMatchedRatio", "matched ratio required"),
    ("nanPolicy", "NaN"),
    ("infinityPolicy", "infinity"),
    ("description", "rule"),
)


def facts(run: Mapping[str, Any], workload: Mapping[str, Any]) -> tuple[Fact, ...]:
    """The errors that the run states and the limits that its workload sets; empty where nothing is stated."""
    stated, policy = run.get("correctness", {}), workload["correctness"]
    lines = [Fact("comparator", stated["comparator"])] if stated else []
    lines += [Fact(shown, str(stated[name])) for name, shown in _ERRORS if name in stated]
    lines += [Fact(shown, str(policy[name])) for name, shown in _LIMITS if name in policy]
    return tuple(lines)


def note(run: Mapping[str, Any], workload: Mapping[str, Any]) -> str:
    """One sentence on what was checked, and by whom."""
    who = "The source" if "sourceNative" in run else "The contributor"
    status = run["status"]
    if status != "passed":
        return _FAILED[status].format(who=who)
    marked = f"Marked passed by {who[0].lower()}{who[1:]}"
    comparator = workload["correctness"]["comparator"]
    if "correctness" in run:
        return f"{marked}, which states how far the result was from the reference."
    if comparator == NOT_ASSERTED:
        return f"{marked}; the correctness policy was not published."
    return f"{marked} under the comparator {comparator}; the errors themselves were not published."
