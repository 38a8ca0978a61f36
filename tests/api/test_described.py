"""What made-up requests do not reach: reruns, runners, a look-up that finds, and what is said with a token."""

import json
from datetime import timedelta

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from attestations.accounts.models import User
from attestations.accounts.tokens import Scope, create_token
from attestations.reads.facts import run_facts
from runs.api.openapi import document
from runs.models import Run
from tests.views import rerun_cases as cases

pytestmark = pytest.mark.django_db


def described(path, response, method="get"):
    """The body, once it was found to be what the document says of this status."""
    answer = document()["paths"][f"/api/v1/{path}"][method]["responses"][str(response.status_code)]
    [content] = answer["content"].values()
    whole = {**content["schema"], "components": document()["components"]}
    body = json.loads(response.content)
    Draft202012Validator(whole, format_checker=FormatChecker()).validate(body)
    assert set(answer["headers"]) <= {*response.headers, "Retry-After"}
    return body


@pytest.mark.parametrize("name", cases.CASES)
def test_a_rerun_is_what_the_document_says_and_what_its_page_shows(client, db, name):
    cases.register()
    rerun = cases.make(name)
    shown = described("reruns/{id}", client.get(f"/api/v1/reruns/{rerun.id}"))
    assert shown == client.get(f"/reruns/{rerun.id}.json").json()
    run = described("runs/{reference}", client.get(f"/api/v1/runs/{rerun.run_id}"))
    assert len(run["reruns"]) == 1
    listed = described("reruns", client.get(f"/api/v1/reruns?state={rerun.state}&include=table"))
    assert [row["id"] for row in listed["rows"]] == [str(rerun.id)]


def test_reruns_are_narrowed_and_turn_pages(client, db):
    cases.register()
    made = [cases.make(name) for name in ("reproduced", "contradicted", "void")]
    first = described("reruns", client.get("/api/v1/reruns?limit=2&runner=h200-a"))
    rest = described("reruns", client.get(first["next"].removeprefix("http://127.0.0.1:8000")))
    assert [row["id"] for row in (*first["rows"], *rest["rows"])] == [str(each.id) for each in reversed(made)]
    assert rest["next"] is None
    only = client.get("/api/v1/reruns?verdict=contradicted&fields=id").json()["rows"]
    assert only == [{"id": str(made[1].id)}]


def test_a_runner_is_what_the_document_says(client, db):
    cases.register()
    cases.make("reproduced")
    page = described("runners/{name}", client.get("/api/v1/runners/h200-a"))
    assert page["row"] == described("runners", client.get("/api/v1/runners"))["rows"][0]


def test_a_look_up_that_finds_is_what_the_document_says(client, index):
    workloads = [
        {"operation": "rmsnorm", "axes": {"hidden": hidden}, "dtype": "bf16", "gpu": gpu}
        for hidden in (1024, 4096)
        for gpu in ("h100", "b200", "mi300x")
    ]
    response = client.post("/api/v1/resolve", {"workloads": workloads}, content_type="application/json")
    found = described("resolve", response, "post")["workloads"]
    assert {each["state"] for each in found} == {"exact", "near"}


def test_what_is_said_with_a_token_is_what_the_document_says(client, seed):
    run_facts.cache_clear()
    ada = User.objects.create_user("ada", "ada@example.org", "a password of some length")
    _, token = create_token(ada, name="laptop", scopes=[Scope.ATTEST], life=timedelta(days=1))
    headers = {"authorization": f"Bearer {token}"}
    stated = {"run": seed.digest, "kind": "environment_note", "value": 80000, "unit": "ns", "statistic": "median"}
    response = client.post("/api/v1/attestations", stated, content_type="application/json", headers=headers)
    described("attestations", response, "post")
    twice = client.post("/api/v1/attestations", {**stated, "kind": "reproduced", "value": 73000}, "application/json",
                        headers=headers)  # fmt: skip
    described("attestations", twice, "post")
    again = client.post("/api/v1/attestations", {**stated, "kind": "reproduced", "value": 73000}, "application/json",
                        headers=headers)  # fmt: skip
    assert described("attestations", again, "post")["code"] == "TWICE"
    reported = {"run": str(seed.id), "reason": "other", "detail": "Something is not right."}
    response = client.post("/api/v1/reports", reported, content_type="application/json", headers=headers)
    described("reports", response, "post")
    described("runs/{reference}/attestations", client.get(f"/api/v1/runs/{seed.id}/attestations"))
    assert Run.objects.count() == 2
