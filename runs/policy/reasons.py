"""Every refusal and every "does not rank" is a code with its sentence, here and nowhere else."""

from __future__ import annotations

from typing import Final

REASONS: Final[dict[str, str]] = {
    # why a run does not rank
    "NOT_PASSED": "Only runs with the status passed rank.",
    "NO_PRIMARY_MEASUREMENT": "The run publishes no primary measurement.",
    "NOT_POSITIVE": "The primary measurement is not a positive number.",
    "RETRACTED": "The run was retracted.",
    "SUPERSEDED": "A corrected record supersedes the run.",
    "BELOW_PHYSICAL_FLOOR": "A moderator confirmed that the hardware cannot be as fast as the run says.",
    # why nothing is claimed about the physical floor of a run
    "FLOOR_HARDWARE_UNKNOWN": "No data-sheet figures are known for the hardware, or not which variant of it this is.",
    "FLOOR_SEVERAL_DEVICES": "The run used several devices, and how they shared the work is not stated.",
    "FLOOR_PASS_UNKNOWN": "The protocol does not say which pass it times.",
    "FLOOR_TRAFFIC_UNKNOWN": "What the operation has to read, write and compute does not follow from its tensors.",
    "FLOOR_PASS_UNBOUNDED": "The timed pass may be prepared by work outside the timed call.",
    "FLOOR_NEGLIGIBLE": "All that the timed call has to move fits into the cache.",
    # why publication refuses a record
    "INVALID_MANIFEST": "The manifest does not follow the format.",
    "DIGEST_MISMATCH": "The stated digest is not the digest of the manifest.",
    "MISSING_REFERENCE": "The manifest refers to a record that is neither in the bundle nor in the index.",
    "AMBIGUOUS_REFERENCE": "The digest belongs to several entries, and the record does not say which one it means.",
    "REFERENCE_MISMATCH": "The record refers to records of different operations.",
    "UNSUPPORTED_KIND": "The index does not publish records of this kind.",
    "UNKNOWN_RUN": "No published run has this digest.",
    "ALREADY_RETRACTED": "The run is already retracted.",
    "ALREADY_SUPERSEDED": "The run is already superseded.",
    "SUPERSEDED_BY_ITSELF": "A run cannot supersede itself, directly or through its successors.",
    "KEY_EXISTS": "A key with this name or this id is registered already.",
    "UNKNOWN_KEY": "No key has this name.",
    "OWN_KEY": "Nobody approves a key that they operate themselves.",
    "KEY_DECISION": "The decision does not follow from the key's state.",
    "ALREADY_CONFIRMED": "The run is already confirmed to be below the physical floor.",
    "NOT_BELOW_FLOOR": "The run is not below a physical floor that follows from its record.",
    "NO_REASON": "A retraction or a supersession needs a reason and an actor.",
}


def sentence(code: str) -> str:
    """The sentence of a code. An unknown code is a fault of ours and raises KeyError."""
    return REASONS[code]
