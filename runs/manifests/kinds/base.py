"""What the kinds share: strictness, the spelling of fields, metadata and artifacts."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from runs.manifests.fields import Digest, HttpsUrl, Items, Maybe, Name, Text, Uri


class Strict(BaseModel):
    """A frozen object without unknown fields; fields are camelCase in JSON and optional ones are absent, never null."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        use_attribute_docstrings=True,
    )


class Author(Strict):
    """Who made what the record describes."""

    name: Maybe[Text] = None
    """The name as the author writes it."""
    github: Maybe[Text] = None
    """The account on GitHub."""


class SourceRef(Strict):
    """Where the record was taken from."""

    url: HttpsUrl
    """The https address of the source."""


class Metadata(Strict):
    """The editorial part of a manifest; it never enters the digest."""

    name: Name
    """A readable handle, unique within its source by custom alone."""
    title: Maybe[Text] = None
    """One line for people."""
    description: Maybe[Text] = None
    """A paragraph for people."""
    labels: Maybe[dict[Text, Text]] = None
    """Free keys and values that nothing is decided by."""
    authors: Maybe[Items[Author]] = None
    """Who made what the record describes."""
    source_refs: Maybe[Items[SourceRef]] = None
    """Where the record was taken from."""


class Artifact(Strict):
    """A file outside the record, pinned by its digest."""

    uri: Uri
    """Where the file can be had."""
    digest: Digest
    """The SHA-256 of its bytes."""
