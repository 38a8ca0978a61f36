"""What publication answers when it does not publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.policy.reasons import sentence


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a record was not published: a code of `policy.reasons`, the place in the bundle, and the particulars."""

    code: str
    place: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {sentence(self.code)}{f' {self.detail}' if self.detail else ''}"


class PublicationRefused(Exception):
    """Nothing of the bundle was published."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        self.refusals = tuple(refusals)
        super().__init__("\n".join(str(refusal) for refusal in refusals))
