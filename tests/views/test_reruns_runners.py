"""The pages of the runners."""

import pytest
from django.utils import timezone

from runs.models import Calibration
from runs.publication import decide_signer
from runs.reads.runners import CALIBRATION_ROWS
from tests.reruns import examples
from tests.views import rerun_cases as cases

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}


@pytest.fixture
def runners():
    return cases.register()


def test_runners_are_listed_with_hardware_operator_key_and_state(client, runners):
    cases.make("reproduced")
    decide_signer("h200-b", "suspend", actor="An administrator", reason="Moved.")
    rows = client.get("/runners/", headers=JSON).json()["runners"]
    assert [(row["name"], row["product"], row["state"], row["results"]) for row in rows] == [
        ("h200-a", "nvidia-h200", "approved", 1),
        ("h200-b", "nvidia-h200", "suspended", 0),
    ]
    page = client.get("/runners/").content.decode()
    assert examples.RUNNER.keyid in page
    assert "suspended" in page
    assert "site" not in [row["name"] for row in rows]


def test_a_site_without_runners_says_so(client, db):
    assert "No runner is registered yet." in client.get("/runners/").content.decode()


def test_a_runner_shows_its_key_with_every_decision_about_it(client, runners):
    decide_signer("h200-a", "suspend", actor="An administrator", reason="Its fan is broken.")
    decide_signer("h200-a", "resume", actor="Another administrator", reason="It was mended.")
    found = client.get("/runners/h200-a/", headers=JSON).json()
    assert [each["decision"] for each in found["history"]] == ["register", "approve", "suspend", "resume"]
    assert (found["row"]["state"], found["public"]) == ("approved", examples.RUNNER.public)
    page = client.get("/runners/h200-a/").content.decode()
    for text in ("Its fan is broken.", "It was mended.", "Another administrator", examples.RUNNER.public):
        assert text in page
    assert "No batch has been calibrated yet." in page


def test_a_runner_shows_its_hardware_results_and_calibrations(client, runners):
    cases.make("reproduced")
    cases.make("contradicted")
    found = client.get("/runners/h200-a/", headers=JSON).json()
    assert {count["slug"]: count["count"] for count in found["verdicts"]} == {"reproduced": 1, "contradicted": 1}
    assert {fact["name"]: fact["value"] for fact in found["environment"]}["driver"] == "580.200.01"
    assert [(each["sentinel"], each["before_ns"]) for each in found["calibrations"][:2]] in (
        [("launch", 2100), ("copy", 1000)],
        [("copy", 1000), ("launch", 2100)],
    )
    assert {each["name"]: (each["rows"], each["median_ns"]) for each in found["sentinels"]} == {
        "copy": (4, 1005),
        "launch": (4, 2075),
    }
    page = client.get("/runners/h200-a/").content.decode()
    assert "/runners/h200-a/calibration.svg" in page
    drawn = client.get("/runners/h200-a/calibration.svg")
    assert drawn.headers["Content-Type"] == "image/svg+xml"
    tag = {"if-none-match": drawn.headers["ETag"]}
    assert client.get("/runners/h200-a/calibration.svg", headers=tag).status_code == 304
    cases.make("void")
    assert client.get("/runners/h200-a/calibration.svg", headers=tag).status_code == 200


def test_a_long_calibration_history_goes_on_by_cursor(client, runners):
    Calibration.objects.bulk_create(
        [
            Calibration(
                runner=runners.runner,
                batch=f"batch-{number}",
                sentinel="copy",
                before=1000.0 + number,
                after=None,
                at=timezone.now(),
            )
            for number in range(CALIBRATION_ROWS + 5)
        ]
    )
    first = client.get("/runners/h200-a/", headers=JSON).json()
    assert len(first["calibrations"]) == CALIBRATION_ROWS
    second = client.get(first["older"], headers=JSON).json()
    assert [row["before_ns"] for row in second["calibrations"]] == [1004, 1003, 1002, 1001, 1000]
    assert second["older"] is None
    assert "did not run" in client.get(first["older"]).content.decode()


@pytest.mark.parametrize("address", ["/runners/nobody/", "/runners/site/", "/runners/nobody/calibration.svg"])
def test_who_is_no_runner_has_no_page(client, runners, address):
    assert client.get(address).status_code == 404


def test_a_runner_without_calibrations_has_no_chart(client, runners):
    assert client.get("/runners/h200-b/calibration.svg").status_code == 404
