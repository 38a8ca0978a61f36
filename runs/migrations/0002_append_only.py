"""The database itself keeps evidence append-only, and refuses an evidence level that no controlled rerun carries.

Safe to deploy at any time: it adds triggers and changes no row.
"""

from django.db import migrations

EVIDENCE = (
    "project",
    "operation",
    "operationalias",
    "workload",
    "workloadaxis",
    "implementation",
    "protocol",
    "environment",
    "run",
    "measurement",
    "artifact",
    "externalid",
    "source",
    "sourcesnapshot",
    "retraction",
    "supersession",
    "databasepurpose",
)
REFUSAL = "evidence is append-only: publish a correction that supersedes the record"
NO_LEVEL = "an evidence level needs a controlled rerun that carries it"


def _sqlite(table):
    for event in ("UPDATE", "DELETE"):
        name = f"runs_{table}_no_{event.lower()}"
        yield (
            f"CREATE TRIGGER {name} BEFORE {event} ON runs_{table} BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
            f"DROP TRIGGER {name}",
        )


def _postgresql(table):
    name = f"runs_{table}_append_only"
    # A statement trigger, so that TRUNCATE and an UPDATE that matches no row are refused as well.
    yield (
        f"CREATE TRIGGER {name} BEFORE UPDATE OR DELETE OR TRUNCATE ON runs_{table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION runs_refuse_change()",
        f"DROP TRIGGER {name} ON runs_{table}",
    )


def _statements(vendor):
    if vendor == "sqlite":
        for table in EVIDENCE:
            yield from _sqlite(table)
        for event in ("INSERT", "UPDATE"):
            name = f"runs_evidencelevel_on_{event.lower()}"
            yield (
                f"CREATE TRIGGER {name} BEFORE {event} ON runs_evidencelevel BEGIN SELECT RAISE(ABORT, '{NO_LEVEL}'); END",
                f"DROP TRIGGER {name}",
            )
    elif vendor == "postgresql":
        for function, message in (("runs_refuse_change", REFUSAL), ("runs_refuse_level", NO_LEVEL)):
            yield (
                f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation'; END $$",
                f"DROP FUNCTION {function}()",
            )
        for table in EVIDENCE:
            yield from _postgresql(table)
        yield (
            "CREATE TRIGGER runs_evidencelevel_carried BEFORE INSERT OR UPDATE ON runs_evidencelevel "
            "FOR EACH ROW EXECUTE FUNCTION runs_refuse_level()",
            "DROP TRIGGER runs_evidencelevel_carried ON runs_evidencelevel",
        )
    else:
        raise NotImplementedError(f"KernelIndex keeps evidence on SQLite or PostgreSQL, not on {vendor}")


def install(apps, schema_editor):
    for create, _ in _statements(schema_editor.connection.vendor):
        schema_editor.execute(create)


def remove(apps, schema_editor):
    for _, drop in reversed(list(_statements(schema_editor.connection.vendor))):
        schema_editor.execute(drop)


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_evidence")]
    operations = [migrations.RunPython(install, remove)]
