"""An evidence level needs rerun results that carry it, and the database itself looks for them.

Safe to deploy beside the old code: it adds triggers, and what they refuse the old code never wrote.
"""

from django.db import migrations

EVIDENCE = ("signer", "signerdecision", "rerunresult", "rerunrun", "calibration")
REFUSAL = "evidence is append-only: publish a correction that supersedes the record"
NO_LEVEL = "an evidence level needs a controlled rerun that carries it"
NO_RERUN = "a rerun result needs the rerun that it ends and an approved runner"

# A result that supports a level: reproduced, on the claim's hardware, by a runner that is approved and not revoked.
SUPPORT = """
    {r}.run_id = NEW.run_id AND {r}.verdict = 'reproduced' AND {r}.hardware_equal
    AND EXISTS (SELECT 1 FROM runs_signerdecision d WHERE d.signer_id = {r}.runner_id AND d.decision = 'approve')
    AND NOT EXISTS (SELECT 1 FROM runs_signerdecision d WHERE d.signer_id = {r}.runner_id AND d.decision = 'revoke')
"""
# A dispute stands until a result that supports the claim is younger than the revocation of the runner that raised it.
DISPUTED = f"""EXISTS (
    SELECT 1 FROM runs_rerunresult q
    WHERE q.run_id = NEW.run_id AND q.verdict IN ('contradicted', 'incorrect')
    AND NOT EXISTS (
        SELECT 1 FROM runs_signerdecision v JOIN runs_rerunresult s ON s.finished_at > v.at
        WHERE v.signer_id = q.runner_id AND v.decision = 'revoke' AND {SUPPORT.format(r="s")}))
"""
CARRIED = f"""(
    (NEW.level = 'reported' AND NEW.disputed AND {DISPUTED})
    OR (NEW.level = 'verified' AND NOT NEW.disputed AND NOT {DISPUTED} AND EXISTS (
        SELECT 1 FROM runs_rerunresult r WHERE {SUPPORT.format(r="r")}))
    OR (NEW.level = 'replicated' AND NOT NEW.disputed AND NOT {DISPUTED} AND EXISTS (
        SELECT 1 FROM runs_rerunresult r JOIN runs_rerunresult s ON s.run_id = r.run_id
        WHERE r.operator <> s.operator AND r.device <> s.device AND r.device <> '' AND s.device <> ''
        AND {SUPPORT.format(r="r")} AND {SUPPORT.format(r="s")}))
)"""
# A result belongs to a rerun of its run that its runner, approved for the product, has just ended.
ANSWERS = """EXISTS (
    SELECT 1 FROM runs_rerun j JOIN runs_signer g ON g.id = NEW.runner_id
    WHERE j.id = NEW.rerun_id AND j.run_id = NEW.run_id AND j.state = 'done' AND j.runner_id = NEW.runner_id
    AND g.role = 'runner' AND g.product = j.product AND g.operator = NEW.operator
    AND EXISTS (SELECT 1 FROM runs_signerdecision d WHERE d.signer_id = g.id AND d.decision = 'approve')
    AND NOT EXISTS (SELECT 1 FROM runs_signerdecision d WHERE d.signer_id = g.id AND d.decision = 'revoke'))
"""


def _sqlite():
    for event in ("INSERT", "UPDATE"):
        name = f"runs_evidencelevel_on_{event.lower()}"
        # Adding a column made the table anew, and SQLite drops the triggers of a table with it.
        yield f"DROP TRIGGER IF EXISTS {name}"
        yield (
            f"CREATE TRIGGER {name} BEFORE {event} ON runs_evidencelevel WHEN NOT {CARRIED} "
            f"BEGIN SELECT RAISE(ABORT, '{NO_LEVEL}'); END"
        )
    yield (
        f"CREATE TRIGGER runs_rerunresult_on_insert BEFORE INSERT ON runs_rerunresult WHEN NOT {ANSWERS} "
        f"BEGIN SELECT RAISE(ABORT, '{NO_RERUN}'); END"
    )
    for table in EVIDENCE:
        for event in ("UPDATE", "DELETE"):
            name = f"runs_{table}_no_{event.lower()}"
            yield f"CREATE TRIGGER {name} BEFORE {event} ON runs_{table} BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"


def _postgresql():
    yield (
        "CREATE FUNCTION runs_refuse_result() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF {ANSWERS} THEN RETURN NEW; END IF; "
        f"RAISE EXCEPTION '{NO_RERUN}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    yield (
        "CREATE TRIGGER runs_rerunresult_on_insert BEFORE INSERT ON runs_rerunresult "
        "FOR EACH ROW EXECUTE FUNCTION runs_refuse_result()"
    )
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
