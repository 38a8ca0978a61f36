"""Made-up runs, to fill a database that was made for them: the same numbers give the same records.

Groups have the size that real ones have (six implementations compared), and workloads spread over operations, shapes
and hardware, so that a list, a group or a search meets what it would meet in a real index of that size.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from runs.manifests.bundle import Bundle, Record, Source
from runs.manifests.canonical import manifest_digest

API_VERSION = "kernelindex.dev/v1alpha1"
SOURCE = Source(
    slug="synthetic",
    name="Synthetic records",
    kind="synthetic",
    license="CC0-1.0",
    attribution="Made up by manage.py synthesize; not measured",
)
IMPLEMENTATIONS = 6  # in each comparison group
OPERATIONS = tuple(
    (family, kind)
    for family in ("norm", "activation", "softmax", "loss", "scan", "gather")
    for kind in ("plain", "fused", "masked", "blocked")
)
# product, architecture, memory bandwidth in GB/s that the made-up times are scaled by
HARDWARE = (
    ("Example GPU S1", "ex_10", 900),
    ("Example GPU S2", "ex_10", 1500),
    ("Example GPU M1", "ex_20", 2000),
    ("Example GPU M2", "ex_20", 3300),
    ("Example GPU L1", "ex_30", 4800),
    ("Example GPU L2", "ex_30", 8000),
)
LANGUAGES = ("triton", "cuda", "python", "cute_dsl", "hip", "tilelang")
EPOCH = datetime(2025, 1, 1, tzinfo=UTC)


def _record(kind: str, name: str, spec: dict[str, Any], title: str, **attributes: Any) -> Record:
    metadata = {"name": name, "title": title}
    return Record({"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}, **attributes)


def _operation(number: int) -> Record:
    family, kind = OPERATIONS[number]
    tensor = {"shape": ["rows", "hidden"], "dtype": "float"}
    spec = {
        "family": family,
        "axes": {axis: {"role": "variable", "type": "integer"} for axis in ("rows", "hidden")},
        "inputs": [{"name": "x", "tensor": tensor}],
        "outputs": [{"name": "y", "tensor": tensor}],
        "semantics": {"expression": f"{kind} {family}", "mutation": "none", "determinism": "unspecified"},
    }
    return _record("OperationSpec", f"synthetic-{family}-{kind}", spec, f"Synthetic {kind} {family}")


def _implementation(operation: str, number: int, language: int) -> Record:
    spec = {
        "projectRevision": {"version": f"0.{language}"},
        "operation": {"specDigest": operation},
        "callable": {"language": LANGUAGES[language]},
        "support": {"hardwareArchitectures": [], "dtypes": []},
        "licensing": {"declared": "CC0-1.0"},
    }
    title = f"Synthetic {LANGUAGES[language]}"
    return _record("ImplementationRevision", f"synthetic-{number}-{language}", spec, title, project="synthetic")


def _environment(number: int) -> Record:
    product, architecture, _ = HARDWARE[number]
    hardware = {"vendor": "example", "product": product, "architecture": architecture}
    name = f"synthetic-{product.lower().replace(' ', '-')}"
    return _record("ExecutionEnvironment", name, {"hardware": hardware, "software": {}}, f"Synthetic · {product}")


PROJECT = _record(
    "SoftwareProject", "synthetic", {"name": "Synthetic project", "kind": "individual"}, "Synthetic project"
)
PROTOCOL = _record(
    "BenchmarkProtocol",
    "synthetic",
    {"harness": {"name": "manage.py synthesize"}, "measurement": {"timer": "none", "primaryStatistic": "median"}},
    "Synthetic protocol",
)


def _workload(operation: str, number: int) -> tuple[Record, int]:
    """The workload of this number and the bytes that it moves."""
    hidden, rows = 256 * (1 + number % 64), 64 * (1 + number // 64)
    dtype, width = (("bf16", 2), ("fp32", 4))[number % 2]
    spec = {
        "operationSpecDigest": operation,
        "axes": {"rows": rows, "hidden": hidden},
        "tensors": {"x": {"shape": [rows, hidden], "dtype": dtype}},
        "correctness": {"comparator": "not_asserted"},
    }
    return _record("WorkloadCase", f"synthetic-{number}", spec, f"{rows} × {hidden}"), 2 * rows * hidden * width


def _run(number: int, references: dict[str, str], traffic: int, bandwidth: int) -> dict[str, Any]:
    draw = random.Random(number)  # noqa: S311 — made up on purpose, and the same every time
    median = int(3000 + traffic / bandwidth * draw.uniform(1.1, 4.0))
    observed = EPOCH + timedelta(minutes=number % 500_000)
    spread = [("p20", 0.98), ("p80", 1.03)]
    return {
        **references,
        "status": "passed" if draw.random() < 0.97 else "runtime_error",
        "timing": {"primaryStatistic": "median", "latencyNs": {"median": median}},
        "measurements": [
            {"metric": "latency", "unit": "ns", "statistic": name, "value": int(median * factor)}
            for name, factor in spread
        ],
        "sourceNative": {"source": SOURCE.slug, "externalId": f"synthetic/{number}"},
        "observedAt": observed.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def synthesize(start: int, count: int) -> Bundle:
    """The made-up runs numbered from `start`, with all that they refer to."""
    records = {"project": PROJECT, "protocol": PROTOCOL}
    runs = list(_runs(start, count, records))
    order = ("SoftwareProject", "OperationSpec", "WorkloadCase", "ImplementationRevision")
    referred = sorted(
        records.values(),
        key=lambda record: order.index(kind) if (kind := record.manifest["kind"]) in order else len(order),
    )
    return Bundle(SOURCE, None, [*referred, *runs], illustrative=True)


def _runs(start: int, count: int, records: dict[str, Record]) -> Iterator[Record]:
    digests: dict[str, str] = {}

    def refer(name: str, record: Record) -> str:
        if name not in digests:
            records[name], digests[name] = record, manifest_digest(record.manifest)
        return digests[name]

    protocol = refer("protocol", PROTOCOL)
    for number in range(start, start + count):
        group, language = divmod(number, IMPLEMENTATIONS)
        shape, place = divmod(group, len(OPERATIONS) * len(HARDWARE))
        operation_number, hardware = divmod(place, len(HARDWARE))
        operation = refer(f"operation {operation_number}", _operation(operation_number))
        workload, traffic = _workload(operation, shape)
        implementation = _implementation(operation, operation_number, language)
        references = {
            "implementationDigest": refer(f"implementation {operation_number} {language}", implementation),
            "workloadDigest": refer(f"workload {operation_number} {shape}", workload),
            "protocolDigest": protocol,
            "environmentDigest": refer(f"environment {hardware}", _environment(hardware)),
        }
        spec = _run(number, references, traffic, HARDWARE[hardware][2])
        title = f"Synthetic {' '.join(reversed(OPERATIONS[operation_number]))} · {LANGUAGES[language]}"
        name = str(implementation.manifest["metadata"]["name"])
        yield _record("BenchmarkRun", f"synthetic-run-{number}", spec, title, implementation=name)
