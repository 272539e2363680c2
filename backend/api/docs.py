"""The OpenAPI document, and the same as a page to read."""

import json
import re
import threading
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts.models import User
from backend.accounts.workspace import access
from backend.api.protocol.conventions import METHODS

_building = threading.Lock()
_CODE = re.compile(r"`([^`]+)`")


def openapi_document() -> dict[str, Any]:
    """The document; it changes only with the code, so one building is enough."""
    # drf-spectacular fails where two threads build it.
    with _building:
        return _built()


@lru_cache(maxsize=1)
def _built() -> dict[str, Any]:
    document: dict[str, Any] = SchemaGenerator().get_schema(  # type: ignore[no-untyped-call]
        request=None, public=True
    )
    return document


class OpenApiDocument(APIView):
    authentication_classes = []

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        """OpenAPI 3.1."""
        response = Response(openapi_document())
        response["Cache-Control"] = "public, max-age=300"
        return response


@require_safe
def docs_page(request: HttpRequest) -> HttpResponse:
    """Every endpoint with its parameters, without any script."""
    endpoints = [
        _endpoint(method, path, described)
        for path, methods in openapi_document()["paths"].items()
        for method, described in methods.items()
        if method in METHODS
    ]
    user = request.user if isinstance(request.user, User) else None
    context = {
        "nav": "docs",
        "endpoints": endpoints,
        "workspace": access.workspaces_of(user).first(),
    }
    return render(request, "api_docs.html", context)


def _endpoint(method: str, path: str, described: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": described["operationId"],
        "method": method.upper(),
        "path": path,
        "text": _marked(described.get("description", "")),
        "parameters": [
            {
                "name": parameter["name"],
                "place": parameter["in"],
                "text": _marked(parameter.get("description", "")),
            }
            for parameter in described.get("parameters", [])
        ],
        "scopes": [
            " and ".join(asked["token"])
            for asked in described.get("security", [])
            if asked.get("token")
        ],
        "examples": list(_examples(described)),
        "body": sorted(described.get("requestBody", {}).get("content", {})),
        "answers": [
            {"code": code, "text": _marked(answer.get("description", ""))}
            for code, answer in sorted(described["responses"].items())
        ],
    }


def _examples(described: dict[str, Any]) -> Iterator[dict[str, str]]:
    """The example of the body and of the answer, as text."""
    parts = [("Body", described.get("requestBody", {}))]
    parts += [("Answer", part) for code, part in described["responses"].items() if code < "300"]
    shown: set[str] = set()
    for title, part in parts:
        for content in part.get("content", {}).values():
            example = content.get("example")
            is_text = isinstance(example, str)
            text = example if is_text else json.dumps(example, indent=2, ensure_ascii=False)
            if example is not None and text not in shown:
                shown.add(text)
                yield {"title": title, "text": text}


def _marked(text: str) -> SafeString:
    """The description as HTML, with the words in backticks as code."""
    return mark_safe(_CODE.sub(r"<code>\1</code>", escape(text)))  # noqa: S308
