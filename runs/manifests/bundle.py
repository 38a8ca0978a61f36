"""What a source hands to publication: records, whence they came, and under which terms."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from pydantic import ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from runs.manifests.errors import ManifestError
from runs.manifests.explain import problems_of
from runs.manifests.fields import Count, Digest, HttpsUrl, Instant, Items, Label, Maybe, Name, Slug, Text
from runs.manifests.kinds.base import Strict

_CONFIG = ConfigDict(extra="forbid", alias_generator=to_camel)


@dataclass(frozen=True, slots=True)
class Source:
    """Who published the data, and on what terms; the licence is an SPDX expression where there is one."""

    __pydantic_config__ = _CONFIG

    slug: Slug
    name: Label
    kind: Label
    url: Maybe[HttpsUrl] = None
    license: Maybe[Label] = None
    attribution: Maybe[Text] = None
    terms: Maybe[Text] = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The file that was read: `digest` is that of its bytes, `size` their number."""

    __pydantic_config__ = _CONFIG

    name: Label
    version: Label
    digest: Digest
    size: Count
    license: Label
    url: Maybe[HttpsUrl] = None
    retrieved_at: Maybe[Instant] = None


@dataclass(frozen=True, slots=True)
class Record:
    """A manifest as plain JSON, with what the source says of it.

    `digest` is the digest that the source states, `project` the `metadata.name` or the digest of the SoftwareProject
    that an ImplementationRevision belongs to, `implementation` the name of the entry that a run means where several
    share one digest, `aliases` further names of an operation. An ImplementationRevision's entry has its
    `metadata.name`, or the name in `implementation` where another entry has both its digest and its name.
    """

    __pydantic_config__ = _CONFIG

    manifest: dict[str, Any]
    digest: Maybe[Digest] = None
    project: Maybe[Name | Digest] = None
    implementation: Maybe[Name] = None
    aliases: Items[Label] = ()


@dataclass(frozen=True, slots=True)
class Bundle:
    """Records in an order in which what is referred to comes first; `illustrative` ones are no evidence."""

    source: Source
    snapshot: Snapshot | None
    records: Sequence[Record]
    illustrative: bool = False


class _Document(Strict):
    """A bundle as the JSON file that carries it."""

    source: Source
    snapshot: Maybe[Snapshot] = None
    records: Items[Record]
    illustrative: bool = False


def bundle_from_document(document: Any) -> Bundle:
    """The bundle of a JSON document; its manifests are not looked into, `parse_manifest` does that.

    Raises `ManifestError` for a field that is missing, unknown or of another type.
    """
    try:
        read = _Document.model_validate(document)
    except ValidationError as error:
        raise ManifestError(problems_of(_Document, (), error.errors(include_url=False))) from error
    return Bundle(read.source, read.snapshot, read.records, read.illustrative)


def bundle_to_document(bundle: Bundle) -> dict[str, Any]:
    """The bundle as plain JSON, without what is absent; `bundle_from_document` reads it back."""
    document: dict[str, Any] = {"source": _members(bundle.source)}
    if bundle.snapshot is not None:
        document["snapshot"] = _members(bundle.snapshot)
    if bundle.illustrative:
        document["illustrative"] = True
    document["records"] = [_members(record) for record in bundle.records]
    return document


def _members(value: Source | Snapshot | Record) -> dict[str, Any]:
    members = {to_camel(item.name): getattr(value, item.name) for item in fields(value)}
    if isinstance(value, Record):
        members["aliases"] = list(value.aliases)
    return {name: member for name, member in members.items() if member not in (None, [])}
