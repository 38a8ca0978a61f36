"""An evidence level needs rerun results that carry it, and the database itself looks for them.

Safe to deploy beside the old code: it adds triggers, and what they refuse the old code never wrote.
"""

from django.db import migrations

EVIDENCE = ("signer", "signerdecision", "rerunresult", "rerunrun", "calibration")
REFUSAL = "evidence is append-only: publish a correction that supersedes the record"
NO_LEVEL = "an evidence level needs a controlled rerun that carries it"

# A result that supports a level: reproduced, on the claim's hardware, by a runner that is approved and not revoked.
SUPPORT = """
    {r}.run_id = NEW.run_id AND {r}.verdict = 'reproduced' AND {r}.hardware_equal
    AND EXISTS (SELECT 1 FROM runs_signerdecision d WHERE d.signer_id = {r}.runner_id AND d.decision = 'approve')
    AND NOT EXISTS (SELECT 1 FROM runs_signerdecision d WHERE d.signer_id = {r}.runner_id AND d.decision = 'revoke')
"""
CARRIED = f"""(
    (NEW.level = 'reported' AND NEW.disputed AND EXISTS (
        SELECT 1 FROM runs_rerunresult r WHERE r.run_id = NEW.run_id AND r.verdict IN ('contradicted', 'incorrect')))
    OR (NEW.level = 'verified' AND NOT NEW.disputed AND EXISTS (
        SELECT 1 FROM runs_rerunresult r WHERE {SUPPORT.format(r="r")}))
    OR (NEW.level = 'replicated' AND NOT NEW.disputed AND EXISTS (
        SELECT 1 FROM runs_rerunresult r JOIN runs_rerunresult s ON s.run_id = r.run_id
        WHERE r.operator <> s.operator AND r.device <> s.device AND r.device <> '' AND s.device <> ''
        AND {SUPPORT.format(r="r")} AND {SUPPORT.format(r="s")}))
)"""


def _sqlite():
    for event in ("INSERT", "UPDATE"):
        name = f"runs_evidencelevel_on_{event.lower()}"
        # Adding a column made the table anew, and SQLite drops the triggers of a table with it.
        yield f"DROP TRIGGER IF EXISTS {name}"
        yield (
            f"CREATE TRIGGER {name} BEFORE {event} ON runs_evidencelevel WHEN NOT {CARRIED} "
            f"BEGIN SELECT RAISE(ABORT, '{NO_LEVEL}'); END"
        )
    for table in EVIDENCE:
        for event in ("UPDATE", "DELETE"):
            name = f"runs_{table}_no_{event.lower()}"
            yield f"CREATE TRIGGER {name} BEFORE {event} ON runs_{table} BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"


def _postgresql():
    yield (
        "CREATE OR REPLACE FUNCTION runs_refuse_level() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF {CARRIED} THEN RETURN NEW; END IF; "
        f"RAISE EXCEPTION '{NO_LEVEL}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    for table in EVIDENCE:
        yield (
            f"CREATE TRIGGER runs_{table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON runs_{table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION runs_refuse_change()"
        )


def install(apps, schema_editor):
    statements = _sqlite() if schema_editor.connection.vendor == "sqlite" else _postgresql()
    for statement in statements:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("runs", "0003_reruns")]
    operations = [migrations.RunPython(install, migrations.RunPython.noop)]
