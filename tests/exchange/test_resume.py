"""An import that was killed goes on where it is begun again."""

from __future__ import annotations

import json
import signal

from runs.sources.synthetic import synthesize
from tests.exchange.rows import export_of, serving, write

STOP_AFTER_TWO = (
    "import time; from runs import catalog_import; from django.core.management import call_command;"
    "publish, done = catalog_import.publish, [];"
    "catalog_import.publish = lambda bundle, **options: ("
    "  (print('two batches', flush=True), time.sleep(600)) if len(done) == 2 else None,"
    "  publish(bundle, **options), bundle.records and done.append(1))[1];"
    "call_command('import_catalog', {path!r})"
)
COUNT = (
    "import json; from runs.models import ExternalRecord, Run, ServingRun, Standing;"
    "print(json.dumps([m.objects.count() for m in (Run, Standing, ServingRun)]"
    " + [ExternalRecord.objects.filter(export_table='benchmark_runs').count()]))"
)


def test_an_import_that_is_killed_goes_on_where_it_is_begun_again(database, tmp_path):
    path = write(tmp_path / "export.jsonl.zst", export_of(synthesize(0, 1_500)) + serving())
    importer = database.start("shell", "-v0", "-c", STOP_AFTER_TWO.format(path=str(path)))
    while (line := importer.stdout.readline()) != "two batches\n":
        assert line, "the import ended before it was stopped"
    importer.send_signal(signal.SIGKILL)
    importer.communicate(timeout=60)
    assert json.loads(database.manage("shell", "-v0", "-c", COUNT).splitlines()[-1]) == [1_000, 1_000, 0, 1_000]
    report = tmp_path / "report.json"
    database.manage("import_catalog", str(path), "--report", str(report))
    counts = json.loads(report.read_text())["tables"]["benchmark_runs"]
    assert counts == {"read": 1_500, "created": 500, "existing": 1_000, "counted": 0, "refused": 0}
    assert json.loads(database.manage("shell", "-v0", "-c", COUNT).splitlines()[-1]) == [1_500, 1_500, 2, 1_500]
    assert "every digest and comparison key is as stored" in database.manage("verify_catalog")
