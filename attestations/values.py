"""What a form hands to a service: plain values, cleaned. No service takes a request or a model from outside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from attestations.environment import Environment


@dataclass(frozen=True, slots=True)
class Upload:
    """A checked file: UTF-8 text or JSON."""

    content: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Content:
    """What a statement says."""

    kind: str
    note: str = ""
    value: float | None = None
    unit: str = ""
    statistic: str = ""
    samples: int | None = None
    environment: Environment = field(default_factory=Environment)
    evidence_url: str = ""
    upload: Upload | None = None
    keep_attachment: bool = False  # of the revision before, where no other is given

    def columns(self) -> dict[str, Any]:
        """The columns of a revision, but for the attachment."""
        names = ("kind", "note", "value", "unit", "statistic", "samples", "evidence_url")
        return {name: getattr(self, name) for name in names} | {"environment": self.environment.document()}


@dataclass(frozen=True, slots=True)
class ReportContent:
    """What a report says."""

    reason: str
    detail: str
    evidence_url: str = ""
    contact: str = ""
