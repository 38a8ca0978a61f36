"""How far a run is checked: its evidence level, derived from all its reruns and from nothing else.

    reported    somebody says so
    verified    a standing rerun reproduced it on the claim's own hardware, and no standing rerun speaks against it
    replicated  two such reruns by different operators on different physical devices

A rerun that *contradicted* the claim or found its output *incorrect* marks the run disputed and takes every level
above reported away. Support needs a runner that is trusted today: revoking it removes what it supported. A suspension
leaves past results alone. A dispute does not vanish by revoking the runner that raised it, or revocation would be a way
to raise a level; it ends when a trusted runner reproduces the claim after that revocation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from itertools import combinations
from typing import Final

from runs.policy.verdict import Verdict

VERSION: Final = "level-v1"
CONCLUSIVE: Final = frozenset(
    {
        Verdict.INCORRECT,
        Verdict.CONTRADICTED,
        Verdict.SLOWER_HERE,
        Verdict.REPRODUCED,
        Verdict.FASTER,
        Verdict.HOST_BOUND,
    }
)
"""Verdicts that say something about the claim; void, mismatch and inconclusive say something about the rerun."""
DISPUTING: Final = frozenset({Verdict.INCORRECT, Verdict.CONTRADICTED})


class EvidenceLevel(IntEnum):
    """Ordered: a higher level needs everything that the lower one needs."""

    REPORTED = 0
    VERIFIED = 1
    REPLICATED = 2

    @property
    def slug(self) -> str:
        """The name as it is stored and shown in URLs: reported, verified, replicated."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Rerun:
    """What a level needs to know of a rerun of the run."""

    key: str
    """What identifies the rerun record; a record counts once however often it is listed."""
    verdict: Verdict
    finished_at: datetime
    operator: str
    """Who answers for the runner."""
    device: str | None
    """The HMAC of the physical device's identity; None where it has none, which never proves a second device."""
    hardware_equal: bool
    """Whether it ran on the product that the claim states."""
    approved: bool
    """Whether an administrator approved the runner."""
    revoked_at: datetime | None = None
    """When the runner was revoked."""

    @property
    def trusted(self) -> bool:
        """Whether its runner is approved and was never revoked."""
        return self.approved and self.revoked_at is None

    @property
    def supports(self) -> bool:
        """Whether it can carry a level."""
        return self.trusted and self.verdict is Verdict.REPRODUCED and self.hardware_equal


@dataclass(frozen=True, slots=True)
class Derivation:
    """A level and the reruns it rests on."""

    level: EvidenceLevel
    disputed: bool
    supporting: tuple[str, ...]
    """Keys of the reruns that carry the level: none, one, or the two of a replication."""
    disputing: tuple[str, ...]
    """Keys of the reruns that speak against the claim."""
    conclusive: int
    """How many reruns say something about the claim, for it or against it."""
    version: str = VERSION


def derive(reruns: Iterable[Rerun]) -> Derivation:
    """The level of a run from all its reruns, in any order."""
    unique = sorted({rerun.key: rerun for rerun in reruns}.values(), key=lambda rerun: (rerun.finished_at, rerun.key))
    supporters = [rerun for rerun in unique if rerun.supports]
    disputing = tuple(rerun.key for rerun in unique if _stands_against(rerun, supporters))
    conclusive = sum(rerun.verdict in CONCLUSIVE for rerun in unique)
    if disputing or not supporters:
        return Derivation(EvidenceLevel.REPORTED, bool(disputing), (), disputing, conclusive)
    pair = _independent_pair(supporters)
    if pair is not None:
        return Derivation(EvidenceLevel.REPLICATED, False, (pair[0].key, pair[1].key), (), conclusive)
    return Derivation(EvidenceLevel.VERIFIED, False, (supporters[0].key,), (), conclusive)


def _stands_against(rerun: Rerun, supporters: Sequence[Rerun]) -> bool:
    if rerun.verdict not in DISPUTING:
        return False
    revoked_at = rerun.revoked_at
    return revoked_at is None or not any(supporter.finished_at > revoked_at for supporter in supporters)


def _independent_pair(supporters: Sequence[Rerun]) -> tuple[Rerun, Rerun] | None:
    """The first two that differ both in operator and in physical device."""
    return next(
        (
            (one, other)
            for one, other in combinations(supporters, 2)
            if one.operator != other.operator
            and one.device is not None
            and other.device is not None
            and one.device != other.device
        ),
        None,
    )
