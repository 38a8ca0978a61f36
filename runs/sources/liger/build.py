"""Benchmark files to records: the rows' runs and all that they refer to, and the report of what became of each row."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from runs.manifests.bundle import Bundle, Record, Snapshot, Source
from runs.manifests.canonical import MAX_INTEGER, manifest_digest
from runs.manifests.durations import milliseconds_to_ns
from runs.manifests.errors import ManifestError
from runs.sources.liger.cases import Case, Unknown, read_case
from runs.sources.liger.layouts import CONTROLS, KERNELS
from runs.sources.liger.operations import OPERATIONS
from runs.sources.liger.reasons import MALFORMED
from runs.sources.liger.report import PUBLISHED, Report
from runs.sources.liger.rows import Malformed, Row, read_rows
from runs.sources.liger.subjects import GPUS, PASSES, PROJECTS, PROVIDERS, latency_protocol, memory_protocol

API_VERSION = "kernelindex.dev/v1alpha1"

SOURCE = Source(
    slug="liger-kernel-bench",
    name="Liger-Kernel benchmarks",
    kind="benchmark",
    url="https://github.com/linkedin/Liger-Kernel",
    license="BSD-2-Clause",
    attribution="Liger-Kernel contributors",
)

MEASURES = frozenset({("speed", "ms"), ("memory", "MB")})
"""Metrics with their units."""

_MEBIBYTE = 2**20
_UNSLUGGED = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 100


def build_bundle(
    files: Mapping[str, bytes | Path],
    snapshot: Snapshot | None = None,
    *,
    environment: Mapping[str, Any] | None = None,
) -> tuple[Bundle, Report]:
    """The records of benchmark CSV files, given by name as bytes or as a path, and the report on their rows.

    `environment` is an ExecutionEnvironment manifest that describes the machine of all the files; without it a run's
    environment is what the row says, the GPU. Digests are left for publication to compute, for the files state none.
    Raises SourceError for a file that is no benchmark file at all, OSError for a path that cannot be read.
    """
    builder = _Builder(environment)
    for name, content in files.items():
        with _opened(content) as stream:
            builder.read(name, stream)
    return Bundle(source=SOURCE, snapshot=snapshot, records=builder.records()), builder.report


def _opened(content: bytes | Path) -> AbstractContextManager[BinaryIO]:
    return content.open("rb") if isinstance(content, Path) else nullcontext(io.BytesIO(content))


def slug(text: str) -> str:
    """Lower case letters and digits, whatever lies between them as one hyphen."""
    return _UNSLUGGED.sub("-", text.lower()).strip("-")


def _manifest(kind: str, name: str, title: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name, "title": title}, "spec": spec}


@cache
def _operation_digests() -> Mapping[str, str]:
    return {
        key: manifest_digest({"apiVersion": API_VERSION, "kind": "OperationSpec", "spec": operation.spec})
        for key, operation in OPERATIONS.items()
    }


class _Builder:
    """Collects records by identity as rows come; what two rows share is made and digested once."""

    def __init__(self, environment: Mapping[str, Any] | None) -> None:
        self.report = Report()
        self._environment = dict(environment) if environment is not None else None
        self._projects: dict[str, Record] = {}
        self._operations: dict[str, Record] = {}
        self._workloads: dict[str, Record] = {}
        self._implementations: dict[str, Record] = {}
        self._protocols: dict[str, Record] = {}
        self._environments: dict[str, Record] = {}
        self._runs: dict[str, Record] = {}
        self._cases: dict[tuple[str, str, str, str], Case | Unknown] = {}
        self._workload_digests: dict[int, str] = {}
        self._implementation_keys: dict[tuple[str, str, str | None], tuple[str, str]] = {}
        self._protocol_digests: dict[tuple[str, str], str] = {}
        self._environment_digests: dict[str, str] = {}
        self._slugs: dict[str, str] = {}

    def records(self) -> list[Record]:
        """The records, what is referred to first."""
        kinds: Iterable[dict[str, Record]] = (
            self._projects,
            self._operations,
            self._workloads,
            self._implementations,
            self._protocols,
            self._environments,
            self._runs,
        )
        return [record for kind in kinds for record in kind.values()]

    def read(self, file: str, stream: BinaryIO) -> None:
        """Take the rows of a file."""
        for row in read_rows(stream):
            if isinstance(row, Malformed):
                self.report.count(file, row.kernel, row.x_name, row.metric, row.code)
                self.report.name_line(file, row.line, row.code, row.detail)
                continue
            outcome, label, detail = self._take(row)
            self.report.count(file, row.kernel, label, row.metric, outcome)
            if outcome in MALFORMED:
                self.report.name_line(file, row.line, outcome, detail)

    def _take(self, row: Row) -> tuple[str, str, str]:
        """Make the row's run. Returns the outcome, the layout's label, and for a malformed row the field."""
        code = self._stranger(row)
        if code is not None:
            return code, row.x_name, ""
        key = (row.kernel, row.x_name, row.x_value, row.config)
        case = self._cases.get(key)
        if case is None:
            case = self._cases[key] = read_case(*key)
        if isinstance(case, Unknown):
            return case.code, case.label, case.detail
        if row.metric == "memory" and row.mode in case.layout.memory_held:
            return case.layout.memory_held[row.mode], case.label, ""
        measured = _measured(row)
        if isinstance(measured, str):
            return measured, case.label, "y_value_20, y_value_50, y_value_80"
        external_id = self._external_id(row, case)
        if external_id in self._runs:
            return "duplicate", case.label, external_id
        self._runs[external_id] = self._run(row, case, measured, external_id)
        return PUBLISHED, case.label, ""

    def _stranger(self, row: Row) -> str | None:
        """The reason why a row is held back whatever its config says."""
        checks = (
            (row.kernel not in CONTROLS, "control_experiment"),
            ((row.metric, row.unit) in MEASURES, "metric_unknown"),
            (row.kernel in KERNELS, "kernel_unknown"),
            (row.mode in PASSES, "mode_unknown"),
            (row.provider in PROVIDERS, "provider_unknown"),
            (row.gpu in GPUS or self._environment is not None, "gpu_unknown"),
            (self._describes(row.gpu), "environment_other_gpu"),
        )
        return next((code for holds, code in checks if not holds), None)

    def _describes(self, gpu: str) -> bool:
        """Whether the environment given, if any, is one of this GPU; the driver's name may add a form factor."""
        if self._environment is None:
            return True
        product = self._environment["spec"]["hardware"]["product"]
        return product == gpu or (gpu in GPUS and product == GPUS[gpu].product)

    def _external_id(self, row: Row, case: Case) -> str:
        when = row.timestamp.translate(_TO_HYPHENS)
        memory = "/memory" if row.metric == "memory" else ""
        dimensions = f"{case.dimensions}-{case.tag}" if case.tag else case.dimensions
        return f"{row.kernel}/{row.mode}{memory}/{row.provider}/{self._slug(row.gpu)}/{dimensions}/{when}"

    def _slug(self, text: str) -> str:
        found = self._slugs.get(text)
        if found is None:
            found = self._slugs[text] = slug(text)
        return found

    def _run(self, row: Row, case: Case, measured: tuple[int, int, int], external_id: str) -> Record:
        interface = case.layout.interface
        memory = row.metric == "memory"
        titles = [case.operation.title, row.provider, row.mode]
        if interface is not None:
            titles.append(interface.replace("_", " "))
        if memory:
            titles.append("peak memory")
        implementation, entry = self._implementation(row, case)
        spec: dict[str, Any] = {
            "implementationDigest": implementation,
            "workloadDigest": self._workload(case),
            "protocolDigest": self._protocol(row.metric, row.mode),
            "environmentDigest": self._place(row.gpu),
            "status": "passed",
            **(_memory(measured) if memory else _latency(measured)),
            "sourceNative": {
                "source": SOURCE.slug,
                "benchmark": f"{row.kernel}/{row.mode}" + ("/memory" if memory else ""),
                "externalId": external_id,
                "metrics": dict(
                    zip(_MEMORY_METRICS if memory else _SPEED_METRICS, (row.p50, row.p20, row.p80), strict=True)
                ),
            },
            "observedAt": f"{row.timestamp.replace(' ', 'T')}.000Z",
        }
        manifest = _manifest("BenchmarkRun", _name(f"liger-{slug(external_id)}"), " · ".join(titles), spec)
        manifest["metadata"]["labels"] = {"liger_version": row.version}
        return Record(manifest=manifest, implementation=entry)

    def _operation(self, key: str) -> str:
        digest = _operation_digests()[key]
        if digest not in self._operations:
            same = [OPERATIONS[each] for each, other in _operation_digests().items() if other == digest]
            first = same[0]
            aliases = [each.key for each in same] + [each.slug for each in same[1:]]
            manifest = _manifest("OperationSpec", first.slug, first.title, first.spec)
            self._operations[digest] = Record(manifest=manifest, aliases=tuple(aliases))
        return digest

    def _workload(self, case: Case) -> str:
        found = self._workload_digests.get(id(case))
        if found is None:
            name = _name(f"{case.operation.slug}-{slug(case.dimensions)}")
            manifest = _manifest("WorkloadCase", name, case.title, case.spec(self._operation(case.operation.key)))
            found = self._workload_digests[id(case)] = manifest_digest(manifest)
            self._workloads.setdefault(found, Record(manifest=manifest))
        return found

    def _implementation(self, row: Row, case: Case) -> tuple[str, str]:
        """The digest and the name of the row's implementation; providers that differ in nothing else share a digest."""
        interface = case.layout.interface
        key = (row.provider, case.operation.key, interface)
        found = self._implementation_keys.get(key)
        if found is None:
            provider = PROVIDERS[row.provider]
            project = PROJECTS[provider.project]
            self._project(provider.project)
            operation = self._operation(case.operation.key)
            manner = [each for each in (case.operation.note, interface and interface.replace("_", " ")) if each]
            title = " · ".join([project.short, *([provider.note] if provider.note else []), *manner])
            family = self._operations[operation].manifest["metadata"]["name"]
            name = _name("-".join([family, slug(row.provider), *(slug(each) for each in manner)]))
            spec = provider.spec(operation, interface)
            manifest = _manifest("ImplementationRevision", name, title, spec)
            found = self._implementation_keys[key] = (manifest_digest(manifest), name)
            self._implementations.setdefault(name, Record(manifest=manifest, project=project.name))
        return found

    def _project(self, name: str) -> None:
        if name not in self._projects:
            project = PROJECTS[name]
            self._projects[name] = Record(manifest=_manifest("SoftwareProject", name, project.title, project.spec))

    def _protocol(self, metric: str, mode: str) -> str:
        found = self._protocol_digests.get((metric, mode))
        if found is None:
            title = PASSES[mode].title
            if metric == "memory":
                name, title, spec = "liger-bench-peak-memory-", f"peak memory, {title}", memory_protocol(mode)
            else:
                name, spec = "liger-bench-do-bench-", latency_protocol(mode)
            manifest = _manifest("BenchmarkProtocol", name + mode, f"Liger benchmark harness · {title}", spec)
            found = self._protocol_digests[metric, mode] = manifest_digest(manifest)
            self._protocols[found] = Record(manifest=manifest)
        return found

    def _place(self, gpu: str) -> str:
        found = self._environment_digests.get(gpu)
        if found is None:
            manifest = self._environment
            if manifest is None:
                title = f"Liger benchmark host · {gpu.removeprefix('NVIDIA ')}"
                manifest = _manifest("ExecutionEnvironment", f"liger-bench-{slug(gpu)}", title, GPUS[gpu].spec)
            found = self._environment_digests[gpu] = manifest_digest(manifest)
            self._environments.setdefault(found, Record(manifest=manifest))
        return found


_TO_HYPHENS = str.maketrans(" :", "--")
_SPEED_METRICS = ("ms_50", "ms_20", "ms_80")
_MEMORY_METRICS = ("mb_50", "mb_20", "mb_80")


def _name(text: str) -> str:
    return text[:_LONGEST_NAME]


def _measured(row: Row) -> tuple[int, int, int] | str:
    """The median, the 20th and the 80th percentile in ns or bytes, or the reason why they are none."""
    try:
        if row.metric == "speed":
            p50, p20, p80 = (milliseconds_to_ns(each) for each in (row.p50, row.p20, row.p80))
        else:
            # The scripts divide by 2**20 and call it MB; interpolated quantiles need not be whole bytes.
            p50, p20, p80 = (int(each * _MEBIBYTE + 0.5) for each in (row.p50, row.p20, row.p80))
    except (ManifestError, OverflowError):
        return "too_large"
    if p80 > MAX_INTEGER:
        return "too_large"
    return "zero" if p20 == 0 else (p50, p20, p80)


def _latency(measured: tuple[int, int, int]) -> dict[str, Any]:
    p50, p20, p80 = measured
    return {
        "timing": {"primaryStatistic": "median", "latencyNs": {"median": p50}},
        "measurements": [
            {"metric": "latency", "unit": "ns", "statistic": "p20", "value": p20},
            {"metric": "latency", "unit": "ns", "statistic": "p80", "value": p80},
        ],
    }


def _memory(measured: tuple[int, int, int]) -> dict[str, Any]:
    statistics = zip(("median", "p20", "p80"), measured, strict=True)
    return {
        "measurements": [
            {"metric": "peak_memory", "unit": "bytes", "statistic": statistic, "value": value}
            for statistic, value in statistics
        ]
    }
