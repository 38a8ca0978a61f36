"""SoftwareProject: who publishes implementations."""

from typing import Literal

from runs.manifests.fields import HttpsUrl, Items, Label, Maybe, Token
from runs.manifests.kinds.base import Strict


class Host(Strict):
    """The account of the project where it is hosted."""

    kind: Literal["github", "huggingface", "gitlab", "other"]
    """The host."""
    id: Label
    """The account or repository there."""


class Package(Strict):
    """A package that the project publishes."""

    ecosystem: Token
    """The index it is on, such as pypi."""
    name: Label
    """Its name there."""


class SoftwareProject(Strict):
    """A library, a vendor or a person whose implementations are measured."""

    name: Label
    """The name as the project writes it."""
    kind: Maybe[Literal["library", "individual", "vendor"]] = None
    """What the project is."""
    repository: Maybe[HttpsUrl] = None
    """Its source repository."""
    homepage: Maybe[HttpsUrl] = None
    """Its home page."""
    host: Maybe[Host] = None
    """Its account where it is hosted."""
    packages: Maybe[Items[Package]] = None
    """The packages that it publishes."""
