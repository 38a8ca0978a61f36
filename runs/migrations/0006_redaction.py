"""Removal by law leaves a tombstone, and the database empties the row of evidence that a tombstone names, and no other.

Safe to deploy beside the old code: it adds a table that the old code does not know, and triggers that refuse what the old
ones refused.
"""

import django.db.models.deletion
from django.db import migrations, models

import runs.models.base

REFUSAL = "evidence is append-only: publish a correction that supersedes the record"
CHILDREN = ("measurement", "artifact", "externalid")
KEPT = (
    "id",
    "digest",
    "published_at",
    "operation_id",
    "workload_id",
    "implementation_id",
    "protocol_id",
    "environment_id",
    "source_id",
    "hardware",
    "comparison_key",
    "source_native",
    "illustrative",
    "observed_at",
)
EMPTIED = """
    EXISTS (SELECT 1 FROM runs_redaction d WHERE d.run_id = OLD.id AND d.digest = OLD.digest)
    AND OLD.canonical <> '' AND NEW.canonical = '' AND NEW.value IS NULL AND NEW.status = 'revoked'
    AND NEW.low IS NULL AND NEW.high IS NULL AND NEW.samples IS NULL
""" + "".join(f" AND NEW.{column} = OLD.{column}" for column in KEPT)


def _sqlite():
    yield "DROP TRIGGER runs_run_no_update"
    yield (
        "CREATE TRIGGER runs_run_no_update BEFORE UPDATE ON runs_run "
        f"WHEN NOT ({EMPTIED} AND NEW.metadata = '{{}}') BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    )
    for table in CHILDREN:
        yield f"DROP TRIGGER runs_{table}_no_delete"
        yield (
            f"CREATE TRIGGER runs_{table}_no_delete BEFORE DELETE ON runs_{table} "
            "WHEN NOT EXISTS (SELECT 1 FROM runs_redaction d WHERE d.run_id = OLD.run_id) "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )
    for event in ("UPDATE", "DELETE"):
        yield (
            f"CREATE TRIGGER runs_redaction_no_{event.lower()} BEFORE {event} ON runs_redaction "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )


def _postgresql():
    refuse = f"RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'"
    # A statement is let through to its rows only while there is a tombstone whose run is not emptied yet.
    yield (
        "CREATE FUNCTION runs_refuse_unless_redacting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF TG_OP = 'TRUNCATE' OR NOT EXISTS (SELECT 1 FROM runs_redaction d JOIN runs_run r ON r.id = d.run_id "
        f"WHERE r.canonical <> '') THEN {refuse}; END IF; RETURN NULL; END $$"
    )
    yield (
        "CREATE FUNCTION runs_refuse_unless_emptied() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF TG_OP = 'UPDATE' THEN IF {EMPTIED} AND NEW.metadata = '{{}}'::jsonb THEN RETURN NEW; END IF; END IF; "
        f"{refuse}; END $$"
    )
    yield (
        "CREATE FUNCTION runs_refuse_unless_redacted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF TG_OP = 'DELETE' THEN IF EXISTS (SELECT 1 FROM runs_redaction d WHERE d.run_id = OLD.run_id) "
        f"THEN RETURN OLD; END IF; END IF; {refuse}; END $$"
    )
    for table in ("run", *CHILDREN):
        yield f"DROP TRIGGER runs_{table}_append_only ON runs_{table}"
        yield (
            f"CREATE TRIGGER runs_{table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON runs_{table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION runs_refuse_unless_redacting()"
        )
        function = "runs_refuse_unless_emptied" if table == "run" else "runs_refuse_unless_redacted"
        yield (
            f"CREATE TRIGGER runs_{table}_append_only_row BEFORE UPDATE OR DELETE ON runs_{table} "
            f"FOR EACH ROW EXECUTE FUNCTION {function}()"
        )
    yield (
        "CREATE TRIGGER runs_redaction_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON runs_redaction "
        "FOR EACH STATEMENT EXECUTE FUNCTION runs_refuse_change()"
    )


def install(apps, schema_editor):
    for statement in _sqlite() if schema_editor.connection.vendor == "sqlite" else _postgresql():
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("runs", "0005_floor")]
    operations = [
        migrations.CreateModel(
            name="Redaction",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.base.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "digest",
                    runs.models.base.DigestField(help_text="of the manifest that was removed", max_length=71),
                ),
                ("reason", models.TextField(help_text="public: on which ground, without what was removed")),
                ("actor", models.CharField(max_length=200)),
                ("at", models.DateTimeField()),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="redaction", to="runs.run"
                    ),
                ),
            ],
        ),
        migrations.RunPython(install, migrations.RunPython.noop),
    ]
