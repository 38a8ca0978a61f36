"""Requests made up from the API's own description: no answer that it does not describe, and none that says 500."""

import os

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import override_settings
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks

from runs.api.openapi import document
from runs.models import ComparisonGroup, Environment, Implementation, Operation, Project, Protocol, Run, Source
from runs.publication import publish
from tests.factories import seed_bundle
from tests.search.examples import example_bundle

EXAMPLES = int(os.environ.get("KERNELINDEX_API_EXAMPLES", "5"))
checks.load_all_checks()
CHECKS = checks.CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "unsupported_method",
        "allow_header_conformance",
    ]
)
_KNOWN: dict[str, list[str]] = {}


def _schema():
    loaded = schemathesis.openapi.from_dict(document())
    loaded.app = get_wsgi_application()

    @loaded.hook
    def map_path_parameters(context, path_parameters):
        # What is made up names nothing; so every other name is one that exists.
        known = _KNOWN.get(context.operation.path, [])
        if not known or not path_parameters:
            return path_parameters
        return {
            name: known[len(str(value)) % len(known)] if len(str(value)) % 2 else value
            for name, value in path_parameters.items()
        }

    return loaded


schema = _schema()


@pytest.fixture
def evidence(db):
    publish(example_bundle())
    publish(seed_bundle())
    slugs = {"operations": Operation, "implementations": Implementation, "projects": Project, "sources": Source}
    _KNOWN.update(
        {
            **{
                f"/api/v1/{name}/{{slug}}": list(of.objects.values_list("slug", flat=True))
                for name, of in slugs.items()
            },
            "/api/v1/hardware/{slug}": ["nvidia-b200"],
            "/api/v1/runs/{reference}": [str(id_) for id_ in Run.objects.values_list("id", flat=True)],
            "/api/v1/groups/{key}": list(ComparisonGroup.objects.values_list("key", flat=True)),
            "/api/v1/records/{key}": list(ComparisonGroup.objects.values_list("key", flat=True)),
            "/api/v1/environments/{reference}": list(Environment.objects.values_list("digest", flat=True)),
            "/api/v1/protocols/{reference}": list(Protocol.objects.values_list("digest", flat=True)),
        }
    )
    # As Django's own test client does: the end of a request would close the connection that the test's rows are in.
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    with override_settings(API_QUOTAS={"read": 10**9, "costly": 10**9}):
        yield
    for signal in signals:
        signal.connect(close_old_connections)


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_whatever_is_asked_the_answer_is_one_that_is_described(case, evidence):
    case.call_and_validate(checks=CHECKS, headers={"Accept-Encoding": "identity"})
