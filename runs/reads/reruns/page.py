"""The page of one rerun, and what it depends on."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from runs.policy.level import EvidenceLevel
from runs.reads.reruns.documents import Stored, stored
from runs.reads.reruns.results import job_facts, measured
from runs.reads.reruns.rows import COLUMNS, JOINS, rerun_row, rerun_rows, rerun_url, runner_link
from runs.reads.reruns.values import PublishedRun, RerunPage, RerunRow, SignedDocument
from runs.reads.reruns.words import ENDS, KEY_STATES
from runs.reads.rows import Row, as_instant, as_json, as_number, as_uuid, fetch, fetch_tuple
from runs.reads.tombstones import removed
from runs.reads.values import Fact, Link
from runs.reruns.documents.job import Job
from runs.reruns.documents.result import Result

MOST_ATTEMPTS: Final = 50

# Equal states mean equal pages: the versions of all attempts at the claim, the last decision about a key, the level.
_STATE: Final = """
SELECT u.state, u.version, (SELECT sum(a.version) FROM runs_rerun a WHERE a.run_id = u.run_id) AS versions,
    e.level, e.disputed, (SELECT d.at FROM runs_signerdecision d ORDER BY d.id DESC LIMIT 1) AS decided_at, e.since,
    u.created_at, u.queued_at, u.started_at, u.finished_at, z.run_id AS removed
FROM runs_rerun u LEFT JOIN runs_evidencelevel e ON e.run_id = u.run_id
LEFT JOIN runs_redaction z ON z.run_id = u.run_id WHERE u.id = %s
"""
_TIMES: Final = slice(5, -1)
_PAGE: Final = f"""
SELECT {COLUMNS}, u.job, u.job_digest, u.progress, x.id AS result_id, x.envelope, e.level, e.disputed,
    z.run_id AS removed
{JOINS} LEFT JOIN runs_evidencelevel e ON e.run_id = u.run_id LEFT JOIN runs_redaction z ON z.run_id = u.run_id
WHERE u.id = %s
"""
_SIGNERS: Final = """
SELECT n.keyid, n.name, n.role,
    (SELECT d.decision FROM runs_signerdecision d WHERE d.signer_id = n.id ORDER BY d.at DESC, d.id DESC LIMIT 1)
    AS decision
FROM runs_signer n WHERE n.keyid IN (%s, %s)
"""
_PUBLISHED: Final = """
SELECT p.kind, r.id, r.title, r.value FROM runs_rerunrun p JOIN runs_run r ON r.id = p.run_id
WHERE p.result_id = %s ORDER BY p.kind DESC
"""
_DOCUMENTS: Final = """
SELECT u.job, x.envelope, z.run_id FROM runs_rerun u LEFT JOIN runs_rerunresult x ON x.rerun_id = u.id
LEFT JOIN runs_redaction z ON z.run_id = u.run_id WHERE u.id = %s
"""

_SAID_FIRST: Final = ("phase", "done", "of")

State = tuple[Any, ...]


def rerun_state(rerun: UUID) -> State | None:
    """What the page of a rerun depends on, as the driver gives it. One statement.

    Raises Removed, like all that shows a rerun, where its claim was removed: a job holds the claim's manifest.
    """
    found = fetch_tuple(_STATE, [rerun])
    if found is not None:
        _require_content(found[-1])
    return found


def changed_at(state: State) -> float:
    """When the page of a state last changed, in seconds since 1970; now, while it may change unnoticed."""
    if state[0] not in ENDS:
        return timezone.now().timestamp()
    return max(as_instant(value).timestamp() for value in state[_TIMES] if value is not None)


def rerun_page(rerun: UUID) -> RerunPage | None:
    """The page of a rerun, or None where there is none. At most four statements."""
    found = fetch(_PAGE, [rerun])
    if not found:
        return None
    shown = found[0]
    _require_content(shown["removed"])
    row = rerun_row(shown)
    job = stored(shown["job"]) if shown["job"] else None
    result = stored(shown["envelope"]) if shown["envelope"] else None
    asked = Job.read(job.predicate) if job else None
    return RerunPage(
        row=row,
        title=f"{row.implementation} · {row.operation.name}",
        level=shown["level"] or EvidenceLevel.REPORTED.slug,
        disputed=bool(shown["disputed"]),
        progress=_progress(shown["progress"]),
        open=row.state not in ENDS,
        job=job_facts(asked) if asked else None,
        measured=measured(asked, Result.read(result.predicate)) if asked and result else None,
        signatures=_signatures(row, job, result) if job else (),
        published=_published(shown["result_id"]) if shown["result_id"] else (),
        attempts=_attempts(row),
        permalink=settings.BASE_URL + rerun_url(rerun),
    )


def rerun_documents(rerun: UUID) -> tuple[Stored | None, Stored | None] | None:
    """The signed job and the signed result of a rerun, each None where there is none yet. One statement."""
    found = fetch_tuple(_DOCUMENTS, [rerun])
    if found is None:
        return None
    _require_content(found[2])
    return (stored(found[0]) if found[0] else None, stored(found[1]) if found[1] else None)


def _require_content(run: Any) -> None:
    if run is not None:
        raise removed(as_uuid(run))


def _progress(value: Any) -> tuple[Fact, ...]:
    """How far the runner says it is: its own words, shown and believed by nobody."""
    said = as_json(value)
    names = sorted(said, key=lambda name: (_SAID_FIRST.index(name) if name in _SAID_FIRST else len(_SAID_FIRST), name))
    return tuple(Fact(name, str(said[name])) for name in names if isinstance(said[name], str | int | float))


def _signatures(row: RerunRow, job: Stored, result: Stored | None) -> tuple[SignedDocument, ...]:
    known: dict[str, Row] = {
        found["keyid"]: found for found in fetch(_SIGNERS, [job.keyid, result.keyid if result else ""])
    }
    documents = [("job", job), *((("result", result),) if result else ())]
    return tuple(_signature(name, document, known.get(document.keyid), row) for name, document in documents)


def _signature(name: str, document: Stored, key: Row | None, row: RerunRow) -> SignedDocument:
    return SignedDocument(
        document=name,
        digest=document.digest,
        keyid=document.keyid,
        signer=_signer(key) if key else None,
        role=key["role"] if key else None,
        key_state=KEY_STATES[key["decision"]] if key and key["decision"] else None,
        url=f"{rerun_url(row.id)}{name}.dsse.json",
    )


def _signer(key: Row) -> Link:
    return runner_link(key["name"]) if key["role"] == "runner" else Link(key["name"], key["name"])


def _published(result: Any) -> tuple[PublishedRun, ...]:
    return tuple(
        PublishedRun(
            as_uuid(row["id"]), row["kind"], row["title"], None if row["value"] is None else as_number(row["value"])
        )
        for row in fetch(_PUBLISHED, [result])
    )


def _attempts(row: RerunRow) -> tuple[RerunRow, ...]:
    return rerun_rows("u.run_id = %s AND u.id <> %s", [row.run, row.id], limit=MOST_ATTEMPTS)
