"""An export of the public index into the tables, batch by batch: each batch is one transaction of publication.

Whatever was landed when the import stopped is found again by digest and by external id, so that beginning anew goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from runs.catalog_checks import check_runs
from runs.catalog_landing import Landing
from runs.exchange import keep, known, publish_files
from runs.manifests.bundle import Bundle, Record, Snapshot, Source
from runs.manifests.canonical import sha256
from runs.models import Implementation, OperationAlias, Project
from runs.models import Source as SourceRow
from runs.publication import publish, publish_subjects
from runs.serving_records import publish_serving, publish_serving_subjects
from runs.sources.catalog import build
from runs.sources.catalog.spool import Spooled
from runs.sources.catalog.tables import TABLES, stated
from runs.storage import one_writer, renew_statistics

BATCH: Final = 500
SERVING_SUBJECTS: Final = (
    "model_revisions",
    "serving_stack_revisions",
    "serving_configurations",
    "serving_workloads",
)
FIGURES: Final = {"benchmark_runs": "measurements", "serving_runs": "serving_measurements"}
_MANY_EMBEDDED: Final = 5_000  # protocols and environments whose verdict is remembered


@dataclass(slots=True)
class CatalogImport(Landing):
    """One import of one spooled export. `report` says what became of every row."""

    sources: dict[str, Source] = field(default_factory=dict)
    # Protocols and environments by what they are and what digest is stated of them: why each is refused, or "".
    embedded: dict[str, str] = field(default_factory=dict)

    def everything(self) -> None:
        """Every table, in the order in which they refer to one another."""
        self._sources()
        self._subjects("projects")
        self._operations()
        self._subjects("workloads")
        self._implementations()
        self._of_sources("benchmark_runs", self._runs)
        self.orphans(FIGURES["benchmark_runs"], "benchmark_runs")
        self._counted()
        self._files()
        self._serving()
        renew_statistics()

    # Sources ----------------------------------------------------------------------------------------------------------

    def _sources(self) -> None:
        for batch in self.spool.batches("sources", BATCH):
            for item in batch:
                self._source(item)
            self.advance(len(batch))

    def _source(self, item: Spooled) -> None:
        try:
            source = build.source_of(item.row)
        except build.RowError as error:
            self.refuse("sources", item, error.code, error.detail)
            return
        with one_writer():
            before = SourceRow.objects.filter(slug=source.slug).first()
            publish(Bundle(source, None, ()))
            here = before or SourceRow.objects.get(slug=source.slug)
            policy = build.policy_of(item.row)
            further = {
                name: policy[name] for name in ("verified", "freshnessDays") if isinstance(policy.get(name), str | int)
            }
            beside = stated(TABLES["sources"], item.row) | ({"policy": further} if further else {})
            keep("sources", [(UUID(item.id), here.id, beside)])
        self.report.count("sources", "existing" if before else "created")
        self.sources[item.id] = source
        for name in ("name", "kind", *build.TERMS):
            says = policy.get(name) if name in build.TERMS else item.row[name]
            if (says or "") != getattr(here, name):
                self.report.differ("sources", item.id, name, says, getattr(here, name))

    def _of_sources(self, table: str, land: Callable[[Bundle, list[Spooled]], None]) -> None:
        """The runs of each source, which a run needs."""
        for parent in self.spool.parents(table):
            source = self.sources.get(parent or "")
            for batch in self.spool.batches(table, BATCH, by=parent):
                if source is None:
                    for item in batch:
                        self.refuse(table, item, "DEPENDS_ON_REFUSED", f"Its source is {parent}.")
                    self._figures(batch, {}, FIGURES[table])
                else:
                    land(Bundle(source, self._snapshot(source), ()), batch)
                self.advance(len(batch))

    def _snapshot(self, source: Source) -> Snapshot:
        export = self.export
        return Snapshot(export.path.name, "", export.digest, export.size, source.license or "")

    # Subjects ---------------------------------------------------------------------------------------------------------

    def _subjects(self, name: str) -> None:
        for batch in self.spool.batches(name, BATCH):
            pairs = self.build(name, batch, lambda item: build.record_of(TABLES[name], item.row))
            self.land(name, pairs, publish_subjects)
            self.advance(len(batch))

    def _operations(self) -> None:
        table = TABLES["operations"]
        for batch in self.spool.batches("operations", BATCH):
            named: dict[str, list[Spooled]] = {item.id: [] for item in batch}
            for parent, alias in self.spool.parts("operation_aliases", list(named)):
                if len(alias.row["alias"]) <= 200:
                    named[parent].append(alias)
                else:
                    self.refuse("operation_aliases", alias, "INVALID_ROW", "alias is longer than 200 characters.")
            pairs = self.build(
                "operations",
                batch,
                lambda item, named=named: build.record_of(  # type: ignore[misc]
                    table, item.row, aliases=tuple(alias.row["alias"] for alias in named[item.id])
                ),
            )
            digests = {record.digest for _, record in pairs}
            before = set(
                OperationAlias.objects.filter(operation__digest__in=digests).values_list("operation_id", "alias")
            )
            landed = {item.id: id_ for item, id_, _ in self.land("operations", pairs, publish_subjects)}
            for parent, aliases in named.items():
                for alias in aliases:
                    self._alias(alias, landed.get(parent), before)
            self.advance(len(batch))
        self.orphans("operation_aliases", "operations")

    def _alias(self, alias: Spooled, operation: UUID | None, before: set[tuple[UUID, str]]) -> None:
        if operation is None:
            self.refuse("operation_aliases", alias, "DEPENDS_ON_REFUSED")
            return
        pair = (operation, alias.row["alias"])
        self.report.count("operation_aliases", "existing" if pair in before else "created")
        before.add(pair)

    def _implementations(self) -> None:
        table = TABLES["implementations"]
        for batch in self.spool.batches("implementations", BATCH):
            projects = self._projects(batch)
            names = self._entry_names(batch)

            def make(item: Spooled, projects: dict[str, str] = projects, names: dict[str, str] = names) -> Record:
                return build.record_of(
                    table, item.row, project=_project(item, projects), implementation=names.get(item.id)
                )

            self.land("implementations", self.build("implementations", batch, make), publish_subjects)
            self.advance(len(batch))

    def _projects(self, batch: Iterable[Spooled]) -> dict[str, str]:
        """Digests of the projects that rows belong to, by the project's id in the export."""
        named = _ids(item.row.get("projectId") for item in batch)
        here = known("projects", named)
        digests = dict(Project.objects.filter(id__in=here.values()).values_list("id", "digest"))
        return {str(external): digests[id_] for external, id_ in here.items() if id_ in digests}

    def _entry_names(self, batch: Sequence[Spooled]) -> dict[str, str]:
        """Names of the entries that cannot have their `metadata.name`.

        Two rows may share digest and name and still be two implementations. The one created first has the name, each
        other one its slug; an entry that was landed before keeps what it has.
        """
        here = known("implementations", [UUID(item.id) for item in batch])
        names = dict(Implementation.objects.filter(id__in=here.values()).values_list("id", "name"))
        later = self.spool.namesakes(item.id for item in batch)
        found = {item.id: _slug(item) for item in batch if item.id in later}
        return found | {str(external): names[id_] for external, id_ in here.items() if id_ in names}

    # Kernel runs ------------------------------------------------------------------------------------------------------

    def _runs(self, bundle: Bundle, batch: list[Spooled]) -> None:
        table = "benchmark_runs"
        here = known("implementations", [UUID(item.row["implementationId"]) for item in batch])
        entries = {
            id_: (digest, name)
            for id_, digest, name in Implementation.objects.filter(id__in=here.values()).values_list(
                "id", "digest", "name"
            )
        }
        verdicts = self._embedded(batch)

        def make(item: Spooled) -> Record:
            wrong = verdicts.get(item.id)
            if wrong:
                raise build.RowError(*wrong)
            means = item.row["implementationId"]
            entry = entries.get(here.get(UUID(means), UUID(int=0)))
            if entry is None:
                raise build.RowError("DEPENDS_ON_REFUSED", f"Its implementation is {means}.")
            record = build.run_of(TABLES[table], item.row, entry[1])
            spec = record.manifest.get("spec")
            if isinstance(spec, dict) and spec.get("implementationDigest") != entry[0]:
                raise build.RowError("OTHER_IMPLEMENTATION", f"{means} is {entry[0]}.")
            return record

        pairs = self.build(table, batch, make)
        landed = self.land(
            table, pairs, lambda records: publish(Bundle(bundle.source, bundle.snapshot, records), partial=True)
        )
        check_runs({id_: item for item, id_, _ in landed}, self.report)
        self._figures(batch, {item.id: new for item, _, new in landed}, FIGURES[table])
        for item, _, _ in landed:
            self.report.dated(item.row.get("publishedAt"))

    def _embedded(self, batch: Iterable[Spooled]) -> dict[str, tuple[str, str]]:
        """Land the protocols and environments that runs carry; why a run is refused that carries an invalid one."""
        if len(self.embedded) > _MANY_EMBEDDED:
            self.embedded.clear()
        asked: dict[str, list[str]] = {}
        fresh: dict[str, Record] = {}
        for item in batch:
            for record in build.embedded(item.row):
                key = sha256(repr((record.digest, record.manifest)).encode(errors="replace"))
                asked.setdefault(item.id, []).append(key)
                if key not in self.embedded:
                    fresh[key] = record
        outcome = publish_subjects(list(fresh.values()))
        why = {id(record): f"{refusal.code} {refusal.detail}" for record, refusal in outcome.refused}
        for key, record in fresh.items():
            self.embedded[key] = why.get(id(record), "")
            if id(record) not in why:
                self.report.embedded.setdefault(str(record.manifest["kind"]), set()).add(str(record.digest))
        wrong = {id_: [self.embedded[key] for key in keys if self.embedded[key]] for id_, keys in asked.items()}
        return {id_: _split(texts[0]) for id_, texts in wrong.items() if texts}

    def _figures(self, batch: Sequence[Spooled], landed: dict[str, bool], table: str) -> None:
        """The rows of figures, each of which its run's manifest has."""
        runs = {item.id: item for item in batch}
        found = {}
        for id_ in landed:
            manifest = runs[id_].row["manifest"]
            found[id_] = build.figures(manifest.get("run", manifest)["spec"])
        for parent, part in self.spool.parts(table, list(runs)):
            if parent not in landed:
                self.refuse(table, part, "DEPENDS_ON_REFUSED", f"Its run is {parent}.")
            elif build.is_among(part.row, found[parent]):
                self.report.count(table, "created" if landed[parent] else "existing")
            else:
                self.refuse(table, part, "NOT_IN_MANIFEST")

    # The rest ---------------------------------------------------------------------------------------------------------

    def _counted(self) -> None:
        for table in TABLES.values():
            if table.counted:
                rows = self.spool.count(table.name)
                self.report.count(table.name, "counted", rows)
                self.advance(rows)

    def _files(self) -> None:
        for batch in self.spool.batches("artifacts", BATCH):
            pairs = []
            for item in batch:
                try:
                    pairs.append((item, build.file_of(item.row)))
                except build.RowError as error:
                    self.refuse("artifacts", item, error.code, error.detail)
            with one_writer():
                landed = publish_files([columns for _, columns in pairs])
                entries = [
                    (UUID(item.id), id_, stated(TABLES["artifacts"], item.row))
                    for (item, _), (id_, _) in zip(pairs, landed, strict=True)
                ]
                keep("artifacts", entries)
            first: set[UUID] = set()
            for id_, new in landed:
                self.report.count("artifacts", "created" if new and id_ not in first else "existing")
                first.add(id_)
            self.advance(len(batch))

    def _serving(self) -> None:
        for name in SERVING_SUBJECTS:
            table = TABLES[name]
            for batch in self.spool.batches(name, BATCH):
                projects = self._projects(batch)

                def make(item: Spooled, table: Any = table, projects: dict[str, str] = projects) -> Record:
                    return build.record_of(table, item.row, project=_project(item, projects))

                self.land(name, self.build(name, batch, make), publish_serving_subjects)
                self.advance(len(batch))
        self._of_sources("serving_runs", self._serving_runs)
        self.orphans(FIGURES["serving_runs"], "serving_runs")

    def _serving_runs(self, bundle: Bundle, batch: list[Spooled]) -> None:
        name = "serving_runs"
        pairs = self.build(name, batch, lambda item: build.record_of(TABLES[name], item.row))
        landed = self.land(
            name, pairs, lambda records: publish_serving(Bundle(bundle.source, bundle.snapshot, records), partial=True)
        )
        self._figures(batch, {item.id: new for item, _, new in landed}, FIGURES[name])


def _ids(values: Iterable[Any]) -> list[UUID]:
    found = []
    for value in values:
        try:
            found.append(UUID(value))
        except (ValueError, TypeError, AttributeError):
            continue
    return found


def _project(item: Spooled, projects: dict[str, str]) -> str | None:
    """The digest of the project that a row belongs to; None where it says none. Raises RowError."""
    named = item.row.get("projectId")
    if named is None:
        return None
    if str(named) not in projects:
        raise build.RowError("DEPENDS_ON_REFUSED", f"Its project is {str(named)[:100]}.")
    return projects[str(named)]


def _slug(item: Spooled) -> str:
    slug = item.row.get("slug")
    return (
        slug[:200] if isinstance(slug, str) and slug else f"{item.row['manifest']['metadata']['name'][:150]}-{item.id}"
    )


def _split(text: str) -> tuple[str, str]:
    code, _, detail = text.partition(" ")
    return code, detail
