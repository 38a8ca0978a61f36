"""The database itself keeps the audit trail and the steps as they were written.

Safe to deploy at any time: it adds triggers and changes no row.
"""

from django.db import migrations

TABLES = ("auditentry", "step")
REFUSAL = "the audit trail is append-only"


def _statements(vendor):
    if vendor == "postgresql":
        yield (
            "CREATE FUNCTION attestations_refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END $$",
            "DROP FUNCTION attestations_refuse_change()",
        )
    for table in TABLES:
        if vendor == "postgresql":
            name = f"attestations_{table}_append_only"
            yield (
                f"CREATE TRIGGER {name} BEFORE UPDATE OR DELETE OR TRUNCATE ON attestations_{table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION attestations_refuse_change()",
                f"DROP TRIGGER {name} ON attestations_{table}",
            )
            continue
        for event in ("UPDATE", "DELETE"):
            name = f"attestations_{table}_no_{event.lower()}"
            yield (
                f"CREATE TRIGGER {name} BEFORE {event} ON attestations_{table} "
                f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
                f"DROP TRIGGER {name}",
            )


def install(apps, schema_editor):
    for create, _ in _statements(schema_editor.connection.vendor):
        schema_editor.execute(create)


def remove(apps, schema_editor):
    for _, drop in reversed(list(_statements(schema_editor.connection.vendor))):
        schema_editor.execute(drop)


class Migration(migrations.Migration):
    dependencies = [("attestations", "0001_community")]
    operations = [migrations.RunPython(install, remove)]
