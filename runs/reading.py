"""A bundle's records, validated: the first step of publication, which needs no database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from runs.manifests.bundle import Record
from runs.manifests.errors import ManifestError
from runs.manifests.manifest import parse_manifest
from runs.refusals import PublicationRefused, Refusal

MAX_REFUSALS = 100  # a bundle of ten thousand broken records is explained by its first hundred


@dataclass(frozen=True, slots=True)
class Parsed:
    """A valid record: its kind, its spec in normal form, and the bytes that its digest is taken over."""

    record: Record
    kind: str
    digest: str
    canonical: str
    spec: Mapping[str, Any]

    @property
    def metadata(self) -> Mapping[str, Any]:
        metadata: Mapping[str, Any] = self.record.manifest["metadata"]
        return metadata

    @property
    def name(self) -> str:
        return str(self.metadata.get("name") or f"{self.kind}-{self.digest[7:19]}".lower())

    @property
    def entry(self) -> str:
        """The name of an implementation's entry: with the digest, its identity."""
        return self.record.implementation or self.name


Progress = Callable[[int], None]

PUBLISHED = frozenset(
    {
        "SoftwareProject",
        "OperationSpec",
        "WorkloadCase",
        "WorkloadSuite",
        "ImplementationRevision",
        "BenchmarkProtocol",
        "ExecutionEnvironment",
        "BenchmarkRun",
    }
)


@dataclass(slots=True)
class Reading:
    """The records of a bundle, validated: `items` in its order, None for each that was refused."""

    items: list[Parsed | None] = field(default_factory=list)
    refused: list[tuple[Record, Refusal]] = field(default_factory=list)

    @property
    def refusals(self) -> list[Refusal]:
        return [refusal for _, refusal in self.refused]


def parse(
    records: Iterable[Record], progress: Progress | None = None, *, partial: bool = False, kinds: Set[str] = PUBLISHED
) -> Reading:
    """All records, validated. Raises PublicationRefused for any that is invalid, unless `partial`."""
    reading = Reading()
    for position, record in enumerate(records):
        place = f"record {position + 1} ({_name(record)})"
        item = _parsed(record, place, kinds)
        if isinstance(item, Refusal):
            reading.items.append(None)
            reading.refused.append((record, item))
            if not partial and len(reading.refused) >= MAX_REFUSALS:
                break
        else:
            reading.items.append(item)
        if progress:
            progress(1)
    if reading.refused and not partial:
        raise PublicationRefused(reading.refusals)
    return reading


def _name(record: Record) -> str:
    metadata = record.manifest.get("metadata")
    return str(metadata.get("name", "unnamed"))[:200] if isinstance(metadata, Mapping) else "unnamed"


def _parsed(record: Record, place: str, kinds: Set[str]) -> Parsed | Refusal:
    try:
        manifest = parse_manifest(record.manifest)
    except ManifestError as error:
        return Refusal("INVALID_MANIFEST", place, str(error))
    if record.digest is not None and record.digest != manifest.digest:
        return Refusal("DIGEST_MISMATCH", place, f"Stated {record.digest}, computed {manifest.digest}.")
    if manifest.kind not in kinds:
        return Refusal("UNSUPPORTED_KIND", place, manifest.kind)
    canonical = manifest.canonical().decode()
    return Parsed(record, manifest.kind, manifest.digest, canonical, json.loads(canonical)["spec"])
