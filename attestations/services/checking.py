"""What a submission is: its faults, the digest and the group that it will have, and what it lacks. Writes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runs.manifests.errors import ManifestError, Problem
from runs.manifests.intake import load_document
from runs.manifests.keys import Primary, comparison_key, correctness_key, metric_key, primary_measurement
from runs.manifests.manifest import Manifest, parse_manifest
from runs.models import ComparisonGroup, Environment, Implementation, Protocol, Run, Standing, Workload

KINDS: Final = ("ExecutionEnvironment", "BenchmarkProtocol", "BenchmarkRun")  # what refers comes last
MOST_PROBLEMS: Final = 50


@dataclass(frozen=True, slots=True)
class Group:
    """The comparison group that the run will be in; `rank` is None where it will not rank."""

    key: str
    runs: int  # that are in it now
    ranked: int
    rank: int | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """What is known of a submission before anybody looks at it."""

    problems: tuple[Problem, ...] = ()
    digest: str = ""
    published: str = ""  # id of the run with this digest, where there is one already
    group: Group | None = None
    lacks: tuple[str, ...] = ()
    manifests: tuple[Manifest, ...] = field(default=(), repr=False)

    @property
    def is_valid(self) -> bool:
        """Whether it can be sent in."""
        return not self.problems and not self.published


def check(text: str) -> Check:
    """Look at a submission: a BenchmarkRun, or a list of it with its ExecutionEnvironment and BenchmarkProtocol."""
    try:
        document = load_document(text)
    except ManifestError as error:
        return Check(error.problems[:MOST_PROBLEMS])
    documents: Sequence[Any] = document if isinstance(document, list) else [document]
    manifests: list[Manifest] = []
    problems: list[Problem] = []
    if not 1 <= len(documents) <= len(KINDS):
        problems.append(Problem("", "count", "give one BenchmarkRun, with at most one environment and one protocol"))
    for position, each in enumerate(documents[: len(KINDS)]):
        place = f"[{position}]" if isinstance(document, list) else ""
        try:
            manifests.append(parse_manifest(each))
        except ManifestError as error:
            problems += [_placed(problem, place) for problem in error.problems]
    problems += _kinds(manifests)
    run = next((manifest for manifest in manifests if manifest.kind == "BenchmarkRun"), None)
    if run is None or problems:
        return Check(tuple(problems[:MOST_PROBLEMS]), run.digest if run else "")
    return _checked(run, {manifest.kind: manifest for manifest in manifests})


def _placed(problem: Problem, place: str) -> Problem:
    joint = "." if place and problem.place and not problem.place.startswith("[") else ""
    return Problem(f"{place}{joint}{problem.place}", problem.code, problem.message)


def _kinds(manifests: Sequence[Manifest]) -> list[Problem]:
    kinds = [manifest.kind for manifest in manifests]
    problems = [
        Problem("kind", "kind", f"a reproduction consists of {', '.join(KINDS)}; leave out {kind}")
        for kind in sorted(set(kinds) - set(KINDS))
    ]
    problems += [
        Problem("kind", "kind", f"there are {kinds.count(kind)} of kind {kind}; keep one")
        for kind in KINDS
        if kinds.count(kind) > 1
    ]
    if manifests and "BenchmarkRun" not in kinds:
        problems.append(Problem("kind", "kind", "a BenchmarkRun is missing; add it"))
    return problems


def _checked(run: Manifest, given: Mapping[str, Manifest]) -> Check:
    spec = json.loads(run.canonical())["spec"]
    problems: list[Problem] = []
    if "sourceNative" in spec:
        problems.append(
            Problem("spec.sourceNative", "source_native", "this is for what a source says itself; leave it out")
        )
    if spec["status"] == "revoked":
        problems.append(Problem("spec.status", "status", "a run is not born revoked; say what came of it"))
    for kind, name, model in (
        ("ExecutionEnvironment", "environmentDigest", Environment),
        ("BenchmarkProtocol", "protocolDigest", Protocol),
    ):
        known = kind in given and given[kind].digest == spec[name]
        if kind in given and not known:
            problems.append(
                Problem(f"spec.{name}", "reference", f"the {kind} that came with it digests to {given[kind].digest}")
            )
        elif not known and not model._default_manager.filter(digest=spec[name]).exists():
            problems.append(Problem(f"spec.{name}", "reference", f"no published {kind} has this digest; send it along"))
    implementations = list(Implementation.objects.filter(digest=spec["implementationDigest"]))
    workload = Workload.objects.select_related("operation").filter(digest=spec["workloadDigest"]).first()
    if not implementations:
        problems.append(
            Problem("spec.implementationDigest", "reference", "no published ImplementationRevision has this digest")
        )
    elif len(implementations) > 1:
        names = ", ".join(sorted(each.name for each in implementations))
        problems.append(
            Problem("spec.implementationDigest", "ambiguous", f"this digest belongs to several entries ({names})")
        )
    if workload is None:
        problems.append(Problem("spec.workloadDigest", "reference", "no published workload has this digest"))
    elif len(implementations) == 1 and implementations[0].operation_id != workload.operation_id:
        problems.append(
            Problem("spec.workloadDigest", "reference", "workload and implementation are of different operations")
        )
    published = Run.objects.filter(digest=run.digest).values_list("id", flat=True).first()
    return Check(
        problems=tuple(problems),
        digest=run.digest,
        published=str(published or ""),
        group=_group(spec, workload) if workload and not problems else None,
        lacks=tuple(_lacks(spec, given)),
        manifests=tuple(given[kind] for kind in KINDS if kind in given),
    )


def _group(spec: Mapping[str, Any], workload: Workload) -> Group:
    primary = primary_measurement(spec)
    key = comparison_key(
        operation=workload.operation.digest,
        workload=spec["workloadDigest"],
        protocol=spec["protocolDigest"],
        environment=spec["environmentDigest"],
        correctness=correctness_key(json.loads(workload.canonical)["spec"]),
        metric=metric_key(primary),
    )
    group = ComparisonGroup.objects.filter(key=key).first()
    runs, ranked = (group.run_count, group.ranked_count) if group else (0, 0)
    if spec["status"] != "passed":
        return Group(key, runs, ranked, None, "Only a run with status passed ranks.")
    if primary is None:
        return Group(key, runs, ranked, None, "Only a run with a primary measurement ranks.")
    return Group(key, runs, ranked, _rank(key, primary))


def _rank(key: str, primary: Primary) -> int | None:
    """Where it will come in, as the group is now; None for a metric that is not known to be better when it is less."""
    if primary.metric != "latency":
        return None
    faster = Standing.objects.filter(group=key, rank__isnull=False, run__value__lt=primary.value)
    return faster.count() + 1


def _lacks(spec: Mapping[str, Any], given: Mapping[str, Manifest]) -> list[str]:
    """What would make the run more useful, and is not there."""
    timing = spec.get("timing", {})
    latency = timing.get("latencyNs", {})
    wanted = [
        ("a correctness result (spec.correctness)", "correctness" in spec),
        ("a sample count (spec.timing.samples)", "samples" in timing),
        ("a spread (p05 and p95, or confidence95)", "confidence95" in latency or {"p05", "p95"} <= latency.keys()),
        ("the raw samples (spec.timing.rawSamples)", "rawSamples" in timing),
        ("the commit of the harness (spec.evidence.harness)", "harness" in spec.get("evidence", {})),
    ]
    if "ExecutionEnvironment" in given:
        environment = json.loads(given["ExecutionEnvironment"].canonical())["spec"]
        software, settings = environment["software"], environment.get("settings", {})
        wanted += [
            ("the driver's version (environment, software.driver)", "driver" in software),
            ("the toolkit's version (environment, software.cudaToolkit)", "cudaToolkit" in software),
            ("the framework (environment, software.framework)", "framework" in software),
            ("whether clocks were locked (environment, settings.clocksLocked)", "clocksLocked" in settings),
        ]
    return [name for name, there in wanted if not there]
