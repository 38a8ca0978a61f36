"""ImplementationRevision: one state of code that computes an operation."""

from typing import Literal

from runs.manifests.fields import (
    Commit,
    Count,
    Digest,
    HttpsUrl,
    Items,
    Label,
    Licence,
    Maybe,
    SortedSet,
    Text,
    Token,
)
from runs.manifests.kinds.base import Strict


class ProjectRevision(Strict):
    """The revision of the project; empty where the source does not say."""

    repository: Maybe[HttpsUrl] = None
    """The repository."""
    commit: Maybe[Commit] = None
    """The full git commit."""
    version: Maybe[Text] = None
    """The released version."""
    tree_digest: Maybe[Digest] = None
    """The digest of the source tree."""


class ImplementedOperation(Strict):
    """What is implemented."""

    spec_digest: Digest
    """The digest of the OperationSpec."""


class Callable(Strict):
    """What is called."""

    language: Token
    """The language of the kernel, such as triton or cuda."""
    path: Maybe[Text] = None
    """The file in the repository or package."""
    symbol: Maybe[Text] = None
    """The function or class."""
    interface: Maybe[Text] = None
    """The calling convention."""


class Support(Strict):
    """Where the implementation is said to work; the lists are sets, sorted before they are digested."""

    hardware_architectures: SortedSet[Token]
    """Architectures such as sm_90; empty where the source does not say."""
    products_tested: Maybe[SortedSet[Text]] = None
    """Devices that it was tested on."""
    axes: Maybe[SortedSet[Token]] = None
    """The axes that may vary."""
    dtypes: SortedSet[Token]
    """Element types; empty where the source does not say."""
    layouts: Maybe[SortedSet[Text]] = None
    """Memory layouts."""


class SourceFile(Strict):
    """The source, pinned by its digest."""

    content_digest: Digest
    """The SHA-256 of the file."""
    file_name: Maybe[Text] = None
    """Its name."""
    size_bytes: Maybe[Count] = None
    """Its size in bytes."""


class Install(Strict):
    """How a variant is installed."""

    kind: Literal["git", "pip", "package", "container", "source"]
    """The way of installing."""
    repository: Maybe[HttpsUrl] = None
    """The repository to clone."""
    commit: Maybe[Commit] = None
    """The commit to check out."""
    package: Maybe[Text] = None
    """The package or image."""
    version: Maybe[Text] = None
    """Its version."""
    command: Maybe[Text] = None
    """The command, as documentation; nothing runs it."""


class BuildVariant(Strict):
    """A way to build or install the implementation."""

    name: Label
    """The name of the variant."""
    install: Install
    """How it is installed."""
    requirements: Maybe[dict[Text, Text]] = None
    """What it needs, by name, such as python: >=3.10."""


class LicenceEvidence(Strict):
    """Where a licence was read."""

    path: Label
    """The file in the repository."""
    digest: Maybe[Digest] = None
    """The SHA-256 of that file."""


class Licensing(Strict):
    """The licence of the code; empty where nothing is known."""

    declared: Maybe[Licence] = None
    """What the project declares, as an SPDX expression."""
    concluded: Maybe[Licence] = None
    """What was concluded from the evidence, as an SPDX expression."""
    evidence: Maybe[LicenceEvidence] = None
    """Where it was read."""


class ImplementationRevision(Strict):
    """One state of code that computes an operation."""

    project_revision: ProjectRevision
    """The revision of the project."""
    operation: ImplementedOperation
    """What is implemented."""
    callable: Callable
    """What is called."""
    support: Support
    """Where it is said to work."""
    source: Maybe[SourceFile] = None
    """The source file."""
    build_variants: Maybe[Items[BuildVariant]] = None
    """Ways to build or install it."""
    licensing: Licensing
    """The licence."""
