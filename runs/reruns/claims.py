"""What a published run claims, in the terms of a rerun: recipe, product, versions and where each was read. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.manifests.keys import primary_measurement
from runs.reruns.documents.base import product_slug
from runs.reruns.documents.job import STATISTICS
from runs.reruns.harness.recipes.catalog import NotRerunnable, Recipe, find_recipe

_SOFTWARE = "the environment's software"
# Environments name a framework, jobs the package that it is installed by.
_PACKAGES = {"pytorch": "torch"}
# What a job can carry (documents.job.ClaimedVersion); anything else is a remark, and the claim states no version.
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9._-]{0,199}")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]{0,99}")


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that can be rerun."""

    recipe: Recipe
    product: str
    """Hardware slug: the GPU queue that the job waits in."""
    versions: tuple[tuple[str, str, str], ...]
    """(package, version, where it was read)."""


def read_claim(
    operation: str, run: Mapping[str, Any], metadata: Mapping[str, Any], environment: Mapping[str, Any]
) -> Claim | NotRerunnable:
    """The claim of a run, or why it cannot be rerun.

    `operation` is the operation's slug, `run` the spec and `metadata` the metadata of the run's manifest, `environment`
    the spec of its environment.
    """
    primary = primary_measurement(run)
    if run["status"] != "passed" or primary is None or primary.value <= 0:
        return NotRerunnable("nothing_claimed", "The run claims no measurement.")
    if (primary.metric, primary.unit) != ("latency", "ns") or primary.statistic not in STATISTICS:
        return NotRerunnable("not_a_latency", "Only a median or mean latency can be rerun.")
    named = _names(run.get("sourceNative", {}))
    if named is None:
        return NotRerunnable("source_without_recipes", "No recipe is known for the benchmarks of this source.")
    provider, mode = named
    release = metadata.get("labels", {}).get("liger_version")
    recipe = find_recipe(operation, provider, mode, release)
    if isinstance(recipe, NotRerunnable):
        return recipe
    product = product_slug(environment["hardware"])
    if product is None:
        return NotRerunnable("hardware_unknown", "The run does not say which hardware it was measured on.")
    return Claim(recipe, product, tuple(_versions(release, environment.get("software", {}))))


def _names(native: Mapping[str, Any]) -> tuple[str, str] | None:
    """Provider and mode, as the Liger-Kernel scripts and all that follows them name a measurement."""
    parts = native.get("externalId", "").split("/")
    benchmark = native.get("benchmark", "").split("/")
    if len(parts) < 3 or len(benchmark) != 2 or parts[:2] != benchmark:
        return None
    return parts[2], benchmark[1]


def _versions(release: str | None, software: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    versions = {package: (version, _SOFTWARE) for package, version in software.get("libraries", {}).items()}
    framework = software.get("framework")
    if framework:
        name = framework["name"].lower()
        versions[_PACKAGES.get(name, name)] = (framework["version"], _SOFTWARE)
    if release:
        versions["liger-kernel"] = (release, "the run's label liger_version")
    return [
        (package, version, where)
        for package, (version, where) in sorted(versions.items())
        if _PACKAGE.fullmatch(package) and _VERSION.fullmatch(version)
    ]
