"""What the rounds of a job come to, and why a round is void."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

# Device time that exceeds event time was not measured on the same work: clocks differ by far less.
DEVICE_OVER_EVENT = 1.03
LAUNCH_BOUND = 1.5


def quantile_ns(samples: Sequence[int], quantile: float) -> int:
    """A quantile by linear interpolation, as do_bench computes its own, in whole ns."""
    ordered = sorted(samples)
    place = quantile * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return round(ordered[low] + (place - low) * (ordered[high] - ordered[low]))


def round_record(number: int, pid: int, event: Mapping[str, Any], device: Mapping[str, Any]) -> dict[str, Any]:
    """One round of one job from what its process measured; all times in ns."""
    samples = event["samples"]
    median = quantile_ns(samples, 0.5)
    void = []
    if median <= 0:
        void.append("event_time_zero")
    if device["device_ns"] <= 0:
        void.append("device_time_zero")
    if device["device_ns"] > DEVICE_OVER_EVENT * median:
        void.append("device_time_exceeds_event_time")
    if event["tampered"] or device["tampered"]:
        void.append("timer_tampered")
    return {
        "round": number,
        "pid": pid,
        "event_ns": {
            "median": median,
            "p20": quantile_ns(samples, 0.2),
            "p80": quantile_ns(samples, 0.8),
            "minimum": min(samples),
            "maximum": max(samples),
            "n": len(samples),
            "samples": list(samples),
        },
        "device_ns": device["device_ns"],
        "device_activities": device["activities"],
        "device_calls": device["calls"],
        "host_ns": event["host_ns"],
        "void": void,
    }


def summarise_rounds(rounds: Sequence[Mapping[str, Any]], graphs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Medians over the rounds that are not void, in ns, and whether launching bounds event time; None without one."""
    valid = [entry for entry in rounds if not entry["void"]]
    if not valid:
        return None
    event = round(statistics.median(entry["event_ns"]["median"] for entry in valid))
    device = round(statistics.median(entry["device_ns"] for entry in valid))
    replays = [graph["ns"] for graph in graphs if graph["ns"] is not None]
    return {
        "rounds": len(valid),
        "event_ns": event,
        "event_medians_ns": [entry["event_ns"]["median"] for entry in valid],
        "device_ns": device,
        "device_medians_ns": [entry["device_ns"] for entry in valid],
        "graph_ns": round(statistics.median(replays)) if replays else None,
        "host_ns": round(statistics.median(entry["host_ns"] for entry in valid)),
        "launch_bound": event > LAUNCH_BOUND * device,
    }
