"""The description of the API: valid, complete, and the same for people."""

import pytest
from django.urls import get_resolver
from openapi_spec_validator import OpenAPIV31SpecValidator

from runs.api import reference
from runs.api.endpoint import Endpoint
from runs.api.openapi import document
from runs.api.problems import KINDS


def test_it_is_valid_openapi_3_1(client, db):
    response = client.get("/api/v1/openapi.json")
    assert response.headers["Content-Type"] == "application/json"
    described = response.json()
    assert described["openapi"] == "3.1.0"
    OpenAPIV31SpecValidator(described).validate()


def test_it_is_made_without_a_warning(capsys):
    document.cache_clear()
    document()
    assert capsys.readouterr().err == ""


def test_every_address_of_the_api_is_described():
    described = {(path, method) for path, methods in document()["paths"].items() for method in methods}
    addressed = set()
    for pattern in get_resolver().url_patterns:
        if str(pattern.pattern) != "api/v1/":
            continue
        for each in pattern.url_patterns:
            view = getattr(each.callback, "cls", None)
            if view and each.name and issubclass(view, Endpoint):
                path = "/api/v1/" + str(each.pattern).replace("<str:", "{").replace("<uuid:", "{").replace(">", "}")
                addressed |= {(path, method) for method in view.http_method_names if method in {"get", "post"}}
    assert described == addressed


def test_operations_have_names_of_their_own_and_say_what_they_are():
    operations = [operation for methods in document()["paths"].values() for operation in methods.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert all(operation["summary"] and operation["tags"] for operation in operations)
    parameters = [parameter for operation in operations for parameter in operation.get("parameters", ())]
    assert not [parameter["name"] for parameter in parameters if not parameter.get("description")]


def test_every_schema_that_is_referred_to_is_there():
    referred = set(reference._refs(document()))
    assert referred <= set(document()["components"]["schemas"])


def test_the_page_for_people_names_every_operation_code_and_schema(client, db):
    response = client.get("/api/v1/reference")
    assert response.status_code == 200
    html = response.content.decode()
    assert "<script>" not in html
    assert " style=" not in html
    for path in document()["paths"]:
        assert path in html
    for name in (*KINDS, *(f"schema-{name}" for name in document()["components"]["schemas"])):
        assert f'id="{name}"' in html


@pytest.mark.parametrize("address", ["/api/v1/openapi.json", "/api/v1/reference"])
def test_both_are_answered_304_to_who_has_them(client, db, address):
    etag = client.get(address).headers["ETag"]
    assert client.get(address, headers={"if-none-match": etag}).status_code == 304
