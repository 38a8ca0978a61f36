"""From rows of results to records: the least that a row says, and nothing that it does not."""

from __future__ import annotations

from typing import Any, Final

from runs.manifests.bundle import Bundle, Record, Snapshot, Source
from runs.manifests.canonical import object_digest
from runs.manifests.errors import ManifestError
from runs.manifests.manifest import API_VERSION, parse_manifest
from runs.sources.findings import Findings
from runs.sources.results.columns import Entry, read, unknown
from runs.sources.results.formats import Table
from runs.sources.text import name, slug, token, vendor

_KINDS: Final = (
    "SoftwareProject",
    "OperationSpec",
    "WorkloadCase",
    "ImplementationRevision",
    "BenchmarkProtocol",
    "ExecutionEnvironment",
    "BenchmarkRun",
)


def build_bundle(table: Table, source: Source, snapshot: Snapshot, findings: Findings) -> Bundle:
    """The records of a table. Rows that are wrong are told in `findings`, each column with its reason."""
    builder = _Builder(source)
    for name_ in unknown(dict.fromkeys(column for _, cells in table.rows for column in cells)):
        findings.fault(f"column {name_[:100]}", "means nothing here; docs/exchange.md lists the columns")
        findings.faulty += 1
    for place, cells in table.rows:
        findings.read += 1
        entry, wrong = read(place, cells)
        try:
            if not wrong and builder.run(entry):
                findings.runs += 1
        except ManifestError as error:
            wrong = [(problem.place, problem.message) for problem in error.problems]
        if wrong:
            findings.faulty += 1
        for column, message in wrong:
            findings.fault(f"{place}, {column}", message)
    return Bundle(source, snapshot, builder.in_order())


class _Builder:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._records: dict[str, dict[str, tuple[Record, str]]] = {kind: {} for kind in _KINDS}

    def in_order(self) -> list[Record]:
        return [record for kind in _KINDS for record, _ in self._records[kind].values()]

    def _add(self, kind: str, title: str, spec: dict[str, Any], called: str = "", **more: Any) -> str:
        """Keep a record; its digest. Raises ManifestError."""
        metadata = {"name": called or name(f"{self._source.slug}-{title}"), "title": title}
        key = object_digest({"spec": spec, "name": metadata["name"]})
        kept = self._records[kind].get(key)
        if kept is None:
            document = {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
            manifest = parse_manifest(document)
            kept = Record(manifest.document(), manifest.digest, **more), manifest.digest
            self._records[kind][key] = kept
        return kept[1]

    def run(self, entry: Entry) -> bool:
        """Add a run with all that it refers to; False where the same run was added before. Raises ManifestError."""
        operation = self._operation(entry)
        workload = self._workload(entry, operation)
        implementation, called = self._implementation(entry, operation)
        text = entry.text
        native: dict[str, Any] = {"source": self._source.slug, "benchmark": text["operation"]}
        if "external_id" in text:
            native["externalId"] = text["external_id"]
        if entry.as_written:
            unit = "us" if text["unit"] == "µs" else text["unit"]
            native["metrics"] = {f"{column}_{unit}": value for column, value in entry.as_written.items()}
        spec: dict[str, Any] = {
            "implementationDigest": implementation,
            "workloadDigest": workload,
            "protocolDigest": self._protocol(entry),
            "environmentDigest": self._environment(entry),
            "status": text.get("status", "passed"),
            "sourceNative": native,
            "observedAt": text["observed_at"],
        }
        if entry.latencies:
            statistic = "median" if "median" in entry.latencies else "mean"
            spec["timing"] = {"primaryStatistic": statistic, "latencyNs": entry.latencies}
            if entry.samples is not None:
                spec["timing"]["samples"] = entry.samples
        elif entry.value is not None:
            measured: dict[str, Any] = {member: text[member] for member in ("metric", "statistic", "unit")}
            measured["value"] = entry.value
            if entry.samples is not None:
                measured["sampleCount"] = entry.samples
            spec["measurements"] = [measured]
        before = len(self._records["BenchmarkRun"])
        title = f"{text['operation']} · {text['implementation']}"
        self._add("BenchmarkRun", title, spec, implementation=called)
        return len(self._records["BenchmarkRun"]) > before

    def _operation(self, entry: Entry) -> str:
        """The operation: one published already, where its digest is given, or one of what the row says of it."""
        given = entry.text["operation"]
        if given.startswith("sha256:"):
            return given
        inputs = [
            {
                "name": operand,
                "tensor": {"shape": [int(part) if part.isdigit() else part for part in shape], "dtype": _class(dtype)},
            }
            for operand, (shape, dtype) in entry.tensors.items()
        ]
        spec = {
            "family": slug(given),
            "axes": {axis: {"role": "variable", "type": "integer"} for axis in entry.axes},
            "inputs": inputs,
            "outputs": [],
            "semantics": {"mutation": "none", "determinism": "unspecified"},
        }
        return self._add("OperationSpec", given, spec, aliases=(given[:200],))

    def _workload(self, entry: Entry, operation: str) -> str:
        spec = {
            "operationSpecDigest": operation,
            "axes": entry.axes,
            "tensors": {
                operand: {
                    "shape": [int(part) if part.isdigit() else entry.axes[part] for part in shape],
                    "dtype": dtype,
                }
                for operand, (shape, dtype) in entry.tensors.items()
            },
            "correctness": {"comparator": entry.text.get("comparator", "not_asserted")},
        }
        shown = ", ".join(f"{axis}={value}" for axis, value in entry.axes.items())
        return self._add(
            "WorkloadCase", f"{entry.text['operation']} · {shown}" if shown else entry.text["operation"], spec
        )

    def _implementation(self, entry: Entry, operation: str) -> tuple[str, str]:
        text = entry.text
        project = None
        if "project" in text:
            project = self._add("SoftwareProject", text["project"], {"name": text["project"]})
        dtypes = sorted({dtype for _, dtype in entry.tensors.values()})
        spec = {
            "projectRevision": {"version": text["version"]} if "version" in text else {},
            "operation": {"specDigest": operation},
            "callable": {"language": text.get("language", "unknown")},
            "support": {"hardwareArchitectures": [], "dtypes": dtypes},
            "licensing": {},
        }
        called = name(f"{self._source.slug}-{text['operation'][:80]}-{text['implementation']}")
        digest = self._add("ImplementationRevision", text["implementation"], spec, called, project=project)
        return digest, called

    def _protocol(self, entry: Entry) -> str:
        text = entry.text
        harness = {"name": text["harness"]}
        if "harness_version" in text:
            harness["version"] = text["harness_version"]
        # A failed run belongs beside those that passed: it was to be measured as they were.
        statistic = "mean" if entry.latencies and "median" not in entry.latencies else text.get("statistic", "median")
        spec = {
            "harness": harness,
            "measurement": {"timer": text.get("timer", "unknown"), "primaryStatistic": statistic},
            "comparability": {"family": token(text["harness"])},
        }
        return self._add("BenchmarkProtocol", text["harness"], spec)

    def _environment(self, entry: Entry) -> str:
        text = entry.text
        product = text["hardware"]
        software: dict[str, Any] = {
            member: text[column] for column, member in (("driver", "driver"), ("cuda", "cudaToolkit")) if column in text
        }
        if "framework" in text:
            software["framework"] = {
                "name": text["framework"],
                "version": text.get("framework_version", "unknown"),
            }
        spec = {
            "hardware": {
                "vendor": text.get("vendor", vendor(product)),
                "product": product,
                "architecture": text.get("architecture", "unknown"),
            },
            "software": software,
        }
        return self._add("ExecutionEnvironment", product, spec)


def _class(dtype: str) -> str:
    """The class of types that an operation takes where a case takes this one: `float` for any floating-point type."""
    return "float" if dtype.startswith(("fp", "bf")) else dtype
