"""How rows of an export become records: what all tables of an import have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import DataError

from runs.exchange import keep
from runs.manifests.bundle import Record
from runs.records import Outcome
from runs.sources.catalog import build
from runs.sources.catalog.report import Report
from runs.sources.catalog.spool import Spool, Spooled
from runs.sources.catalog.stream import Export
from runs.sources.catalog.tables import TABLES, stated
from runs.storage import one_writer

Publish = Callable[[Sequence[Record]], Outcome]
Advance = Callable[[int], None]


@dataclass(slots=True)
class Landing:
    """Rows of a spooled export on their way into the tables. `report` says what became of each."""

    spool: Spool
    export: Export
    report: Report
    advance: Advance

    def refuse(self, table: str, item: Spooled, code: str, detail: str = "") -> None:
        self.report.refuse(table, item.line, item.id or None, code, detail)

    def land(
        self, table: str, pairs: Sequence[tuple[Spooled, Record]], publish_: Publish
    ) -> list[tuple[Spooled, UUID, bool]]:
        """Publish records of rows and keep the rows' ids, in one transaction. Returns what was landed, new or not."""
        if not pairs:
            return []
        try:
            with one_writer():
                outcome = publish_([record for _, record in pairs])
                landed = [
                    (item, id_, id_ in outcome.new)
                    for (item, _), id_ in zip(pairs, outcome.ids, strict=True)
                    if id_ is not None
                ]
                beside = [(UUID(item.id), id_, stated(TABLES[table], item.row)) for item, id_, _ in landed]
                clashes = keep(table, beside)
        except DataError as error:
            # One value is longer than its column. Which one, the halves tell.
            if len(pairs) == 1:
                self.refuse(table, pairs[0][0], "NOT_STORABLE", str(error))
                return []
            half = len(pairs) // 2
            return self.land(table, pairs[:half], publish_) + self.land(table, pairs[half:], publish_)
        self._report(table, pairs, outcome, landed, clashes)
        return landed

    def _report(
        self,
        table: str,
        pairs: Sequence[tuple[Spooled, Record]],
        outcome: Outcome,
        landed: Sequence[tuple[Spooled, UUID, bool]],
        clashes: Sequence[tuple[UUID, UUID]],
    ) -> None:
        why = {id(record): refusal for record, refusal in outcome.refused}
        for (item, record), id_ in zip(pairs, outcome.ids, strict=True):
            if id_ is None:
                refusal = why[id(record)]
                self.refuse(table, item, refusal.code, refusal.detail)
        first: set[UUID] = set()
        for _, id_, new in landed:
            self.report.count(table, "created" if new and id_ not in first else "existing")
            first.add(id_)
        for external, here in clashes:
            self.report.differ(table, str(external), "id", "another record, in an earlier export", str(here))

    def build(
        self, table: str, items: Iterable[Spooled], make: Callable[[Spooled], Record]
    ) -> list[tuple[Spooled, Record]]:
        """The records of the rows of which records can be made."""
        pairs = []
        for item in items:
            try:
                pairs.append((item, make(item)))
            except build.RowError as error:
                self.refuse(table, item, error.code, error.detail)
        return pairs

    def orphans(self, table: str, parents: str) -> None:
        for line, id_ in self.spool.orphans(table, parents):
            self.report.refuse(table, line, id_ or None, "DEPENDS_ON_REFUSED")
