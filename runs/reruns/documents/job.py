"""The job: which claim is to be rerun, and how. Signed by the dispatcher."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from runs.manifests.errors import ManifestError
from runs.manifests.fields import Instant, Items, Name, Slug
from runs.manifests.keys import Primary, primary_measurement
from runs.manifests.manifest import Manifest, parse_manifest
from runs.reruns.documents.base import Document, Hex32, Phrase, Version, moment, product_slug

PREDICATE_TYPE = "https://kernelindex.dev/rerun-job/v1"
MAX_PAYLOAD_BYTES = 1024 * 1024
STATISTICS = ("median", "mean")
"""What a claim may state: single samples of a process are reduced as the claim's were."""


class Recipe(Document):
    """A recipe by name and version: never code, a path, an address or an install command."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_-]*){2}$", max_length=200)]
    """Operation, provider and mode: liger-rms-norm/liger/full."""
    version: Annotated[int, Field(ge=1, le=1_000_000)]
    """Its version: it grows whenever inputs, callables or reference change."""


class ClaimedVersion(Document):
    """A version that the claim names."""

    package: Name
    """The package, such as liger-kernel or torch."""
    version: Version
    """The version, as the claim writes it."""
    read_from: Phrase
    """Where it was read, such as the run's label or the environment manifest."""


class Limits(Document):
    """What the runner may spend on the job."""

    seconds: Annotated[int, Field(ge=1, le=3600)]
    """Wall time in seconds."""
    memory_bytes: Annotated[int, Field(ge=1, le=2**53 - 1)]
    """Device memory in bytes."""
    log_characters: Annotated[int, Field(ge=0, le=64 * 1024)]
    """The longest log excerpt."""


class Manifests(Document):
    """The claim and what it refers to, as whole manifests."""

    run: dict[str, Any]
    """The BenchmarkRun."""
    workload: dict[str, Any]
    """Its WorkloadCase."""
    implementation: dict[str, Any]
    """Its ImplementationRevision."""
    protocol: dict[str, Any]
    """Its BenchmarkProtocol."""
    environment: dict[str, Any]
    """The ExecutionEnvironment that it was claimed for."""

    @cached_property
    def parsed(self) -> Mapping[str, Manifest]:
        """The checked manifests, by role."""
        return {role: parse_manifest(getattr(self, role)) for role in KINDS}

    @cached_property
    def run_spec(self) -> dict[str, Any]:
        """The spec of the run, in normal form."""
        spec: dict[str, Any] = self.parsed["run"].document()["spec"]
        return spec

    @model_validator(mode="after")
    def _belong_together(self) -> Self:
        for role, kind in KINDS.items():
            try:
                found = self.parsed[role].kind
            except ManifestError as error:
                raise ValueError(f"a manifest is not valid: {error}") from error
            if found != kind:
                raise ValueError(f"the {role} manifest is a {found}, not a {kind}")
        for role in ("workload", "implementation", "protocol", "environment"):
            if self.run_spec[f"{role}Digest"] != self.parsed[role].digest:
                raise ValueError(f"the run does not refer to this {role}")
        return self


KINDS = {
    "run": "BenchmarkRun",
    "workload": "WorkloadCase",
    "implementation": "ImplementationRevision",
    "protocol": "BenchmarkProtocol",
    "environment": "ExecutionEnvironment",
}
"""The role of each manifest with its kind."""


class Job(Document):
    """All that a runner needs to rerun one claim."""

    job_id: Slug
    """The rerun's public id."""
    nonce: Hex32
    """Drawn for this job alone."""
    issued_at: Instant
    """When the dispatcher signed it."""
    expires_at: Instant
    """After this nobody executes it, and no result of it is taken."""
    product: Slug
    """The hardware product that it is for, such as nvidia-h200."""
    recipe: Recipe
    """How to execute it."""
    harness_version: Version
    """The version of the harness that it was made for."""
    implementation_package: Name
    """The package whose version is the implementation's, such as liger-kernel."""
    claimed_versions: Annotated[Items[ClaimedVersion], Field(max_length=100)]
    """What the claim says was installed; a package that it does not name is absent."""
    site_salt: Hex32
    """Enters the seeds, so that a runner cannot choose them alone."""
    limits: Limits
    """What it may spend."""
    manifests: Manifests
    """The claim itself."""

    @property
    def claim(self) -> Primary:
        """The claimed latency, in ns."""
        primary = primary_measurement(self.manifests.run_spec)
        assert primary is not None
        return primary

    @property
    def claimed_product(self) -> str | None:
        """The product that the claim was made on; None where it does not say."""
        return product_slug(self.manifests.parsed["environment"].document()["spec"]["hardware"])

    def claimed_version(self, package: str) -> str | None:
        """The version of a package that the claim names, or None."""
        return next((item.version for item in self.claimed_versions if item.package == package), None)

    @model_validator(mode="after")
    def _is_a_claim_that_can_be_rerun(self) -> Self:
        primary = primary_measurement(self.manifests.run_spec)
        if primary is None or (primary.metric, primary.unit) != ("latency", "ns") or primary.value <= 0:
            raise ValueError("only a positive latency in ns can be rerun")
        if primary.statistic not in STATISTICS:
            raise ValueError("only a median or a mean can be rerun")
        if len({item.package for item in self.claimed_versions}) != len(self.claimed_versions):
            raise ValueError("a package has two claimed versions")
        if moment(self.expires_at) <= moment(self.issued_at):
            raise ValueError("the job expires before it was issued")
        return self
