"""What the OpenAPI document says beside the views: errors, how to sign in, and the figures.

Apart from `errors` and `auth`, which DRF's settings load before DRF's views are there.
"""

import re
from collections.abc import Callable, Sequence
from functools import wraps
from http import HTTPStatus
from inspect import cleandoc
from typing import Any
from uuid import UUID

import msgspec
from django.http import HttpResponseBase
from django.urls import ResolverMatch, resolve
from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
)
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.protocol.scopes import needed_scopes
from backend.problems import CONTENT_TYPE

View = Callable[..., Any]


class ProblemSerializer(serializers.Serializer[Any]):
    """The shape of every error."""

    type = serializers.CharField(help_text="Which kind of problem, as a URN; stable")
    code = serializers.CharField(help_text="The same as a word for programs; stable")
    title = serializers.CharField(help_text="The kind in words")
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What was got and what was expected")
    hint = serializers.CharField(help_text="What to do")


def operation(
    name: str,
    problems: Sequence[int] = (401, 404),
    *,
    answer: Any = None,
    status: int = 200,
    body: Any = empty,
    parameters: Sequence[OpenApiParameter] = (),
) -> Callable[[View], View]:
    """Describes a view in the document: its name there, its answer, and the statuses of problems.

    `api.conventions` adds the problems that every operation of a kind has. `answer`: the body, or
    the bodies by status; without it the status is 204.

    A view returns a response, or what the serializer `answer` shows, perhaps with its context.
    """
    answers = answer if isinstance(answer, dict) else {204 if answer is None else status: answer}
    refusals = {
        (code, CONTENT_TYPE): OpenApiResponse(ProblemSerializer, HTTPStatus(code).phrase)
        for code in problems
    }
    described = extend_schema(
        operation_id=name, request=body, responses={**answers, **refusals}, parameters=parameters
    )

    def decorate(view: View) -> View:
        @described
        @wraps(view)
        def respond(self: object, request: Request, **arguments: Any) -> HttpResponseBase:
            return _as_response(view(self, request, **arguments), answer, status)

        return respond

    return decorate


def _as_response(returned: Any, answer: Any, status: int) -> HttpResponseBase:
    if isinstance(returned, HttpResponseBase):
        return returned
    if answer is None:
        return Response(status=HTTPStatus.NO_CONTENT)
    shown, context = returned if isinstance(returned, tuple) else (returned, {})
    serializer = getattr(answer, "response", answer)
    return Response(serializer(shown, context=context).data, status)


def allow_empty_values(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of the document: an empty value of the query is the same as none, as forms send it."""
    operations = [operation for path in result["paths"].values() for operation in path.values()]
    for operation in operations:
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "query" and not parameter.get("required"):
                parameter["allowEmptyValue"] = True
    return result


def name_scopes(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of the document: the scopes that each operation asks of a token, and its 403."""
    for path, methods in result["paths"].items():
        route = str(match_of(path).url_name)
        for method, operation in methods.items():
            needed = needed_scopes(route, method.upper())
            asked = [{"token": sorted(map(str, scopes))} for scopes in needed]
            others = [entry for entry in operation.get("security", []) if "token" not in entry]
            if "security" in operation:
                operation["security"] = [*asked, *others]
            if (any(needed) or not needed) and "403" not in operation["responses"]:
                operation["responses"]["403"] = _FORBIDDEN
    return result


def match_of(path: str) -> ResolverMatch:
    """The route and the view of a path of the document, such as /api/v1/runs/{run_id}."""
    return resolve(re.sub(r"\{(\w+)\}", _sample, path))


def _sample(parameter: re.Match[str]) -> str:
    """A value that the route takes."""
    if parameter[1] == "artefact":
        return "0"
    return "0" if parameter[1] == "number" else str(UUID(int=0))


_FORBIDDEN = {
    "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    "description": HTTPStatus.FORBIDDEN.phrase,
}


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the document names the token."""

    target_class = "backend.api.protocol.auth.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "ls_api_… or ls_agent_…",
            "description": (
                "A workspace's token, made on its Tokens page or by manage.py make_token. "
                "Each operation names the scopes that it asks for."
            ),
        }


class StrictScheme(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Says of a body that it has no other members."""

    target_class = "backend.api.protocol.strict.StrictSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """The schema as the framework makes it, closed."""
        schema: dict[str, Any] = auto_schema._map_serializer(
            self.target, direction, bypass_extensions=True
        )
        schema["additionalProperties"] = False
        return schema


_REFERENCE = "#/components/schemas/{name}"


class RecordScheme(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Makes the components of the document from the records of the figures."""

    target_class = "backend.analysis.record.Record"
    match_subclasses = True

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        name: str = self.target.__name__
        return name

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """The schema of the record; those of the records in it are registered beside it."""
        _, schemas = msgspec.json.schema_components([self.target], ref_template=_REFERENCE)
        own: dict[str, Any] = _simple(schemas.pop(self.target.__name__))
        for name, schema in schemas.items():
            component = ResolvedComponent(  # type: ignore[no-untyped-call]
                name=name, type=ResolvedComponent.SCHEMA, object=name, schema=_simple(schema)
            )
            auto_schema.registry.register_on_missing(component)
        return own


def _simple(schema: Any) -> Any:
    """The schema as other components are written: `number` for whole numbers too, typed enums."""
    if isinstance(schema, list):
        return [_simple(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    members = _members(schema)
    if "anyOf" in members:
        members |= _joined(members.pop("anyOf"))
    if "description" in members:
        members["description"] = cleandoc(members["description"])
    return {"type": "string", **members} if "enum" in members else members


def _members(schema: dict[str, Any]) -> dict[str, Any]:
    """The members that are kept; a property may have any name."""
    members = {
        key: _simple(part) for key, part in schema.items() if key not in ("title", "default")
    }
    if "properties" in schema:
        members["properties"] = {name: _simple(part) for name, part in schema["properties"].items()}
    return members


def _joined(options: list[dict[str, Any]]) -> dict[str, Any]:
    """The options of `anyOf` as one plain type where they are one, with or without null."""
    if {"type": "number"} in options:
        options = [option for option in options if option != {"type": "integer"}]
    if len(options) == 1:
        return options[0]
    if _is_nullable_type(options):
        if "enum" in options[0]:
            return {**options[0], "enum": [*options[0]["enum"], None]}
        return {**options[0], "type": [options[0]["type"], "null"]}
    return {"anyOf": options}


def _is_nullable_type(options: list[dict[str, Any]]) -> bool:
    """Whether these are one plain type and null."""
    return len(options) == 2 and options[1] == {"type": "null"} and "type" in options[0]
