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
    "NO_REASON": "A retraction or a supersession needs a reason and an actor.",
}


def sentence(code: str) -> str:
    """The sentence of a code. An unknown code is a fault of ours and raises KeyError."""
    return REASONS[code]
