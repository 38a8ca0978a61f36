"""Two importers at once, and one that is killed."""

from __future__ import annotations

import json
import signal


def counts(database) -> dict[str, int]:
    names = ("Run", "Standing", "Measurement", "Workload", "Implementation", "Operation", "ComparisonGroup", "Project")
    script = (
        "import json; from runs import models;"
        f"print(json.dumps({{n: getattr(models, n).objects.count() for n in {names!r}}}))"
    )
    return json.loads(database.manage("shell", "-v0", "-c", script).splitlines()[-1])


PUBLISH = (
    "from runs.publication import publish; from runs.sources.synthetic import synthesize; publish(synthesize(0, 3000))"
)


def test_two_importers_at_once_publish_each_record_once(database):
    importers = [database.start("shell", "-v0", "-c", PUBLISH) for _ in range(2)]
    for importer in importers:
        output, _ = importer.communicate(timeout=120)
        assert importer.returncode == 0, output
    found = counts(database)
    assert found["Run"] == found["Standing"] == 3000
    assert found["Measurement"] == 6000
    assert found["Project"] == 1
    assert "every digest and comparison key is as stored" in database.manage("verify_catalog")


STOP_INSIDE = (
    "import time; from runs import projections;"
    "projections.rebuild = lambda *_: (print('inside', flush=True), time.sleep(600));"
)


def test_an_importer_that_is_killed_leaves_nothing_half_written(database):
    importer = database.start("shell", "-v0", "-c", STOP_INSIDE + PUBLISH)
    assert importer.stdout.readline() == "inside\n"  # every row is written and nothing is committed
    importer.send_signal(signal.SIGKILL)
    importer.communicate(timeout=60)
    assert not any(counts(database).values())
    database.manage("shell", "-v0", "-c", PUBLISH)
    assert counts(database)["Run"] == 3000


def test_synthetic_records_go_only_where_they_were_asked_for(database):
    assert "not made for synthetic records" in database.manage("synthesize", "--until", "12", fails=True)
    database.manage("shell", "-v0", "-c", PUBLISH)
    assert "Only an empty one" in database.manage("synthesize", "--prepare", "--until", "4000", fails=True)
    assert counts(database)["Run"] == 3000


def test_a_database_made_for_them_is_topped_up(database):
    assert "50 runs in all" in database.manage("synthesize", "--prepare", "--until", "50")
    assert "30 synthetic runs published, 80 runs in all" in database.manage("synthesize", "--until", "80")
    assert "0 synthetic runs published" in database.manage("synthesize", "--until", "80")


def test_verify_reports_a_manifest_that_was_tampered_with(database):
    database.manage("synthesize", "--prepare", "--until", "12")
    tamper = (
        "from django.db import connection; c = connection.cursor();"
        "c.execute('DROP TRIGGER runs_run_no_update' if connection.vendor == 'sqlite' else"
        " 'ALTER TABLE runs_run DISABLE TRIGGER ALL');"
        "c.execute(\"UPDATE runs_run SET canonical = replace(canonical, 'passed', 'timeout')"
        " WHERE id = (SELECT min(id) FROM runs_run WHERE status = 'passed')\")".replace("min(id)", "id").replace(
            "status = 'passed')", "status = 'passed' LIMIT 1)"
        )
    )
    database.manage("shell", "-v0", "-c", tamper)
    output = database.manage("verify_catalog", fails=True)
    assert "its manifest digests to" in output
    assert "1 of " in output
