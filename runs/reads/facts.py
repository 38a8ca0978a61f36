"""What a manifest says, as lines of a page: names are the manifest's own, values its own words.

A field that the manifest leaves out has no line: unknown is shown by its absence here, and by a word of its own where a
page has a fixed place for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runs.manifests.order import display_order
from runs.reads.values import Fact, Figure, Tensor

Document = Mapping[str, Any]


def _text(value: Any) -> str:
    """A JSON value in one line; true and false as the manifest spells them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    if isinstance(value, Mapping):
        return " · ".join(f"{name} {_text(value[name])}".strip() for name in display_order(value))
    return str(value)


def _facts(document: Document, *names: str) -> Iterator[Fact]:
    """The named members that are there, in the order named; `name:shown` shows one under another name."""
    for entry in names:
        name, _, shown = entry.partition(":")
        if name in document:
            yield Fact(shown or name, _text(document[name]))


def protocol(spec: Document) -> tuple[Fact, ...]:
    """How was measured: the harness, the timer, what it repeats, and what may stand beside it."""
    comparability = spec.get("comparability", {})
    return (
        *_facts(spec["harness"], "name:harness", "version:harnessVersion", "commit:harnessCommit"),
        *_facts(
            spec["measurement"],
            "timer",
            "synchronization",
            "compileIncluded",
            "setupIncluded",
            "warmupIterations",
            "warmupDuration:warmupDurationNs",
            "measuredIterations",
            "samples",
            "inputRegeneration",
            "outlierPolicy",
            "primaryStatistic",
        ),
        *_facts(spec.get("correctness", {}), "reference", "comparator"),
        *_facts(spec.get("devicePolicy", {}), "clocksLocked", "powerLimitWatts", "persistenceMode"),
        *_facts(comparability, "family:comparabilityFamily", "notes:comparabilityNotes"),
        *_facts(spec["harness"], "repository:harnessRepository"),
    )


def product(hardware: Document) -> str:
    """`NVIDIA H100 PCIe`: the product with the form that it comes in."""
    return " ".join(filter(None, (hardware["product"], hardware.get("formFactor"))))


def environment(spec: Document) -> tuple[Fact, ...]:
    """On what was measured; `gpu` is product, form and architecture: `NVIDIA B200 (sm_100)`."""
    hardware, software, settings = spec["hardware"], spec["software"], spec.get("settings", {})
    framework = software.get("framework")
    return (
        Fact("gpu", f"{product(hardware)} ({hardware['architecture']})"),
        *_facts(hardware, "count", "memoryBytes", "interconnect"),
        *_facts(software, "operatingSystem", "kernel", "driver", "cudaToolkit", "compiler"),
        *((Fact("framework", f"{framework['name']} {framework['version']}"),) if framework else ()),
        *_facts(software, "libraries"),
        *_facts(settings, "clocksLocked", "powerLimitWatts", "persistenceMode", "eccEnabled", "environmentVariables"),
        *_facts(spec, "imageDigest"),
    )


def implementation(spec: Document) -> tuple[Fact, ...]:
    """What is called, under which licence, where it is said to work, and how it is installed."""
    return (
        *_facts(spec["callable"], "language", "path", "symbol", "interface"),
        *_facts(spec["projectRevision"], "repository", "commit", "version", "treeDigest"),
        *_facts(spec.get("source", {}), "fileName:sourceFile", "sizeBytes:sourceBytes", "contentDigest:sourceDigest"),
        *_facts(spec["licensing"], "declared:licenseDeclared", "concluded:licenseConcluded"),
        *(
            Fact(name, _text(value))
            for name in ("hardwareArchitectures", "productsTested", "axes", "dtypes", "layouts")
            if (value := spec["support"].get(name))
        ),
        *(Fact(f"install ({variant['name']})", _install(variant)) for variant in spec.get("buildVariants", ())),
    )


def _install(variant: Document) -> str:
    install = variant["install"]
    if "command" in install:
        return str(install["command"])
    if install["kind"] == "pip" and "package" in install:
        return f"pip install {install['package']}{'==' + install['version'] if 'version' in install else ''}"
    return " ".join(
        _text(install[name]) for name in ("kind", "package", "version", "repository", "commit") if name in install
    )


def measured(spec: Document, primary: Figure | None) -> tuple[Figure, ...]:
    """Every figure of a run: the primary first, then statistics of the latency, then the others in manifest order."""
    timing = spec.get("timing", {})
    figures = [
        Figure("latency", name, "ns", value, timing.get("samples"))
        for name, value in timing.get("latencyNs", {}).items()
        if name != "confidence95"
    ]
    figures += [
        Figure(entry["metric"], entry["statistic"], entry["unit"], entry["value"], entry.get("sampleCount"))
        for entry in spec.get("measurements", ())
    ]
    if primary is None:
        return tuple(figures)
    if primary in figures:
        figures.remove(primary)
    return (primary, *figures)


def tensors(spec: Document) -> tuple[Tensor, ...]:
    """The tensors of a case, in display order."""
    named: Document = spec.get("tensors", {})
    return tuple(Tensor(name, named[name]["dtype"], tuple(named[name]["shape"])) for name in display_order(named))


def scalars(spec: Document) -> tuple[Fact, ...]:
    """The scalars of a case: `eps`, `fp32 1e-06`."""
    named: Document = spec.get("scalars", {})
    return tuple(Fact(name, f"{named[name]['dtype']} {_text(named[name]['value'])}") for name in display_order(named))


def axes(spec: Document) -> tuple[tuple[str, int], ...]:
    """The axes of a case, in display order. A suite has none of its own."""
    named: Document = spec.get("axes", {})
    return tuple((name, named[name]) for name in display_order(named))


def cases(spec: Document) -> tuple[tuple[str, str], ...]:
    """The cases of a suite: what the source calls each, and its axes in one line."""
    return tuple(
        (case["externalId"], " · ".join(f"{name} = {case['axes'][name]}" for name in display_order(case["axes"])))
        for case in spec.get("cases", ())
    )
