"""Documents that are no manifests: each is refused at its place and for its reason."""

from typing import Any

import pytest

from runs.manifests.errors import ManifestError
from runs.manifests.manifest import parse_manifest
from tests.manifests.vectors import REMOVED, changed, manifest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
H = "sha256:" + "a" * 64

# (subject of the valid manifest, path of the change, new value, place of the error where it is another, code)
Case = tuple[str, str, Any, str | None, str]
CASES: list[Case] = [
    # Envelope
    ("run", "apiVersion", "kernelindex.dev/v2", None, "api_version"),
    ("run", "apiVersion", REMOVED, None, "missing"),
    ("run", "apiVersion", None, None, "api_version"),
    ("run", "kind", "BenchmarkRuns", None, "kind"),
    ("run", "kind", ["BenchmarkRun"], None, "kind"),
    ("run", "kind", None, None, "kind"),
    ("run", "kind", REMOVED, None, "missing"),
    ("run", "metadata", REMOVED, None, "missing"),
    ("run", "spec", REMOVED, None, "missing"),
    ("run", "spec", [], None, "object"),
    ("run", "spec", None, None, "null"),
    ("run", "status", "passed", None, "unknown_field"),
    ("run", "metadata.name", REMOVED, None, "missing"),
    ("run", "metadata.name", "Upper", None, "name"),
    ("run", "metadata.name", "a" * 201, None, "too_long"),
    ("run", "metadata.name", "", None, "name"),
    ("run", "metadata.name", "trailing\n", None, "name"),
    ("run", "metadata.title", None, None, "null"),
    ("run", "metadata.title", "a\0b", None, "text"),
    ("run", "metadata.title", "\ud800", None, "text"),
    ("run", "metadata.labels", {"count": 1}, "metadata.labels.count", "text"),
    ("run", "metadata.labels", {"a\0": "b"}, 'metadata.labels["a\\u0000"]', "text"),
    ("run", "metadata.authors", [{"mail": "a@example.org"}], "metadata.authors[0].mail", "unknown_field"),
    ("run", "metadata.authors", {"name": "Ada"}, None, "list"),
    ("run", "metadata.sourceRefs", [{"url": "http://example.org"}], "metadata.sourceRefs[0].url", "url"),
    ("run", "metadata.sourceRefs", [{}], "metadata.sourceRefs[0].url", "missing"),
    # OperationSpec
    ("operation", "spec.family", "RMS_norm", None, "slug"),
    ("operation", "spec.family", "a" * 101, None, "too_long"),
    ("operation", "spec.axes.Rows", {"role": "variable", "type": "integer"}, None, "token"),
    ("operation", "spec.axes.rows.role", "free", None, "choice"),
    ("operation", "spec.axes.rows.type", "float", None, "choice"),
    ("operation", "spec.axes.rows.maximum", 0, "spec.axes.rows", "axis"),
    ("operation", "spec.axes.groups.value", REMOVED, "spec.axes.groups", "axis"),
    ("operation", "spec.axes.per_group.expression", REMOVED, "spec.axes.per_group", "axis"),
    ("operation", "spec.axes.per_group.expression", "hidden / groups", None, "expression"),
    ("operation", "spec.axes.per_group.expression", "", None, "too_short"),
    ("operation", "spec.axes.per_group.expression", "1" + "+1" * 250, None, "too_long"),
    ("operation", "spec.axes", [], None, "object"),
    ("operation", "spec.inputs.0.scalar", {"dtype": "fp32"}, "spec.inputs[0]", "operand"),
    ("operation", "spec.inputs.2.scalar", REMOVED, "spec.inputs[2]", "operand"),
    ("operation", "spec.inputs.0.name", "", None, "too_short"),
    ("operation", "spec.inputs.0.tensor.shape.0", "Rows", None, "dimension"),
    ("operation", "spec.inputs.0.tensor.shape.0", -1, None, "integer"),
    ("operation", "spec.inputs.0.tensor.dtype", "BF16", None, "token"),
    ("operation", "spec.inputs.0.tensor.layout", "rows_first", None, "choice"),
    ("operation", "spec.semantics.mutation", REMOVED, None, "missing"),
    ("operation", "spec.semantics.determinism", "maybe", None, "choice"),
    ("operation", "spec.reference.artifact.digest", "sha256:abc", None, "digest"),
    ("operation", "spec.reference.artifact.uri", "log.txt", None, "uri"),
    # Workloads
    ("workload", "spec.operationSpecDigest", "sha256:" + "A" * 64, None, "digest"),
    ("workload", "spec.operationSpecDigest", "md5:" + "a" * 64, None, "digest"),
    ("workload", "spec.axes.rows", 2048.5, None, "integer"),
    ("workload", "spec.axes.rows", "2048", None, "integer"),
    ("workload", "spec.axes.rows", True, None, "integer"),
    ("workload", "spec.axes.rows", 2**53, None, "integer"),
    ("workload", "spec.axes.rows", -(2**53), None, "integer"),
    ("workload", "spec.axes.rows", 1e300, None, "integer"),
    ("workload", "spec.axes.rows", None, None, "null"),
    ("workload", "spec.tensors.x.shape", "2048x1024", None, "list"),
    ("workload", "spec.tensors.x.alignmentBytes", 0, None, "integer"),
    ("workload", "spec.tensors.x.data.parameters.std", float("nan"), None, "number"),
    ("workload", "spec.tensors.x.data.parameters.std", "0.02", None, "number"),
    ("workload", "spec.tensors.x.data.parameters.std", 2**53 + 1, None, "integer"),
    ("workload", "spec.scalars.eps.value", None, None, "null"),
    ("workload", "spec.scalars.eps.value", [1e-6], None, "number"),
    ("workload", "spec.scalars.eps.value", float("inf"), None, "number"),
    ("workload", "spec.correctness.requiredMatchedRatio", 1.01, None, "number"),
    ("workload", "spec.correctness.maxAbsoluteError", -1e-3, None, "number"),
    ("workload", "spec.correctness.nanPolicy", "allow", None, "choice"),
    ("workload", "spec.correctness", REMOVED, None, "missing"),
    ("suite", "spec.cases.0.externalId", 0, None, "text"),
    ("suite", "spec.aggregation.statistic", "geo mean", None, "token"),
    # SoftwareProject
    ("project", "spec.name", "", None, "too_short"),
    ("project", "spec.kind", "company", None, "choice"),
    ("project", "spec.repository", "git@example.org:kernels.git", None, "url"),
    ("project", "spec.repository", "https://", None, "url"),
    ("project", "spec.homepage", "https://example.org/a b", None, "url"),
    ("project", "spec.homepage", "https://example.org/" + "a" * 1981, None, "too_long"),
    ("project", "spec.host.kind", "bitbucket", None, "choice"),
    ("project", "spec.packages.0.ecosystem", "PyPI", None, "token"),
    # ImplementationRevision
    ("implementation", "spec.projectRevision", REMOVED, None, "missing"),
    ("implementation", "spec.projectRevision.commit", COMMIT[:12], None, "commit"),
    ("implementation", "spec.projectRevision.commit", COMMIT.upper(), None, "commit"),
    ("implementation", "spec.support.dtypes", "bf16", None, "list"),
    ("implementation", "spec.support.hardwareArchitectures.0", "SM90", None, "token"),
    ("implementation", "spec.source.sizeBytes", -1, None, "integer"),
    ("implementation", "spec.buildVariants.0.install.kind", "conda", None, "choice"),
    ("implementation", "spec.buildVariants.0.requirements.python", 3.10, None, "text"),
    ("implementation", "spec.licensing.declared", "MIT License", None, "licence"),
    ("implementation", "spec.licensing.evidence.path", REMOVED, None, "missing"),
    # BenchmarkProtocol and ExecutionEnvironment
    ("protocol", "spec.measurement.primaryStatistic", REMOVED, None, "missing"),
    ("protocol", "spec.measurement.compileIncluded", "no", None, "boolean"),
    ("protocol", "spec.measurement.warmupIterations", -1, None, "integer"),
    ("protocol", "spec.measurement.warmupDuration", "0.0000001 ms", None, "duration"),
    ("protocol", "spec.devicePolicy.powerLimitWatts", "700 W", None, "number"),
    ("environment", "spec.hardware.vendor", "NVIDIA", None, "token"),
    ("environment", "spec.hardware.count", 0, None, "integer"),
    ("environment", "spec.software.framework.version", 2.11, None, "text"),
    ("environment", "spec.software.libraries.triton", None, None, "null"),
    ("environment", "spec.settings.eccEnabled", 1, None, "boolean"),
    ("environment", "spec.imageDigest", "latest", None, "digest"),
    # BenchmarkRun
    ("run", "spec.status", "ok", None, "choice"),
    ("run", "spec.observedAt", "2026-02-28T00:23:31+00:00", None, "instant"),
    ("run", "spec.observedAt", "2026-02-28T00:23:31", None, "instant"),
    ("run", "spec.observedAt", "2026-02-30T00:23:31Z", None, "instant"),
    ("run", "spec.observedAt", "2026-02-28T24:00:01Z", None, "instant"),
    ("run", "spec.observedAt", "2026-02-28", None, "instant"),
    ("run", "spec.observedAt", "٢026-02-28T00:23:31Z", None, "instant"),
    ("run", "spec.observedAt", 1772238211, None, "text"),
    ("run", "spec.implementationDigest", REMOVED, None, "missing"),
    ("run", "spec.timing.primaryStatistic", REMOVED, None, "missing"),
    ("run", "spec.timing.latencyNs", {"p95": 3}, None, "latency"),
    ("run", "spec.timing.latencyNs.median", 73.728, None, "duration"),
    ("run", "spec.timing.latencyNs.median", -1, None, "duration"),
    ("run", "spec.timing.latencyNs.median", "73.7", None, "duration"),
    ("run", "spec.timing.latencyNs.median", None, None, "null"),
    ("run", "spec.timing.latencyNs.p50", 73728, None, "unknown_field"),
    ("run", "spec.timing.latencyNs.confidence95", [1, 2, 3], None, "too_long"),
    ("run", "spec.timing.latencyNs.confidence95", [1], "spec.timing.latencyNs.confidence95[1]", "missing"),
    ("run", "spec.timing.latencyNs.confidence95", [2, 1], "spec.timing.latencyNs", "latency"),
    ("run", "spec.measurements.0.value", "268435456", None, "number"),
    ("run", "spec.measurements.0.unit", "µs", None, "token"),
    ("run", "spec.sourceNative.source", "Example Bench", None, "slug"),
    ("run", "spec.sourceNative.metrics.ms-50", 1, None, "token"),
    ("run", "spec.sourceNative.metrics.ms_50", True, None, "number"),
    ("run", "spec.correctness.matchedRatio", -0.1, None, "number"),
    ("run", "spec.evidence.logs", "https://example.org/log.txt", None, "object"),
    ("run", "spec.evidence.harness.commit", REMOVED, None, "missing"),
    ("run", "spec.operation_spec_digest", H, None, "unknown_field"),
    ("run", "spec.implementation_digest", H, None, "unknown_field"),
    # Serving kinds
    ("model", "spec", "Example 7B", None, "object"),
    ("model", "spec.parameterCount", 2**53 + 1, "spec", "integer"),
    ("model", "spec.parameterCount", float("nan"), None, "number"),
    ("model", "spec.notes", "a\0b", "spec", "text"),
    ("model", "spec.notes", ["x"] * 20_001, "spec", "size"),
    ("model", "spec.notes", "x" * 262_144, "spec", "size"),
]


def steps(path: str) -> tuple[str | int, ...]:
    return tuple(int(step) if step.isdecimal() else step for step in path.split("."))


def place_of_path(path: str) -> str:
    place = ""
    for step in steps(path):
        place += f"[{step}]" if isinstance(step, int) else f".{step}"
    return place.removeprefix(".")


@pytest.mark.parametrize(("subject", "path", "value", "place", "code"), CASES)
def test_it_refuses_an_invalid_document_at_its_place(subject, path, value, place, code):
    valid = manifest(subject)
    parse_manifest(valid)
    with pytest.raises(ManifestError) as caught:
        parse_manifest(changed(valid, steps(path), value))
    assert [(problem.place, problem.code) for problem in caught.value.problems] == [
        (place if place is not None else place_of_path(path), code)
    ]
    assert len(caught.value.problems[0].message) > 10


@pytest.mark.parametrize("document", [None, [], "text", 1, True])
def test_it_refuses_what_is_no_object(document):
    with pytest.raises(ManifestError, match="a manifest is an object"):
        parse_manifest(document)


def test_it_tells_every_problem_at_once():
    document = changed(manifest("run"), ("spec", "status"), "ok")
    document = changed(document, ("spec", "observedAt"), REMOVED)
    document = changed(document, ("metadata", "nmae"), "x")
    with pytest.raises(ManifestError) as caught:
        parse_manifest(document)
    assert [problem.place for problem in caught.value.problems] == [
        "metadata.nmae",
        "spec.status",
        "spec.observedAt",
    ]
    assert str(caught.value).splitlines()[0] == (
        "metadata.nmae: unknown field; remove it, or correct its name: did you mean name?"
    )


def test_it_tells_no_more_than_a_hundred_problems():
    document = changed(manifest("run"), ("spec",), {f"field{number}": number for number in range(1000)})
    with pytest.raises(ManifestError) as caught:
        parse_manifest(document)
    assert len(caught.value.problems) == 100


def test_it_refuses_an_opaque_spec_that_is_nested_too_deeply():
    deep: Any = "bottom"
    for _ in range(32):
        deep = [deep]
    with pytest.raises(ManifestError, match="nested more than 32 deep"):
        parse_manifest(changed(manifest("model"), ("spec", "notes"), deep))


@pytest.mark.parametrize(
    ("subject", "path", "value", "message"),
    [
        ("run", "kind", "BenchmarkRuns", "there is no such kind; did you mean BenchmarkRun?"),
        ("run", "spec.timming", {}, "unknown field; remove it, or correct its name: did you mean timing?"),
        ("run", "spec.timing.samples", "100", "expected an integer of at least 0; write digits without quotes"),
        ("run", "spec.evidence.xyz", 1, "known here are logs, rawSamples, harness"),
        ("environment", "spec.software.driver", 580.15, "expected text; put it in quotes"),
        ("run", "spec.timing.latencyNs.median", "73.7", 'write a number and ns, us, µs, ms or s: "0.008 ms"'),
        ("operation", "spec.axes.groups.value", REMOVED, "a constant axis needs a value; add one"),
        ("operation", "spec.axes.Rows", {"role": "variable", "type": "integer"}, "this key: expected a token"),
    ],
)
def test_its_messages_say_how_to_mend_the_document(subject, path, value, message):
    with pytest.raises(ManifestError) as caught:
        parse_manifest(changed(manifest(subject), steps(path), value))
    assert message in caught.value.problems[0].message
