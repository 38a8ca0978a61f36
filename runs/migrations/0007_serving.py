"""Tables of serving runs, of what other indexes call the records, and of files that manifests name; append-only all.

Safe to deploy beside the old code: it adds tables that the old code does not know.
"""

import django.db.models.deletion
from django.db import migrations, models

import runs.models.base

TABLES = (
    "modelrevision",
    "servingstackrevision",
    "servingconfiguration",
    "servingworkload",
    "servingrun",
    "servingmeasurement",
    "servingwithdrawal",
    "externalrecord",
    "namedfile",
)
REFUSAL = "evidence is append-only: publish a correction that supersedes the record"


def install(apps, schema_editor):
    for table in TABLES:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(
                f"CREATE TRIGGER runs_{table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON runs_{table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION runs_refuse_change()"
            )
            continue
        for event in ("UPDATE", "DELETE"):
            schema_editor.execute(
                f"CREATE TRIGGER runs_{table}_no_{event.lower()} BEFORE {event} ON runs_{table} "
                f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
            )


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0006_redaction"),
    ]

    operations = [
        migrations.CreateModel(
            name="ServingConfiguration",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.base.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", runs.models.base.DigestField(help_text="SHA-256 of the canonical manifest", max_length=71)),
                (
                    "canonical",
                    models.TextField(help_text="RFC 8785 JSON of apiVersion, kind and spec, exactly as digested"),
                ),
                (
                    "metadata",
                    models.JSONField(help_text="name, title, labels and source references: not part of the digest"),
                ),
                ("published_at", models.DateTimeField(help_text="when this database took the record in")),
                ("name", models.CharField(max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name="ExternalRecord",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.base.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("export_table", models.CharField(max_length=40)),
                ("external_id", models.UUIDField()),
                ("record", models.UUIDField()),
                ("stated", models.JSONField(default=dict)),
            ],
            options={
                "indexes": [models.Index(fields=["record"], name="external_record_of")],
                "constraints": [
                    models.UniqueConstraint(fields=("export_table", "external_id"), name="external_record_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelRevision",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.base.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", runs.models.base.DigestField(help_text="SHA-256 of the canonical manifest", max_length=71)),
                (
                    "canonical",
                    models.TextField(help_text="RFC 8785 JSON of apiVersion, kind and spec, exactly as digested"),
                ),
                (
                    "metadata",
                    models.JSONField(help_text="name, title, labels and source references: not part of the digest"),
                ),
                ("published_at", models.DateTimeField(help_text="when this database took the record in")),
                ("name", models.CharField(max_length=300)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("digest",), name="model_revision_digest")],
            },
        ),
        migrations.CreateModel(
            name="NamedFile",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.base.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", runs.models.base.DigestField(max_length=71)),
                ("uri", models.CharField(max_length=2000)),
                ("kind", models.CharField(max_length=40)),
                ("media_type", models.CharField(blank=True, max_length=200)),
                ("size", models.BigIntegerField(help_text="bytes", null=True)),
                ("license", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("digest", "uri", "kind"), name="named_file_once")],
            },
        ),
        migrations.CreateModel(
            name="ServingRun",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.base.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", runs.models.base.DigestField(help_text="SHA-256 of the canonical manifest", max_length=71)),
                (
                    "canonical",
                    models.TextField(help_text="RFC 8785 JSON of apiVersion, kind and spec, exactly as digested"),
                ),
                (
                    "metadata",
                    models.JSONField(help_text="name, title, labels and source references: not part of the digest"),
                ),
                ("published_at", models.DateTimeField(help_text="when this database took the record in")),
                ("title", models.CharField(max_length=300)),
                ("status", models.CharField(blank=True, max_length=40)),
                ("accelerator", models.CharField(blank=True, max_length=200)),
                ("accelerators", models.PositiveIntegerField(help_text="in all nodes together", null=True)),
                ("observed_at", models.DateTimeField(null=True)),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="runs.servingconfiguration"
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="runs.modelrevision"
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="serving_runs",
                        to="runs.sourcesnapshot",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="serving_runs", to="runs.source"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ServingStackRevision",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.base.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", runs.models.base.DigestField(help_text="SHA-256 of the canonical manifest", max_length=71)),
                (
                    "canonical",
                    models.TextField(help_text="RFC 8785 JSON of apiVersion, kind and spec, exactly as digested"),
                ),
                (
                    "metadata",
                    models.JSONField(help_text="name, title, labels and source references: not part of the digest"),
                ),
                ("published_at", models.DateTimeField(help_text="when this database took the record in")),
                ("name", models.CharField(max_length=300)),
                (
                    "project",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="serving_stacks",
                        to="runs.project",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="servingconfiguration",
            name="stack",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="configurations",
                to="runs.servingstackrevision",
            ),
        ),
        migrations.CreateModel(
            name="ServingWithdrawal",
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
                        on_delete=django.db.models.deletion.PROTECT, related_name="withdrawal", to="runs.servingrun"
                    ),
                ),
                (
                    "successor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="predecessors",
                        to="runs.servingrun",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ServingWorkload",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.base.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", runs.models.base.DigestField(help_text="SHA-256 of the canonical manifest", max_length=71)),
                (
                    "canonical",
                    models.TextField(help_text="RFC 8785 JSON of apiVersion, kind and spec, exactly as digested"),
                ),
                (
                    "metadata",
                    models.JSONField(help_text="name, title, labels and source references: not part of the digest"),
                ),
                ("published_at", models.DateTimeField(help_text="when this database took the record in")),
                ("name", models.CharField(max_length=300)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("digest",), name="serving_workload_digest")],
            },
        ),
        migrations.AddField(
            model_name="servingrun",
            name="workload",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="runs.servingworkload"
            ),
        ),
        migrations.CreateModel(
            name="ServingMeasurement",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.base.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                ("metric", models.CharField(max_length=100)),
                ("statistic", models.CharField(max_length=100)),
                ("unit", models.CharField(max_length=100)),
                ("value", models.FloatField()),
                ("samples", models.BigIntegerField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="measurements", to="runs.servingrun"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("run", "position"), name="serving_measurement_once")],
            },
        ),
        migrations.AddConstraint(
            model_name="servingstackrevision",
            constraint=models.UniqueConstraint(fields=("digest",), name="serving_stack_digest"),
        ),
        migrations.AddConstraint(
            model_name="servingconfiguration",
            constraint=models.UniqueConstraint(fields=("digest",), name="serving_configuration_digest"),
        ),
        migrations.AddConstraint(
            model_name="servingrun",
            constraint=models.UniqueConstraint(fields=("digest",), name="serving_run_digest"),
        ),
        migrations.RunPython(install, migrations.RunPython.noop),
    ]
