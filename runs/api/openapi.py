"""The API's description as OpenAPI 3.1: made by drf-spectacular from what each endpoint says of itself."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from inspect import cleandoc
from typing import Any, Final

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from runs.api.problems import KINDS, MEDIA_TYPE, ProblemDetails
from runs.api.schemas import components

_TEXT: Final = {"type": "string"}
_OF_ALL: Final = (400, 404, 429)  # problems that every endpoint may answer with
_TOKEN: Final = "token"  # noqa: S105 — the name of the scheme

_FIELDS: Final = "Only these fields, separated by commas. All of them without it."
_INCLUDE: Final = "What is to come along under `included`, separated by commas."
_CURSOR: Final = "Where the page begins: as `next` and `previous` carry it. It goes with the same filters alone."
_LIMIT: Final = "How many rows a page has."


class Operation(AutoSchema):
    """How an `Endpoint` is described."""

    view: Any

    def get_operation_id(self) -> str:
        return str(self.view.name)

    def get_tags(self) -> list[str]:
        return [self.view.tag]

    def get_summary(self) -> str:
        return cleandoc(type(self.view).__doc__ or "").partition("\n")[0].rstrip(".")

    def get_description(self) -> str:  # type: ignore[override]
        return cleandoc(type(self.view).__doc__ or "").partition("\n")[2].strip()

    def get_auth(self) -> list[dict[str, list[str]]]:
        scopes = list(getattr(self.view, "scopes", ()))
        return [{_TOKEN: scopes}] if scopes else []

    def get_request_serializer(self) -> Any:
        return self.view.body

    def get_override_parameters(self) -> list[Any]:
        takes = self.view.takes
        parameters: list[Any] = [
            OpenApiParameter(name, _TEXT, OpenApiParameter.PATH, required=True, description=description)
            for name, description in self.view.path_parameters.items()
        ]
        if takes.filters().fields:  # drf-spectacular stumbles over a serializer without any
            parameters.append(takes.filters)
        for name, options, description in (("fields", takes.fields, _FIELDS), ("include", takes.include, _INCLUDE)):
            if options:
                schema = {"type": "array", "items": {"type": "string", "enum": list(options)}, "minItems": 1}
                parameters.append(OpenApiParameter(name, schema, description=description, style="form", explode=False))
        if takes.sized:
            bounds = {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}
            parameters.append(OpenApiParameter("limit", bounds, description=_LIMIT))
        if takes.paged:
            parameters.append(OpenApiParameter("cursor", _TEXT, description=_CURSOR))
        return [*parameters, *self._headers()]

    def _headers(self) -> list[OpenApiParameter]:
        def header(name: str, description: str, codes: list[int]) -> OpenApiParameter:
            return OpenApiParameter(name, _TEXT, OpenApiParameter.HEADER, description=description, response=codes)

        everywhere = [self.view.success, *self._problems()]
        headers = [
            header("RateLimit", "What is left of the budget, and the seconds until it is full again.", everywhere),
            header("RateLimit-Policy", "The budget: requests, and the seconds that they are for.", everywhere),
            header("Retry-After", "The seconds to wait.", [429]),
        ]
        if self.method == "GET":
            headers.append(header("ETag", "The version of the answer, for If-None-Match.", [200]))
        return headers

    def _problems(self) -> list[int]:
        body = (413, 415) if self.view.body is not None else ()
        return sorted({*_OF_ALL, *body, *self.view.problems})

    def get_response_serializers(self) -> Any:
        success = self.view.success
        phrase = HTTPStatus(success).phrase
        answers: dict[Any, Any] = {
            (success, "application/json"): OpenApiResponse(self.view.response_schema(), description=phrase)
        }
        if self.method == "GET":
            answers[304] = OpenApiResponse(None, description="The client has the current answer already.")
        problem = components.ref(ProblemDetails)
        for status in self._problems():
            codes = [f"`{code}`" for code, kind in KINDS.items() if kind.status == status]
            description = f"{HTTPStatus(status).phrase}: {', '.join(codes)}" if codes else HTTPStatus(status).phrase
            answers[status, MEDIA_TYPE] = OpenApiResponse(dict(problem), description=description)
        return answers


def with_components(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the schemas of the reads' values, and how a token is sent. drf-spectacular calls it."""
    added = result.setdefault("components", {})
    # Those that are there already are of bodies, which refuse what they do not know.
    bodies = {name: {**schema, "additionalProperties": False} for name, schema in added.get("schemas", {}).items()}
    schemas = {**bodies, **components.schemas}
    added["schemas"] = dict(sorted(schemas.items()))
    added["securitySchemes"] = {
        _TOKEN: {"type": "http", "scheme": "bearer", "description": "A token of an account: `Bearer kix_…`."}
    }
    return result


@cache
def document() -> dict[str, Any]:
    """The whole description. It is the same for as long as the process runs."""
    described: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return described
