"""The batch look-up of workloads."""

import json

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from runs.api.resolution import Workload, resolve
from runs.publication import publish
from tests.search.examples import example_bundle

pytestmark = pytest.mark.django_db


def post(client, body, **options):
    text = body if isinstance(body, str) else json.dumps(body)
    return client.post("/api/v1/resolve", text, content_type=options.pop("content_type", "application/json"), **options)


def look_up(client, near=3, **workload):
    response = post(client, {"workloads": [workload], "near": near})
    assert response.status_code == 200, response.content
    return response.json()["workloads"][0]


def test_a_workload_that_was_measured_gives_its_group_its_best_run_and_the_level(client, index):
    found = look_up(client, operation="rms_norm", axes={"rows": 2048, "hidden": 8192}, dtype="bfloat16", gpu="h100")
    assert (found["state"], found["operations"], found["hardware"]) == ("exact", ["RMSNorm"], ["NVIDIA H100 PCIe"])
    assert found["more"] is False
    [hit] = found["exact"]
    assert hit["url"] == f"/groups/{hit['key']}/"
    assert (hit["best"]["implementation"], hit["best"]["level"], hit["best"]["rank"]) == ("Liger-Kernel", "reported", 1)
    assert (hit["best"]["primary"]["value"], hit["differences"]) == (1002, [])
    group = client.get(f"/api/v1/groups/{hit['key']}").json()
    assert group["first"] == hit["best"]["id"]


def test_near_misses_name_what_differs_the_nearest_first(client, index):
    found = look_up(client, operation="rmsnorm", axes={"rows": 2048, "hidden": 4096}, dtype="bf16", gpu="h100")
    assert (found["state"], found["exact"]) == ("near", [])
    # The size was measured in fp32 by both protocols, and twice and half the size in bf16.
    differing = [[(one["name"], one["found"], one["factor"]) for one in hit["differences"]] for hit in found["near"]]
    assert differing == [[("dtype", "fp32", None)], [("dtype", "fp32", None)], [("hidden", "2048", 0.5)]]
    assert [[one["name"] for one in hit["differences"]] for hit in found["elsewhere"]] == [["hardware"], ["hardware"]]
    assert {one["found"] for hit in found["elsewhere"] for one in hit["differences"]} == {"NVIDIA B200"}
    assert all(hit["best"] for hit in (*found["near"], *found["elsewhere"]))


def test_near_misses_are_told_beside_an_exact_match_too_and_as_many_as_were_asked_for(client, index):
    asked = {"operation": "rmsnorm", "axes": {"hidden": 2048}, "gpu": "h100"}
    found = look_up(client, near=5, **asked)
    assert (found["state"], len(found["exact"])) == ("exact", 1)
    assert len(found["near"]) == 4
    assert look_up(client, near=1, **asked)["near"] == found["near"][:1]
    none = look_up(client, near=0, **asked)
    assert (none["near"], none["elsewhere"], none["exact"]) == ([], [], found["exact"])


def test_a_workload_that_was_measured_in_several_places_has_a_group_for_each(client, index):
    found = look_up(client, operation="RMSNorm", axes={"hidden": 4096})
    assert {(hit["hardware"]["name"], hit["protocol"]) for hit in found["exact"]} == {
        ("NVIDIA H100 PCIe", "Benchmark harness · forward pass"),
        ("NVIDIA H100 PCIe", "Liger benchmark harness · backward pass"),
        ("NVIDIA B200", "Benchmark harness · forward pass"),
        ("NVIDIA B200", "Liger benchmark harness · backward pass"),
    }
    assert (found["hardware"], found["elsewhere"]) == ([], [])


@pytest.mark.parametrize(
    ("change", "code", "state"),
    [
        ({"operation": "sorting"}, "UNKNOWN_OPERATION", "unknown"),
        ({"axes": {"depth": 3}}, "UNKNOWN_AXIS", "unknown"),
        ({"gpu": "mi300x"}, "UNKNOWN_GPU", "near"),
        ({"dtype": "fp4"}, "UNKNOWN_DTYPE", "near"),
    ],
)
def test_a_name_that_is_not_in_the_index_is_named(client, index, change, code, state):
    asked = {"operation": "rmsnorm", "axes": {"hidden": 1024}, "dtype": "bf16", "gpu": "h100", **change}
    found = look_up(client, **asked)
    assert [reason["code"] for reason in found["reasons"]] == [code]
    assert (found["exact"], found["state"]) == ([], state)


def test_answers_come_in_the_order_of_the_questions_and_equal_ones_are_equal(client, index):
    sizes = [8192, 1024, 8192, 2048]
    asked = [{"operation": "rmsnorm", "axes": {"hidden": size}, "gpu": "h100", "dtype": "bf16"} for size in sizes]
    found = post(client, {"workloads": asked}).json()["workloads"]
    assert [each["exact"][0]["best"]["primary"]["value"] for each in found] == [1002, 1000, 1002, 1001]
    assert found[0] == found[2]


def test_the_number_of_statements_does_not_grow_with_the_workloads(index):
    asked = [Workload("rmsnorm", {"hidden": 1000 + number}, "bf16", "h100") for number in range(50)]
    counts = []
    for batch in (asked[:1], asked[:1], asked):
        with CaptureQueriesContext(connection) as captured:
            resolve(batch, near=3)
        counts.append(len(captured))
    cold, warm, many = counts
    assert cold <= 20  # the vocabulary is read as well
    assert (warm, many) == (5, 5)


def test_what_was_published_since_is_found(client, index):
    asked = {"operation": "rmsnorm", "axes": {"rows": 16384, "hidden": 2048}, "dtype": "bf16", "gpu": "h100"}
    assert look_up(client, **asked)["state"] == "near"
    publish(example_bundle(repeated=1))
    assert look_up(client, **asked)["state"] == "exact"


def test_a_workload_that_is_said_too_loosely_lists_some_groups_and_says_that_there_are_more(client, db):
    publish(example_bundle(repeated=30))
    found = look_up(client, operation="rmsnorm", axes={"hidden": 2048}, gpu="h100")
    assert (len(found["exact"]), found["more"]) == (10, True)
    assert {hit["differences"][0]["name"] for hit in found["near"]} == {"hidden"}


def test_ten_workloads_cost_as_much_as_one_search(client, index):
    asked = {"operation": "rmsnorm", "axes": {"hidden": 1024}}
    assert "r=59;" in post(client, {"workloads": [asked] * 10}).headers["RateLimit"]
    assert "r=57;" in post(client, {"workloads": [asked] * 11}).headers["RateLimit"]
    with override_settings(API_QUOTAS={"read": 1, "costly": 4}):
        refused = post(client, {"workloads": [asked] * 50})
        assert (refused.status_code, refused.json()["code"]) == (429, "TOO_MANY_REQUESTS")


ASKED = {"operation": "rmsnorm", "axes": {"hidden": 1024}}


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("{", ""),
        ("[]", ""),
        ({}, "workloads"),
        ({"workloads": []}, "workloads"),
        ({"workloads": [ASKED] * 51}, "workloads"),
        ({"workloads": [ASKED], "near": 6}, "near"),
        ({"workloads": [{"operation": "rmsnorm"}]}, "workloads.0.axes"),
        ({"workloads": [{**ASKED, "axes": {}}]}, "workloads.0.axes"),
        ({"workloads": [ASKED, {**ASKED, "axes": {"hidden": "many"}}]}, "workloads.1.axes.hidden"),
        ({"workloads": [{**ASKED, "axes": {"hidden": -1}}]}, "workloads.0.axes.hidden"),
        ({"workloads": [{**ASKED, "axes": {"hidden": 2**53}}]}, "workloads.0.axes.hidden"),
        ({"workloads": [{**ASKED, "axes": {f"a{number}": 1 for number in range(17)}}]}, "workloads.0.axes"),
        ({"workloads": [{**ASKED, "axes": {"a\x00": 1}}]}, "workloads.0.axes"),
        ({"workloads": [{**ASKED, "operation": "\x00"}]}, "workloads.0.operation"),
        ({"workloads": [{**ASKED, "gpus": "h100"}]}, "workloads.0.gpus"),
        ({"workloads": [ASKED], "limit": 3}, "limit"),
    ],
)
def test_a_body_that_is_not_understood_is_refused_by_place(client, index, body, place):
    response = post(client, body)
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_BODY")
    if place:
        assert place in [error["place"] for error in response.json()["errors"]]


def test_other_media_types_and_large_bodies_are_refused(client, index):
    assert post(client, "operation=x", content_type="application/x-www-form-urlencoded").status_code == 415
    large = {"workloads": [{**ASKED, "dtype": "x" * 3_000_000}]}
    assert post(client, large).status_code == 413
