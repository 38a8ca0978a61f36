"""A moderator's confirmation that a run is below the physical floor, append-only like all evidence; the lists of runs by
environment, by protocol and by date.

Safe to deploy beside the old code: it adds a table that the old code does not know, and indexes.
"""

import django.db.models.deletion
from django.db import migrations, models

import runs.models.base

TABLE = "floorconfirmation"
REFUSAL = "evidence is append-only: publish a correction that supersedes the record"


def install(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            f"CREATE TRIGGER runs_{TABLE}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON runs_{TABLE} "
            "FOR EACH STATEMENT EXECUTE FUNCTION runs_refuse_change()"
        )
        return
    for event in ("UPDATE", "DELETE"):
        schema_editor.execute(
            f"CREATE TRIGGER runs_{TABLE}_no_{event.lower()} BEFORE {event} ON runs_{TABLE} "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )


class Migration(migrations.Migration):
    dependencies = [("runs", "0004_rerun_levels")]
    operations = [
        migrations.CreateModel(
            name="FloorConfirmation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.base.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("reason", models.TextField()),
                ("actor", models.CharField(max_length=200)),
                ("at", models.DateTimeField()),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="floor_confirmation",
                        to="runs.run",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["environment", "-id"], name="run_environment_latest"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["protocol", "-id"], name="run_protocol_latest"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["-observed_at", "-id"], name="run_observed_latest"),
        ),
        migrations.RunPython(install, migrations.RunPython.noop),
    ]
