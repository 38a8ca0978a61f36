"""From flashinfer-bench's definitions, workloads, solutions and traces to records.

A definition is an operation, a workload a case of it, a solution an implementation, a trace with an evaluation a run.
Names of axes and operands are written in lowercase, dtypes as the record format has them. The harness reports one mean
latency; a time without an offset is taken to be in UTC, because it does not say otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

from runs.manifests.bundle import Bundle, Record, Source
from runs.manifests.canonical import object_digest, sha256
from runs.manifests.durations import milliseconds_to_ns
from runs.manifests.errors import ManifestError
from runs.manifests.manifest import API_VERSION, parse_manifest
from runs.sources.findings import Findings
from runs.sources.text import instant, name, slug, token, vendor
from runs.sources.traces.read import Folder, Placed
from runs.sources.traces.schema import Definition, Environment, Evaluation, Solution, Tensor, Workload

DTYPES: Final = {
    "float32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8_e4m3",
    "float8_e5m2": "fp8_e5m2",
    "float4_e2m1": "fp4_e2m1",
}
PROTOCOL: Final[dict[str, Any]] = {
    "harness": {"name": "flashinfer-bench", "repository": "https://github.com/flashinfer-ai/flashinfer-bench"},
    "measurement": {"timer": "harness_reported", "primaryStatistic": "mean"},
    "correctness": {"reference": "definition reference implementation", "comparator": "flashinfer_bench_eval"},
    "comparability": {"family": "flashinfer_bench_trace"},
}
COMPARATOR: Final = "flashinfer_bench_eval"
_KINDS: Final = (
    "SoftwareProject",
    "OperationSpec",
    "WorkloadCase",
    "ImplementationRevision",
    "BenchmarkProtocol",
    "ExecutionEnvironment",
    "BenchmarkRun",
)


def build_bundle(folder: Folder, source: Source, findings: Findings) -> Bundle:
    """The records of a folder, of which those that are no valid records are told in `findings`."""
    builder = _Builder(source, findings)
    for definition in folder.definitions.values():
        builder.operation(definition)
    for solution in folder.solutions.values():
        builder.implementation(solution, folder.definitions.get(solution.definition))
    for placed in folder.traces:
        findings.read += 1
        builder.trace(placed, folder)
    return Bundle(source, folder.snapshot, builder.in_order())


class _Builder:
    def __init__(self, source: Source, findings: Findings) -> None:
        self._source = source
        self._findings = findings
        # By kind and by what identifies the record here: the record and its digest.
        self._records: dict[str, dict[str, tuple[Record, str]]] = {kind: {} for kind in _KINDS}

    def in_order(self) -> list[Record]:
        return [record for kind in _KINDS for record, _ in self._records[kind].values()]

    def _add(self, kind: str, key: str, metadata: dict[str, Any], spec: dict[str, Any], **more: Any) -> str | None:
        """Keep a record; its digest, or None where it is no valid one, which is told at `place`."""
        place = more.pop("place", key)
        kept = self._records[kind].get(key)
        if kept:
            return kept[1]
        plain = {member: value for member, value in metadata.items() if value}
        try:
            manifest = parse_manifest({"apiVersion": API_VERSION, "kind": kind, "metadata": plain, "spec": spec})
        except ManifestError as error:
            self._findings.fault(place, str(error.problems[0]))
            return None
        self._records[kind][key] = (Record(manifest.document(), manifest.digest, **more), manifest.digest)
        return manifest.digest

    def operation(self, definition: Definition) -> str | None:
        axes = {
            token(axis): {"role": "constant", "type": "integer", "value": each.value}
            if each.type == "const" and each.value is not None
            else {"role": "variable", "type": "integer"}
            for axis, each in definition.axes.items()
        }
        spec = {
            "family": slug(definition.op_type),
            "axes": axes,
            "inputs": [_operand(*each) for each in definition.inputs.items()],
            "outputs": [_operand(*each) for each in definition.outputs.items()],
            "semantics": {"mutation": "none", "determinism": "unspecified"},
            "reference": {"language": "python"},
        }
        metadata = {
            "name": name(definition.name.replace("_", "-")),
            "title": definition.name,
            "description": definition.description,
        }
        place = f"definition {definition.name}"
        return self._add("OperationSpec", definition.name, metadata, spec, aliases=(definition.name,), place=place)

    def implementation(self, solution: Solution, definition: Definition | None) -> str | None:
        kept = self._records["ImplementationRevision"].get(solution.name)
        if kept or definition is None:
            if definition is None:
                self._findings.fault(f"solution {solution.name}", f"there is no definition {solution.definition}")
            return kept[1] if kept else None
        operation = self.operation(definition)
        if operation is None:
            return None
        path, _, symbol = solution.spec.entry_point.partition("::")
        call = {"language": token(solution.spec.language), "path": path, "symbol": symbol}
        project = f"{self._source.slug}-{slug(solution.author)}"[:200]
        author = {"name": project, "title": solution.author}
        maker = self._add("SoftwareProject", project, author, {"name": solution.author})
        tensors = (*definition.inputs.values(), *definition.outputs.values())
        spec = {
            **_sources(solution),
            "operation": {"specDigest": operation},
            "callable": {member: value for member, value in call.items() if value},
            "support": {"hardwareArchitectures": [], "dtypes": sorted({_dtype(each.dtype) for each in tensors})},
            "licensing": {},
        }
        metadata = {
            "name": name(solution.name.replace("_", "-")),
            "title": solution.name,
            "description": solution.description,
            "authors": [{"name": solution.author}],
        }
        return self._add(
            "ImplementationRevision",
            solution.name,
            metadata,
            spec,
            project=maker,
            place=f"solution {solution.name}",
        )

    def trace(self, placed: Placed, folder: Folder) -> None:
        trace = placed.trace
        definition = folder.definitions.get(trace.definition)
        solution = folder.solutions.get(trace.solution) if trace.solution else None
        wrong = ""
        if definition is None:
            wrong = f"there is no definition {trace.definition}"
        elif trace.solution and solution is None:
            wrong = f"there is no solution {trace.solution}"
        elif solution and solution.definition != trace.definition:
            wrong = f"{solution.name} is a solution of {solution.definition}, not of {trace.definition}"
        elif (trace.solution is None) != (trace.evaluation is None):
            wrong = "a trace has a solution and an evaluation, or neither"
        if wrong or definition is None:
            self._fault(placed, wrong)
            return
        try:
            workload = self._workload(definition, trace.workload, placed.place)
            if solution is None or trace.evaluation is None:
                return
            implementation = self.implementation(solution, definition)
            if workload and implementation:
                self._run(placed, trace.evaluation, solution, (workload, implementation))
                return
            self._fault(placed, "its workload or its solution is no valid record")
        except (ManifestError, ValueError) as error:
            self._fault(placed, str(error))

    def _fault(self, placed: Placed, message: str) -> None:
        self._findings.faulty += 1
        self._findings.fault(placed.place, message)

    def _workload(self, definition: Definition, workload: Workload, place: str) -> str | None:
        operation = self.operation(definition)
        if operation is None:
            return None
        key = f"{definition.name} {object_digest(workload.model_dump(mode='json'))}"
        values = {axis: each.value for axis, each in definition.axes.items() if each.value is not None}
        values |= workload.axes
        tensors, scalars = {}, {}
        for operand, each in definition.inputs.items():
            made = workload.inputs.get(operand)
            if each.shape is None:
                if made is None or made.value is None:
                    raise ValueError(f"the workload gives no value of {operand}")
                scalars[token(operand)] = {"dtype": _dtype(each.dtype), "value": made.value}
                continue
            missing = [axis for axis in each.shape if axis not in values]
            if missing:
                raise ValueError(f"the workload gives no value of the axis {missing[0]}")
            tensors[token(operand)] = {
                "shape": [values[axis] for axis in each.shape],
                "dtype": _dtype(each.dtype),
                **({"data": {"generator": made.type}} if made else {}),
            }
        shown = ", ".join(f"{axis}={value}" for axis, value in workload.axes.items())
        spec = {
            "operationSpecDigest": operation,
            "axes": {token(axis): value for axis, value in workload.axes.items()},
            "tensors": tensors,
            **({"scalars": scalars} if scalars else {}),
            "correctness": {"comparator": COMPARATOR},
        }
        metadata = {
            "name": name(f"{definition.name.replace('_', '-')[:150]}-{workload.uuid[:8]}"),
            "title": f"{definition.name} · {shown}",
        }
        return self._add("WorkloadCase", key, metadata, spec, place=place)

    def _run(self, placed: Placed, found: Evaluation, solution: Solution, digests: tuple[str, str]) -> None:
        trace, place = placed.trace, placed.place
        workload, implementation = digests
        protocol = self._add(
            "BenchmarkProtocol",
            "protocol",
            {"name": "flashinfer-bench-trace", "title": "FlashInfer-Bench trace harness"},
            PROTOCOL,
        )
        environment = self._environment(found.environment, place)
        observed = instant(found.timestamp)
        external = "/".join((trace.definition, solution.name, trace.workload.uuid, observed))
        native: dict[str, Any] = {
            "source": self._source.slug,
            "benchmark": trace.definition,
            "externalId": external[:500],
        }
        spec: dict[str, Any] = {
            "implementationDigest": implementation,
            "workloadDigest": workload,
            "protocolDigest": protocol,
            "environmentDigest": environment,
            "status": found.status.lower(),
            "sourceNative": native,
            "observedAt": observed,
        }
        if found.performance and found.status == "PASSED":
            mean = milliseconds_to_ns(found.performance.latency_ms)
            spec["timing"] = {"primaryStatistic": "mean", "latencyNs": {"mean": mean}}
            figures = found.performance.model_dump()
            native["metrics"] = {metric: value for metric, value in figures.items() if math.isfinite(value)}
        if found.correctness:
            errors = {
                "maximumAbsoluteError": found.correctness.max_absolute_error,
                "maximumRelativeError": found.correctness.max_relative_error,
            }
            finite = {member: value for member, value in errors.items() if math.isfinite(value) and value >= 0}
            spec["correctness"] = {"comparator": COMPARATOR, **finite}
        title = f"{solution.name} · {trace.definition}"
        metadata = {"name": name(f"{self._source.slug}-{external.replace('_', '-')}"), "title": title}
        means = name(solution.name.replace("_", "-"))
        key = object_digest(spec)
        if key in self._records["BenchmarkRun"]:
            return  # the same line twice
        if self._add("BenchmarkRun", key, metadata, spec, implementation=means, place=place):
            self._findings.runs += 1
        else:
            self._findings.faulty += 1

    def _environment(self, found: Environment, place: str) -> str | None:
        product = found.hardware.replace("_", " ")
        libraries = {library: version for library, version in found.libs.items() if library not in ("torch", "cuda")}
        software: dict[str, Any] = {}
        if "torch" in found.libs:
            software["framework"] = {"name": "pytorch", "version": found.libs["torch"]}
        if "cuda" in found.libs:
            software["cudaToolkit"] = found.libs["cuda"]
        if libraries:
            software["libraries"] = libraries
        spec = {
            "hardware": {"vendor": vendor(product), "product": product, "architecture": "unknown"},
            "software": software,
        }
        versions = "-".join(found.libs[library] for library in sorted(found.libs))
        metadata = {
            "name": name(f"{self._source.slug}-{product}-{versions}"),
            "title": f"{product} (software as the trace reports it)",
        }
        return self._add("ExecutionEnvironment", object_digest(spec), metadata, spec, place=place)


def _dtype(written: str) -> str:
    return DTYPES.get(written, token(written))


def _operand(operand: str, tensor: Tensor) -> dict[str, Any]:
    if tensor.shape is None:
        return {"name": token(operand), "scalar": {"dtype": _dtype(tensor.dtype)}}
    shape = [token(axis) for axis in tensor.shape]
    return {"name": token(operand), "tensor": {"shape": shape, "dtype": _dtype(tensor.dtype)}}


def _sources(solution: Solution) -> dict[str, Any]:
    """One file is named with its digest; several by the digest of all their paths and digests."""
    digests = {each.path: sha256(each.content.encode()) for each in solution.sources}
    revision = {"treeDigest": object_digest(digests)} if len(digests) > 1 else {}
    entry = solution.spec.entry_point.partition("::")[0]
    main: Iterable[Any] = (each for each in solution.sources if each.path == entry)
    file = next(iter(main), solution.sources[0])
    source = {"contentDigest": digests[file.path], "fileName": file.path, "sizeBytes": len(file.content.encode())}
    return {"projectRevision": revision, "source": source}
