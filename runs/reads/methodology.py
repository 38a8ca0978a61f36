"""What the page of methods states, taken from the constants that the code goes by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.urls import reverse

from runs.manifests.kinds.run import STATUSES
from runs.manifests.manifest import API_VERSION
from runs.manifests.schemas import KINDS
from runs.policy import level, ranking
from runs.policy.level import EvidenceLevel
from runs.policy.reasons import sentence
from runs.reads.values import Link, Reason

# What keeps a run from ranking, in the order in which ranking looks.
_UNRANKED: Final = (
    "NOT_PASSED",
    "NO_PRIMARY_MEASUREMENT",
    "NOT_POSITIVE",
    "RETRACTED",
    "SUPERSEDED",
    "BELOW_PHYSICAL_FLOOR",
)

_LEVELS: Final = {
    EvidenceLevel.REPORTED: "A source or a contributor says so. Nobody here has checked it.",
    EvidenceLevel.VERIFIED: "A controlled rerun reproduced it on the hardware that it claims, and none contradicts it.",
    EvidenceLevel.REPLICATED: "Two such reruns did, by different operators on different physical devices.",
}


@dataclass(frozen=True, slots=True)
class LevelRow:
    """An evidence level and what it says."""

    slug: str
    sentence: str


@dataclass(frozen=True, slots=True)
class MethodologyPage:
    """The rules in force."""

    api_version: str
    kinds: tuple[Link, ...]  # each with the address of its JSON Schema
    ranking_version: str
    unranked: tuple[Reason, ...]
    higher_is_better: tuple[str, ...]
    level_version: str
    levels: tuple[LevelRow, ...]
    statuses: tuple[str, ...]


def methodology_page() -> MethodologyPage:
    """No statement: all of it is in the code."""
    return MethodologyPage(
        api_version=API_VERSION,
        kinds=tuple(Link(kind, kind, reverse("schema", args=[kind])) for kind in KINDS),
        ranking_version=ranking.VERSION,
        unranked=tuple(Reason(code, sentence(code)) for code in _UNRANKED),
        higher_is_better=tuple(sorted(ranking.HIGHER_IS_BETTER)),
        level_version=level.VERSION,
        levels=tuple(LevelRow(each.slug, _LEVELS[each]) for each in EvidenceLevel),
        statuses=STATUSES,
    )
