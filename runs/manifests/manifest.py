"""A manifest: read, checked, normalised, and identified by its digest."""

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from runs.manifests.canonical import canonical_json, sha256
from runs.manifests.errors import ManifestError, Problem, place_of
from runs.manifests.explain import problems_of, unknown_field
from runs.manifests.fields import Rewrites
from runs.manifests.intake import MAX_BYTES
from runs.manifests.kinds.base import Metadata
from runs.manifests.kinds.registry import SPECS, Spec
from runs.manifests.kinds.serving import MAX_BYTES as MAX_SERVING_BYTES
from runs.manifests.kinds.serving import ServingSpec

API_VERSION = "kernelindex.dev/v1alpha1"
M = TypeVar("M", bound=BaseModel)
_ORDER = ("apiVersion", "kind", "metadata", "spec")
_FIELDS = frozenset(_ORDER)


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """A valid manifest in normal form (sets sorted, durations in ns); two are equal when their digests are."""

    kind: str
    metadata: Metadata
    spec: Spec
    digest: str
    """`sha256:…` over the canonical bytes."""
    _canonical: bytes = field(repr=False)
    api_version: str = API_VERSION

    def canonical(self) -> bytes:
        """The RFC 8785 bytes of {apiVersion, kind, spec}, which the digest is taken over."""
        return self._canonical

    def document(self) -> dict[str, Any]:
        """The whole envelope as plain JSON, a fresh copy that digests to `digest`."""
        document: dict[str, Any] = json.loads(self._canonical)
        document["metadata"] = self.metadata.model_dump(mode="json", by_alias=True, exclude_none=True)
        return document

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Manifest) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def parse_manifest(document: Mapping[str, Any]) -> Manifest:
    """Check a document against its kind and identify it.

    Takes plain JSON data (`load_document` yields it from text). Raises `ManifestError` with every problem found, each
    with its place.
    """
    if not isinstance(document, Mapping):
        raise ManifestError.of("", "object", "a manifest is an object with apiVersion, kind, metadata and spec")
    kind = document.get("kind")
    model = SPECS.get(kind) if isinstance(kind, str) else None
    if not isinstance(kind, str) or model is None or set(document) != _FIELDS or document["apiVersion"] != API_VERSION:
        raise ManifestError(_envelope_problems(document))
    rewrites, problems = Rewrites(), list[Problem]()
    metadata = _validated(Metadata, "metadata", document["metadata"], rewrites, problems)
    spec = _validated(model, "spec", document["spec"], rewrites, problems)
    if metadata is None or spec is None:
        raise ManifestError(problems)
    # Dumping a model costs more than all the rest, and what was written mostly is in normal form already.
    plain = spec.model_dump(mode="json", by_alias=True, exclude_none=True) if rewrites.any else document["spec"]
    canonical = canonical_json({"apiVersion": API_VERSION, "kind": kind, "spec": plain})
    limit = MAX_SERVING_BYTES if model is ServingSpec else MAX_BYTES
    if len(canonical) > limit:
        raise ManifestError.of("spec", "size", f"the spec is longer than {limit:,} bytes; shorten it")
    return Manifest(kind, metadata, spec, sha256(canonical), canonical)


def _validated(model: type[M], name: str, value: Any, rewrites: Rewrites, problems: list[Problem]) -> M | None:
    try:
        return model.model_validate(value, context=rewrites)
    except ValidationError as error:
        problems.extend(problems_of(model, (name,), error.errors(include_url=False)))
        return None


def _envelope_problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    for name in _ORDER:
        if name not in document:
            yield Problem(name, "missing", f"{name} is required; add it")
    for name in document:
        if name not in _FIELDS:
            yield Problem(place_of([str(name)]), "unknown_field", unknown_field(str(name), _ORDER))
    if document.get("apiVersion", API_VERSION) != API_VERSION:
        yield Problem("apiVersion", "api_version", f"expected {API_VERSION}, the one version of the format")
    kind = document.get("kind")
    if "kind" in document and (not isinstance(kind, str) or kind not in SPECS):
        near = difflib.get_close_matches(str(kind), SPECS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"kinds are {', '.join(SPECS)}"
        yield Problem("kind", "kind", f"there is no such kind; {hint}")
