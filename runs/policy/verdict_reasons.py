"""The sentences of a rerun's verdict: what was decided, and why, by code."""

from typing import Final

VERDICT_REASONS: Final[dict[str, str]] = {
    # void: the batch or the measurement is at fault, and says nothing about the claim
    "TELEMETRY_MISSING": "The GPU was not watched while the run was measured.",
    "TELEMETRY_SPARSE": "The GPU was watched fewer than ten times a second.",
    "THROTTLED": "The GPU slowed down for heat or power supply while the batch ran.",
    "OTHER_PROCESSES": "Another process used the GPU while the batch ran.",
    "OUT_OF_CALIBRATION": "The sentinel kernels were outside the runner's own band.",
    "SENTINELS_MISSING": "The sentinel kernels did not run both before and after the batch.",
    "CANARIES_NOT_RUN": "The batch ran without all the canaries that prove its checks.",
    "CANARY_PASSED": "An implementation that cheats on purpose passed the checks of this batch.",
    "CORRECTNESS_UNCHECKED": "The output was not compared with the reference on enough seeds.",
    "EXECUTED_UNKNOWN": "The result does not say which product or which version was executed.",
    "PROCESS_COUNT": "A verdict is taken after 5 processes, and once more after 15, at no other count.",
    "MEASURING_FAULT": "Too many processes had a measuring fault, such as kernels that outlast their own launch.",
    # mismatch
    "OTHER_PRODUCT": "The claim was made on another hardware product.",
    "OTHER_VERSION": "The claim names another version of the implementation's package.",
    # incorrect
    "WRONG_OUTPUT": "The output differs from the reference by more than the tolerance.",
    # what the times say
    "DEVICE_TIME_ABOVE_CLAIM": "The kernels alone take longer than the claim says the whole takes.",
    "CLAIM_UNSTATED": "The claim does not state all that would have to be equal for a contradiction.",
    "ENVIRONMENT_DIFFERS": "torch or triton differ from what the claim states.",
    "DEVICE_TIME_SCATTERS": "Device time scatters so much that one process may honestly have measured the claim.",
    "WITHIN_TOLERANCE": "The event time is within 10 % of the claim.",
    "EVENT_TIME_BELOW_CLAIM": "The event time is more than 10 % below the claim.",
    "HOST_ABOVE_CLAIM": "The kernels take no longer than claimed; launching them on this host does.",
    "INTERVAL_TOO_WIDE": "The processes differ too much, or lie too near a bound, to decide.",
    # what is worth knowing beside the verdict
    "LAUNCH_BOUND": "The event time is more than 1.5 times the device time: it measures the host.",
    "NO_DEVICE_TIME": "Device time was not measured in every process.",
    "PROCESSES_VOID": "Processes with a measuring fault were left out.",
    "POWER_CAPPED": "The GPU reached its power limit while the batch ran.",
    "NO_CALIBRATION_HISTORY": "The runner has no history yet that its sentinel kernels could be compared with.",
}
