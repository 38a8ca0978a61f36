"""The columns that follow from a manifest: the same manifest gives the same columns in every database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from runs.manifests.keys import primary_measurement
from runs.manifests.order import display_order
from runs.models.base import new_id

Columns = dict[str, Any]
Document = Mapping[str, Any]

_NOT_FLOATING = re.compile(r"u?int\d*|bool|index")


def slugify(text: str) -> str:
    """Lowercase letters, digits and single hyphens: `NVIDIA A100 SXM4-80GB` becomes `nvidia-a100-sxm4-80gb`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def title(metadata: Document, otherwise: str) -> str:
    """The editorial title, else the name, else what the caller falls back to."""
    return str(metadata.get("title") or metadata.get("name") or otherwise)[:300]


def project(spec: Document, metadata: Document) -> Columns:
    return {"name": spec["name"][:300], "url": spec.get("homepage") or spec.get("repository") or ""}


def operation(spec: Document, metadata: Document) -> Columns:
    return {"name": title(metadata, spec["family"]), "family": spec["family"]}


def workload_dtype(spec: Document) -> str:
    """The dtype of the first floating-point tensor in display order; empty when there is none."""
    tensors = spec.get("tensors", {})
    for name in display_order(tensors):
        dtype: str = tensors[name]["dtype"]
        if not _NOT_FLOATING.fullmatch(dtype):
            return dtype
    return ""


def axes_line(axes: Mapping[str, int]) -> str:
    """`batch = 128 · hidden = 512`."""
    return " · ".join(f"{name} = {axes[name]}" for name in display_order(axes))


def workload(kind: str, spec: Document) -> Columns:
    if kind == "WorkloadSuite":
        count = len(spec["cases"])
        return {"kind": kind, "dtype": "", "summary": f"suite of {count} case{'' if count == 1 else 's'}"}
    dtype = workload_dtype(spec)
    return {"kind": kind, "dtype": dtype, "summary": " · ".join(filter(None, (axes_line(spec["axes"]), dtype)))[:500]}


def axes(workload_id: UUID, spec: Document) -> list[Columns]:
    """A row for each axis value of the workload, or of the cases of a suite."""
    cases = spec.get("cases") or [spec]
    values = {(name, value) for case in cases for name, value in case["axes"].items()}
    return [
        {"id": new_id(), "workload_id": workload_id, "name": name, "value": value} for name, value in sorted(values)
    ]


def implementation(spec: Document, metadata: Document) -> Columns:
    revision, licensing = spec["projectRevision"], spec["licensing"]
    return {
        "title": title(metadata, spec["callable"]["language"]),
        "language": spec["callable"]["language"],
        "revision": revision.get("version") or revision.get("commit") or "",
        "license": licensing.get("concluded") or licensing.get("declared") or "",
    }


def protocol(spec: Document, metadata: Document) -> Columns:
    return {
        "title": title(metadata, spec["harness"]["name"]),
        "harness": spec["harness"]["name"],
        "timer": spec["measurement"]["timer"],
        "family": spec.get("comparability", {}).get("family", ""),
    }


def hardware_slug(spec: Document) -> str:
    hardware = spec["hardware"]
    return slugify(f"{hardware['product']} {hardware.get('formFactor', '')}")


def environment(spec: Document, metadata: Document) -> Columns:
    hardware = spec["hardware"]
    return {
        "title": title(metadata, hardware["product"]),
        "hardware": hardware_slug(spec),
        "vendor": hardware["vendor"],
        "product": hardware["product"],
        "architecture": hardware["architecture"],
        "form_factor": hardware.get("formFactor", ""),
    }


def run(spec: Document) -> Columns:
    """Columns of a run that follow from its own spec; those of what it refers to are added at publication."""
    primary = primary_measurement(spec)
    return {
        "status": spec["status"],
        "metric": primary.metric if primary else "",
        "statistic": primary.statistic if primary else "",
        "unit": primary.unit if primary else "",
        "value": primary.value if primary else None,
        "low": primary.low if primary else None,
        "high": primary.high if primary else None,
        "samples": primary.samples if primary else None,
        "source_native": "sourceNative" in spec,
        "observed_at": datetime.fromisoformat(spec["observedAt"]),
    }


def measurements(run_id: UUID, spec: Document) -> list[Columns]:
    """Rows of the figures that the manifest lists, in its order."""
    return [
        {
            "id": new_id(),
            "run_id": run_id,
            "position": position,
            "metric": entry["metric"],
            "statistic": entry["statistic"],
            "unit": entry["unit"],
            "value": entry["value"],
            "samples": entry.get("sampleCount"),
        }
        for position, entry in enumerate(spec.get("measurements", ()))
    ]


def artifacts(run_id: UUID, spec: Document) -> list[Columns]:
    """Rows of the files that the run names."""
    named = [(role, spec.get("evidence", {}).get(role)) for role in ("logs", "rawSamples")]
    named.append(("timingSamples", spec.get("timing", {}).get("rawSamples")))
    return [
        {"id": new_id(), "run_id": run_id, "role": role, "uri": artifact["uri"], "digest": artifact["digest"]}
        for role, artifact in named
        if artifact
    ]
