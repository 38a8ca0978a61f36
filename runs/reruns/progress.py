"""How far a runner is with its jobs: a small document for the display, without a signature and believed accordingly."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from runs.manifests.fields import Digest, Items
from runs.reruns.documents.base import Document

PHASES = ("accepted", "check", "timing")


class Progress(Document):
    """One report."""

    jobs: Annotated[Items[Digest], Field(min_length=1, max_length=1000)]
    """The digests of the jobs of a batch."""
    phase: Literal["accepted", "check", "timing"]
    """What the batch is at."""
    done: Annotated[int, Field(ge=0, le=1_000_000)]
    """How many jobs of the check, or processes of the timing, are done."""
    of: Annotated[int, Field(ge=0, le=1_000_000)]
    """How many there are."""

    def shown(self) -> dict[str, Any]:
        """What a rerun's page shows of it."""
        return {"phase": self.phase, "done": self.done, "of": self.of}
