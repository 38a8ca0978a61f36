"""From rows of an export to what publication takes: sources, records, files, and what a run's columns say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from runs.manifests.bundle import Record, Source, bundle_from_document
from runs.manifests.errors import ManifestError
from runs.sources.catalog.tables import Row, Table

_LONGEST: Final = {"name": 200, "kind": 40, "license": 200, "attribution": 500}
RENAMED: Final[dict[str, str]] = {"minimum": "min", "maximum": "max"}
"""What the export's figures call two statistics of a manifest's latency."""

TERMS: Final = ("url", "license", "attribution", "terms")
SILENT: Final = "The source gives no reason."
Figure = tuple[str, str, str, float]


class RowError(ValueError):
    """A row that is no source, no file, or has no digest: a code of `reasons` and the particulars."""

    def __init__(self, code: str, detail: str = "") -> None:
        self.code, self.detail = code, detail
        super().__init__(f"{code} {detail}")


def source_of(row: Row) -> Source:
    """The source that a row describes, with what its policy states; a term that cannot be kept is left out.

    Raises RowError where slug, name or kind is no such thing.
    """
    policy = policy_of(row)
    source = _source({name: row.get(name) for name in ("slug", "name", "kind")})
    for name in TERMS:
        if policy.get(name):
            with suppress(RowError):
                source = replace(source, **{name: getattr(_source(_members(source) | {name: policy[name]}), name)})
    return source


def policy_of(row: Row) -> Mapping[str, Any]:
    """Under which terms a source may be shown; empty where the row says nothing."""
    policy = row.get("policy")
    return policy if isinstance(policy, dict) else {}


def _members(source: Source) -> dict[str, Any]:
    return {"slug": source.slug, "name": source.name, "kind": source.kind}


def _source(members: Mapping[str, Any]) -> Source:
    for name, longest in _LONGEST.items():
        if isinstance(members.get(name), str) and len(members[name]) > longest:
            raise RowError("INVALID_ROW", f"{name} is longer than {longest} characters.")
    try:
        return bundle_from_document({"source": dict(members), "records": []}).source
    except ManifestError as error:
        raise RowError("INVALID_ROW", str(error)) from error


def record_of(table: Table, row: Row, **attributes: Any) -> Record:
    """The record of a row with the digest that stands beside it. Raises RowError where none does."""
    return Record(row["manifest"], digest=_digest(table, row) if table.digest else None, **attributes)


def run_of(table: Table, row: Row, implementation: str) -> Record:
    """The record of a kernel run. Raises RowError."""
    return Record(row["manifest"]["run"], digest=_digest(table, row), implementation=implementation)


def embedded(row: Row) -> Iterator[Record]:
    """The protocol and the environment that a run carries with it, with the digests that stand beside them."""
    for part in ("protocol", "environment"):
        digest = row.get(f"{part}Key")
        yield Record(row["manifest"][part], digest=digest if isinstance(digest, str) else "none")


def _digest(table: Table, row: Row) -> str:
    digest = row.get(table.digest or "")
    if not isinstance(digest, str) or not digest:
        raise RowError("NO_DIGEST", f"{table.digest} is {str(digest)[:100]}.")
    return digest


def file_of(row: Row) -> dict[str, Any]:
    """A row of `artifacts` as columns of the table of files. Raises RowError."""
    size, digest = row.get("sizeBytes"), row["contentDigest"]
    columns = {
        "digest": digest,
        "uri": row["uri"],
        "kind": row["kind"],
        "media_type": row.get("mediaType") or "",
        "size": size,
        "license": row.get("license") or "",
    }
    lengths = {"digest": 71, "uri": 2000, "kind": 40, "media_type": 200, "license": 200}
    for name, longest in lengths.items():
        value = columns[name]
        if not isinstance(value, str) or len(value) > longest or "\0" in value:
            raise RowError("INVALID_ROW", f"{name} is no text of at most {longest} characters.")
    if not (digest.startswith("sha256:") and len(digest) == 71 and set(digest[7:]) <= set("0123456789abcdef")):
        raise RowError("INVALID_ROW", "contentDigest is no digest.")
    if size is not None and (type(size) is not int or not 0 <= size < 2**63):
        raise RowError("INVALID_ROW", "sizeBytes is no number of bytes.")
    return columns


def figures(spec: Mapping[str, Any]) -> set[Figure]:
    """Every figure of a run's spec as the export lists them: metric, statistic, unit, value."""
    found: set[Figure] = set()
    timing = spec.get("timing")
    latency = timing.get("latencyNs") if isinstance(timing, dict) else None
    statistics: Mapping[str, Any] = latency if isinstance(latency, dict) else {}
    for name, value in statistics.items():
        if name != "confidence95" and _is_number(value):
            found.add(("latency", name, "ns", float(value)))
            found.add(("latency", RENAMED.get(name, name), "ns", float(value)))
    listed = spec.get("measurements")
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and _is_number(entry.get("value")):
            texts = [str(entry.get(name, "")) for name in ("metric", "statistic", "unit")]
            found.add((texts[0], texts[1], texts[2], float(entry["value"])))
    return found


def is_among(row: Row, found: set[Figure]) -> bool:
    """Whether a row of measurements is one of a run's figures."""
    value = row.get("value")
    return _is_number(value) and (row["metric"], row["statistic"], row["unit"], float(value)) in found  # type: ignore[arg-type]


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < 2**1000)


def instant(text: Any) -> datetime | None:
    """A point in time of a column, or None where there is none."""
    if not isinstance(text, str):
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else None


def reason_of(row: Row) -> str:
    """Why a run was retracted, in the source's words."""
    reason = row.get("retractionReason")
    return reason.strip().replace("\0", "")[:10_000] if isinstance(reason, str) and reason.strip() else SILENT


def statements(row: Row) -> dict[str, Any]:
    """The columns of a kernel run that must be what follows from its manifest."""
    metric = row.get("primaryMetric")
    return {
        "comparisonKey": row.get("comparisonKey"),
        "correctnessKey": row.get("correctnessKey"),
        "protocolKey": row.get("protocolKey"),
        "environmentKey": row.get("environmentKey"),
        "status": row.get("status"),
        "primaryMetric": metric if metric else "none",
        "primaryStatistic": row.get("primaryStatistic"),
        "primaryUnit": row.get("primaryUnit"),
        "primaryValue": row.get("primaryValue"),
        "sampleCount": row.get("sampleCount"),
        "uncertaintyLow": row.get("uncertaintyLow"),
        "uncertaintyHigh": row.get("uncertaintyHigh"),
        "observedAt": instant(row.get("observedAt")),
    }
